"""`python -m trundle` is the command `trundle`."""

import sys

from trundle.cli import main

if __name__ == "__main__":
    sys.exit(main())
