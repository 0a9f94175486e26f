"""What `parallel-compat run` costs beyond importing TensorFlow and Keras, as milliseconds and as a ratio.

python benchmarks/run_startup.py [ROUNDS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

CODE = "import tensorflow, keras"


def seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    python = [sys.executable, "-c", CODE]
    run = [sys.executable, "-m", "parallel_compat", "run", "--quiet", "-c", CODE]
    seconds(python), seconds(run)
    # Importing TensorFlow takes seconds that vary by tenths: what is small beside them shows in the middle of many.
    pairs = [(seconds(python), seconds(run)) for _ in range(rounds)]
    plain, ours = (statistics.median(times) for times in zip(*pairs, strict=True))
    low, more, high = (1000 * value for value in statistics.quantiles([b - a for a, b in pairs], n=4))
    print(f"python {plain * 1000:.0f} ms, run {ours * 1000:.0f} ms, {ours / plain:.2f} x (medians of {rounds} turns)")
    print(f"more by {more:.0f} ms, half of the turns by {low:.0f} to {high:.0f} ms (wanted: below 100)")


if __name__ == "__main__":
    main()
