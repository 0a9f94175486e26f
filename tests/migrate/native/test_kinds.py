"""Scripts of eleven kinds as native code, compared with `parallel-compat run`: on one device, and on two replicas.

Where the two differ, `migrate` said so in that file.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from parallel_compat.compare import recorder_command
from tests.migrate.native.check import run_alone

ROOT = Path(__file__).parents[3]
KINDS = ROOT / "tests" / "data" / "recordings" / "kinds"
IMPORTS = "import numpy as np\nfrom keras import backend as K, callbacks, layers as L, losses, models, optimizers, utils\n\n\n"
# Each script as a program of its own, after the other; models begin with the same weights, and are noted when they end.
EVERY = """
import functools, os, runpy, sys
import keras
import numpy as np

models, results = [], {}
original = keras.Model.compile


@functools.wraps(original)
def compile_and_start(self, *arguments, **keywords):
    original(self, *arguments, **keywords)
    for weight in self.weights if os.environ.get("START") else ():  # by shape: Keras 2 has another order of weights
        draw = np.random.RandomState(sum(weight.shape))
        ASSIGN(weight, draw.uniform(-0.5 if len(weight.shape) > 1 else 0.1, 0.5, weight.shape))
    models.append(self)


keras.Model.compile = compile_and_start
for name in sys.argv[1:]:
    keras.CLEAR.clear_session()
    np.random.seed(1)
    del models[:]
    runpy.run_path(name, run_name="__main__")
    for number, model in enumerate(models):
        for place, weight in enumerate(sorted(model.get_weights(), key=np.shape)):
            results["%s %d %d" % (name, number, place)] = weight
np.savez(os.environ.get("OUT", "out.npz"), **results)
"""


def sources(gpus: int) -> dict[str, str]:
    """The scripts without the file that they share: each says by itself what it imports."""
    helpers = (KINDS / "stack.py").read_text()
    helpers = helpers[helpers.index("def data(") :]
    found = {}
    for path in sorted(KINDS.glob("*.py")):
        if path.stem in ("every", "stack", "autoencoder"):  # a loss that is added to a model is a question
            continue
        text = re.sub(r"^import numpy as np\n", "", path.read_text(), flags=re.MULTILINE)
        text = re.sub(r"^from stack import .*\n", lambda _: f"{IMPORTS}{helpers}\n", text, flags=re.MULTILINE)
        text = text.replace("validation_split=0.2, verbose", "validation_split=0.2, shuffle=False, verbose")
        wrapped = f"utils.multi_gpu_model(\\1, gpus={gpus})" if gpus > 1 else r"\1"
        found[path.name] = re.sub(r"\bparallel\((.*)\)\n", wrapped + "\n", text)
    assert len(found) == 11
    return found


@pytest.fixture
def folders(tmp_path, request):
    """The scripts as they were and as native code, and for each what `migrate` says of its results."""
    scripts = sources(request.param)
    for folder in ("old", "native"):
        (tmp_path / folder).mkdir()
        for name, text in scripts.items():
            (tmp_path / folder / name).write_text(text)
    report = tmp_path / "report.json"
    with report.open("w") as stream:
        command = [sys.executable, "-m", "parallel_compat", "migrate", "--to", "native", "--unsafe", "--write"]
        subprocess.run(
            [*command, "--format", "json", "native"],
            cwd=tmp_path, stdout=stream, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    # In Keras 2.2.4 a variable's `assign` is an operation that waits for a session.
    for folder, clear, assign in (
        ("old", "backend", "keras.backend.set_value"),
        ("native", "utils", "keras.Variable.assign"),
    ):
        (tmp_path / folder / "every.py").write_text(EVERY.replace("CLEAR", clear).replace("ASSIGN", assign))
    left = json.loads(report.read_text())
    return tmp_path, sorted(scripts), left


def parallel_compat(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "parallel_compat", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=900, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", **environment},
    )  # fmt: skip


def said_of(report: dict, name: str) -> str:
    """What `migrate` says of the results of a script."""
    return "\n".join(
        one["message"]
        for one in report["findings"]
        if one["rule"] == "native-differences" and Path(one["path"]).name == name
    )


ERA = ("--era", "keras-2.2.4")  # the recorder is of every era
# What differs on one device, and a part of what is said of it.
ON_ONE = {
    "frozen.py": "`BatchNormalization` with `trainable = False`",
    "text.py": "outputs of `Bidirectional` at masked steps",
}
# On two replicas as well.
ON_TWO = {
    "custom_loss.py": "A custom loss function",
    "siamese.py": "A custom loss function",
    "text.py": "A masked loss",
    "frozen.py": "`BatchNormalization` with `trainable = False`",
}


@pytest.mark.slow
@pytest.mark.parametrize("folders", [1], indirect=True)
def test_compare_finds_them_equal_on_one_device(folders):
    folder, names, report = folders
    recorder = str(recorder_command.write(folder))
    run_alone(folder / "native", 1, recorder, "--out", "../native.h5", "every.py", *names)
    parallel_compat(folder / "old", "compare", "--json", "../found.json", "../native.h5", "every.py", *names)
    found = json.loads((folder / "found.json").read_text())
    models = [name for name in names for _ in range(2 if name in ("checkpoint_and_resume.py", "gan.py") else 1)]
    assert len(found["steps"]) == len(models)
    different = {models[place] for place, steps in enumerate(found["steps"]) if any(step["findings"] for step in steps)}
    assert different == set(ON_ONE)
    for name, words in ON_ONE.items():
        assert words in said_of(report, name), name
    # The other way round: recorded under `run`, and compared with the native code as it stands.
    done = parallel_compat(folder / "old", "run", "--quiet", *ERA, recorder, "--out", "../run.h5", "every.py", *names)
    assert done.returncode == 0, done.stderr[-3000:]
    parallel_compat(folder / "native", "compare", "--plain", "--json", "../back.json", "../run.h5", "every.py", *names)
    back = json.loads((folder / "back.json").read_text())
    assert len(back["steps"]) == len(models)
    found_back = {models[place] for place, steps in enumerate(back["steps"]) if any(step["findings"] for step in steps)}
    assert found_back == set(ON_ONE)


@pytest.mark.slow
@pytest.mark.parametrize("folders", [2], indirect=True)
def test_what_they_train_on_two_replicas_is_equal(folders, monkeypatch):
    folder, names, report = folders
    monkeypatch.setenv("START", "1")
    run_alone(folder / "native", 2, "every.py", *names)
    done = parallel_compat(folder / "old", "run", "--replicas", "2", "--quiet", "every.py", *names)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    ours, theirs = (np.load(folder / each / "out.npz") for each in ("native", "old"))
    assert set(ours) == set(theirs)
    different = {key.split()[0] for key in ours if not np.allclose(ours[key], theirs[key], rtol=0, atol=1e-6)}
    assert different == set(ON_TWO)
    for name, words in ON_TWO.items():
        assert words in said_of(report, name), name
