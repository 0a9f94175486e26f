"""How long a script of two lines takes by plain Python, with today's Keras, and by `parallel-compat run`, in turns.

    python benchmarks/run_startup.py [--turns N] [--era NAME]

The fastest turns count, which other work of the machine disturbs least.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

CODE = "import tensorflow\nfrom tensorflow.keras.layers import Dense"
STANDALONE = "import keras\nfrom keras.layers import Dense"


def seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--era", default="keras-2.2.4")
    arguments = parser.parse_args()
    code = STANDALONE if arguments.era.startswith("keras") else CODE
    python = [sys.executable, "-c", code]
    run = [sys.executable, "-m", "parallel_compat", "run", "--quiet", "--era", arguments.era, "-c", code]
    seconds(python), seconds(run)  # byte code is written
    turns = [(seconds(python), seconds(run)) for _ in range(arguments.turns)]
    plain, ours = (min(column) for column in zip(*turns, strict=True))
    print(
        f"{arguments.era}: python {plain:.2f} s, run {ours:.2f} s, {ours / plain:.2f} x (fastest of {len(turns)} turns)"
    )


if __name__ == "__main__":
    main()
