"""How long `parallel-compat compare` takes, against the runs of the original and of the migrated copy alone.

    python benchmarks/compare_time.py [--epochs N] [NAME...]

All run in one call, one after another. Other work of the machine disturbs the ratio of processor seconds least.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPTS = {
    "convolutions": """import sys
import numpy as np
from keras.layers import Conv2D, Dense, Dropout, Flatten
from keras.models import Sequential

x, y = np.random.rand(1024, 16, 16, 3), np.eye(10)[np.random.randint(0, 10, 1024)]
model = Sequential([
    Conv2D(32, 3, activation="relu", input_shape=(16, 16, 3)), Conv2D(32, 3, activation="relu"), Flatten(),
    Dense(64, activation="relu"), Dropout(0.5), Dense(10, activation="softmax"),
])
model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=32, epochs=int(sys.argv[1]), verbose=0)
""",
    "lstm": """import sys
import numpy as np
from keras.layers import LSTM, Dense, Embedding
from keras.models import Sequential

x, y = np.random.randint(0, 500, (1024, 40)), np.random.randint(0, 2, (1024, 1))
model = Sequential([Embedding(500, 32, input_length=40), LSTM(32), Dense(1, activation="sigmoid")])
model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=32, epochs=int(sys.argv[1]), verbose=0)
""",
    "gan": (Path(__file__).parent / "scripts" / "gan.py").read_text(),  # `train_on_batch` of three models
}
OURS = [sys.executable, "-m", "parallel_compat"]


def seconds(command: list[str], folder: Path) -> tuple[float, float]:
    """Return how long a command takes: by the clock, and of the processor."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if "compare" in command or done.returncode:
        print((done.stdout + done.stderr * (done.returncode > 1)).rstrip())
    clock, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(name: str, epochs: str) -> None:
    """Print how long the runs of a script take, and `compare`."""
    with tempfile.TemporaryDirectory() as temporary:
        old, new = Path(temporary, "old"), Path(temporary, "new")
        for folder in (old, new):
            folder.mkdir()
            (folder / "train.py").write_text(SCRIPTS[name])
        migrate = [*OURS, "migrate", "--write", "--unsafe", "--era", "keras-2.2.4", "train.py"]
        subprocess.run(migrate, cwd=new, capture_output=True, check=True)
        run = [*OURS, "run", "--quiet", "--era", "keras-2.2.4", "train.py"]
        seconds([*run, "1"], old), seconds([sys.executable, "train.py", "1"], new)  # bytecode is written
        original, migrated = seconds([*run, epochs], old), seconds([sys.executable, "train.py", epochs], new)
        compared = seconds([*OURS, "compare", "--unsafe", "--era", "keras-2.2.4", "train.py", epochs], old)
    for place, what in enumerate(("clock", "processor")):
        one, two, all_ = original[place], migrated[place], compared[place]
        print(
            f"{name}, {what}: original {one:.1f} s, migrated {two:.1f} s, compare {all_:.1f} s: "
            f"{all_ / (one + two):.2f} x both",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("names", nargs="*", default=[*SCRIPTS], metavar="NAME", help=", ".join(SCRIPTS))
    given = parser.parse_args()
    for name in given.names:
        measure(name, str(given.epochs))


if __name__ == "__main__":
    main()
