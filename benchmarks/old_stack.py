"""Scripts of 2018 on the stack of their time and under `parallel-compat run`, in turns.

    python benchmarks/old_stack.py --old /path/to/old/python [--turns N] [--scripts six_calls dqn gan ...]

Of each number the fastest turn counts, which other work of the machine disturbs least.

Without an old stack nothing is measured. The recipe for one (Python 3.7, x86):

    python3.7 -m venv old
    old/bin/pip install tensorflow==1.15.5 keras==2.2.4 h5py==2.10.0 "protobuf<3.21" "numpy<1.19"

Each script prints a JSON object, name -> numbers (milliseconds of a call, or seconds of the whole without imports).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"
# The old stack has no GPUs here: towers are placed on the CPU, which its sessions allow.
LAUNCHER = """
import runpy, sys
import keras.utils.multi_gpu_utils as multi_gpu_utils
multi_gpu_utils._get_available_devices = lambda: ["/device:CPU:0"] + ["/device:GPU:%d" % i for i in range(8)]
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def measure(command: list[str]) -> dict[str, list[float]]:
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, list[float]] = json.loads(printed.strip().splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", help="the old stack's python")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--scripts", nargs="+", default=sorted(path.stem for path in SCRIPTS.glob("*.py")))
    arguments = parser.parse_args()
    if arguments.old is None:
        print("Skipped: no old stack. Give its python with --old; the recipe is in this file's docstring.")
        return
    run = [sys.executable, "-m", "parallel_compat", "run", "--quiet", "--replicas", "2", "--era", "keras-2.2.4"]
    print("| script | old stack | `run` | ratio |\n|---|--:|--:|--:|")
    for script in arguments.scripts:
        path = str(SCRIPTS / f"{script}.py")
        took: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for _ in range(arguments.turns):
            old, new = measure([arguments.old, "-c", LAUNCHER, path, "9"]), measure([*run, path, "9"])
            for name, numbers in old.items():
                took[name].append((min(numbers), min(new[name])))
        for name, pairs in took.items():
            of_old, of_new = (round(min(column), 2) for column in zip(*pairs, strict=True))
            ratio = of_new / of_old  # of what is printed, so that the table can be checked
            print(f"| {script}: {name} | {of_old:.2f} | {of_new:.2f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
