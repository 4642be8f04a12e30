"""`python -m hybridjit`: what it can do is listed in tools/command_line.py."""

import sys

from hybridjit.tools.command_line import main

if __name__ == "__main__":
    sys.exit(main())
