"""`python -m trundle.cli`, for where the command `trundle` is not on the path."""

import sys

from trundle.cli import main

sys.exit(main())
