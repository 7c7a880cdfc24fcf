"""The command line: one file a command. Parses, prints, and answers with an exit status; computes nothing."""

from trundle.cli.app import main

__all__ = ["main"]
