"""Recordings of random scripts: what the real stacks noted, by seed, with a digest of the text that they ran.

`count.py` runs scripts on a real stack, with `--real`, and compares. For the recordings in `tests/data/differential`,
of the seeds that are to be kept (ENV is an environment of the era, FOLDER is empty):

    python -m tests.evidence.differential.random_scripts keras-2.2.4 1 100 FOLDER
    ENV/bin/python tests/data/differential/run_scripts.py expected.json FOLDER/*.py
    python -m tests.evidence.differential.recordings keras-2.2.4 expected.json 3 7 12

In Keras 2.2.4, a stateful layer as a metric (`stateful_layers_as_metrics` of the causes) reads its count in a race with
the update: of two runs of the real stack, one said 6 where the other said 7. The recording has 6.

The environments: Python 3.7 with TensorFlow 1.15.5 and Keras 2.2.4 (`keras-2.2.4`, `tf.keras-1.15`) or 2.3.1
(`keras-2.3`), Python 3.8 with TensorFlow 2.2.3 (`tf.keras-2.2`); with them a SciPy before 1.6 (1.2.3, 1.4.1), as later
ones turn pictures otherwise at their borders.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from .random_scripts import script, script_of_causes
from .wider_causes import script_of_wider_causes

DATA = Path(__file__).parents[2] / "data" / "differential"
CAUSES, WIDER_CAUSES = "causes", "wider_causes"


def text_of(era: str, seed: str) -> str:
    """Return the script of a seed, or one of the two with causes."""
    if seed == WIDER_CAUSES:
        return script_of_wider_causes(era)
    return script_of_causes(era) if seed == CAUSES else script(era, int(seed))


def digest(text: str) -> str:
    """Return what tells one text from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def recorded(era: str) -> dict[str, dict[str, Any]]:
    """Return the recordings of an era by seed: the `digest` of the script, and what it `noted`."""
    recordings: dict[str, dict[str, Any]] = json.loads((DATA / f"{era}.json").read_text())
    return recordings


def keep(era: str, noted: dict[str, Any], seeds: list[str]) -> None:
    """Write the recordings of some seeds; those of others stay."""
    kept = recorded(era)
    for seed in seeds:
        name = seed if seed in (CAUSES, WIDER_CAUSES) else f"{int(seed):03d}"
        kept[seed] = {"digest": digest(text_of(era, seed)), "noted": noted[f"{era}_{name}"]}
    DATA.mkdir(exist_ok=True)
    lines = [f'"{seed}": {json.dumps(each, separators=(",", ":"))}' for seed, each in kept.items()]
    (DATA / f"{era}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    keep(sys.argv[1], json.loads(Path(sys.argv[2]).read_text()), sys.argv[3:])
