"""`python -m hybridjit.compat.tvm script.py ...`: run a script in which `import tvm` means us."""

import runpy
import sys

from hybridjit.compat.tvm import install

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m hybridjit.compat.tvm script.py ...")
    install()
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
