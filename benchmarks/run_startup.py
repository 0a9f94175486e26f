"""What `parallel-compat run` costs beyond importing TensorFlow and Keras, as milliseconds and as a ratio.

python benchmarks/run_startup.py [ROUNDS]
"""

from __future__ import annotations

import subprocess
import sys
import time

CODE = "import tensorflow, keras"


def seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    python = [sys.executable, "-c", CODE]
    run = [sys.executable, "-m", "parallel_compat", "run", "--quiet", "-c", CODE]
    seconds(python), seconds(run)
    pairs = [(seconds(python), seconds(run)) for _ in range(rounds)]
    plain, ours = (min(times) for times in zip(*pairs, strict=True))
    more = (ours - plain) * 1000
    print(f"python {plain * 1000:.0f} ms, run {ours * 1000:.0f} ms: {more:.0f} ms more, {ours / plain:.2f}x")


if __name__ == "__main__":
    main()
