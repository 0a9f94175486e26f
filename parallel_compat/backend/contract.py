"""The private names of Keras 3 and TensorFlow that the core stands on, each with its reason (`contract.tsv`).

    python -m parallel_compat.backend.contract

checks them against the installed versions in some seconds, and names what is gone or has other parameters. A name is
used in `backend/keras3/` if and only if it is listed.
"""

from __future__ import annotations

import sys

from parallel_compat.names import tsv
from parallel_compat.private_names import PrivateName, faults

_NAMES = [PrivateName(*cells) for cells in tsv.rows("contract.tsv", 3, __package__)]
KERAS = tuple(name for name in _NAMES if name.place.startswith("keras."))
TENSORFLOW = tuple(name for name in _NAMES if not name.place.startswith("keras."))


def check() -> list[str]:
    """Return a sentence for each name that the installed Keras and TensorFlow do not have, or have otherwise."""
    return faults(_NAMES)


def main() -> int:
    """Print what is wrong, and return the exit code."""
    found = check()
    print("\n".join(found) or f"{len(KERAS)} private names of Keras and {len(TENSORFLOW)} of TensorFlow are there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
