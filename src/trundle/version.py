"""The version, in one place: the package's metadata, the files and `trundle --version` read it here."""

__version__ = "0.1.0"
