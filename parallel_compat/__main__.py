"""`python -m parallel_compat`: the same as the command `parallel-compat`."""

from __future__ import annotations

import sys

from parallel_compat.command import main

if __name__ == "__main__":
    sys.exit(main())
