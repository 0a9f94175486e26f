"""`compare SCRIPT`: the original runs here, twice, and the migrated copy: the same weights, batches and masks."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from parallel_compat.command import main
from parallel_compat.compare import runs
from parallel_compat.compare.comparison import compare
from parallel_compat.compare.curves import Curve
from parallel_compat.compare.page import page
from parallel_compat.compare.recorder.hooks import Recorder
from parallel_compat.compare.recorder.recording import Recording
from parallel_compat.compare.recordings import read_recording
from parallel_compat.compare.runs import CannotRun, Runs, Script, copy_project
from parallel_compat.names.eras import Era
from parallel_compat.originals.cache import VARIABLE
from parallel_compat.run import advice

DATA = Path(__file__).parents[1] / "data" / "recordings"
HEAD = """import numpy as np
from keras import backend as K
from keras.layers import *
from keras.models import Model, Sequential
from keras.optimizers import Adam
from keras.utils import multi_gpu_model

"""
LSTM = """
x, y = np.random.rand(64, 5, 3), np.random.rand(64, 1)
model = Sequential([LSTM(8, input_shape=(5, 3)), Dropout(0.3), Dense(1)])
model.compile("adam", "mse", metrics=["mae"])
model.fit(x, y, batch_size=16, epochs=3, verbose=0, validation_split=0.25)
"""
# None of these differs: its own generator, a loop of `train_on_batch` on several outputs, two models, two replicas.
EQUAL = {
    "loop": """
inputs = Input((6,))
hidden = Dense(8, activation="relu")(inputs)
model = Model(inputs, [Dense(3, activation="softmax", name="kind")(hidden), Dense(1, name="size")(hidden)])
x = np.random.rand(40, 6)
model.compile("sgd", ["mse", "mae"], loss_weights=[1.0, 0.5])
for i in range(12):
    rows = np.random.choice(40, 8)
    model.train_on_batch(x[rows], [np.eye(3)[np.random.randint(0, 3, 8)], x[rows, :1]])
model.evaluate(x, [np.eye(3)[np.arange(40) % 3], x[:, :1]], batch_size=20, verbose=0)
""",
    "gan": """
critic = Sequential([Dense(8, input_shape=(4,)), LeakyReLU(0.2), Dropout(0.3), Dense(1, activation="tanh")])
critic.compile(Adam(lr=0.001, beta_1=0.5), "mse")
painter = Sequential([Dense(8, input_shape=(3,)), LeakyReLU(0.2), Dense(4, activation="tanh")])
noise = Input((3,))
critic.trainable = False
both = Model(noise, critic(painter(noise)))
both.compile(Adam(lr=0.001, beta_1=0.5), "mse")
for _ in range(8):
    drawn, real = np.random.normal(size=(8, 3)), np.random.normal(size=(8, 4))
    critic.train_on_batch(real, np.ones((8, 1)))
    critic.train_on_batch(painter.predict(drawn), np.zeros((8, 1)))
    both.train_on_batch(drawn, np.ones((8, 1)))
""",
    "replicas": """
x, y = np.random.rand(60, 5), np.random.rand(60, 1)
model = multi_gpu_model(Sequential([Dense(8, activation="relu", input_shape=(5,)), Dropout(0.2), Dense(1)]), gpus=2)
model.compile("sgd", "mse")
model.fit(x, y, batch_size=16, epochs=3, verbose=0)
""",
    "generator": """
model = Sequential([Dense(8, activation="tanh", input_shape=(6,)), GaussianNoise(0.1), Dense(1)])
model.compile("sgd", "mse")
def batches():
    while True:
        x = np.random.rand(8, 6)
        yield x, x[:, :1]
model.fit_generator(batches(), steps_per_epoch=5, epochs=3, verbose=0)
""",
}
# TensorFlow's own Keras, of both ages: how it shuffles, and which of its parts records.
TF_KERAS = """import numpy as np
import tensorflow as tf

x, y = np.random.rand(64, 5), np.random.rand(64, 1)
layers = tf.keras.layers
model = tf.keras.Sequential([layers.Dense(8, "relu", input_shape=(5,)), layers.Dropout(0.5), layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae"])
model.fit(x, y, batch_size=16, epochs=4, verbose=0)
model.evaluate(x, y, verbose=0)
"""


@pytest.fixture
def compare_source(run_compare, monkeypatch):
    """Run the command on a source in a folder."""

    def run(folder: Path, source: str, *options: str):
        (folder / "train.py").write_text(source)
        monkeypatch.chdir(folder)
        done = run_compare("train.py", "--json", "out.json", *options)
        out = folder / "out.json"
        return done, json.loads(out.read_text()) if out.exists() else {}

    return run


def test_the_default_of_an_lstm_is_found_with_figures(tmp_path, compare_source):
    """Nothing is seeded: the script draws the same in all runs, as do fit's shuffling and Dropout."""
    done, told = compare_source(tmp_path, HEAD + LSTM, "--era", "keras-2.2.4", "--html", "page.html", "--steps", "8")
    assert done.returncode == 0, done.stdout + done.stderr  # `--era` lets `migrate` write the old default
    assert told["curves"][0]["masked"] == ["dropout_1"]
    assert told["curves"][0]["ordered"] is True
    assert len(told["curves"][0]["old"]) == 8
    assert "Versions and devices" in (tmp_path / "page.html").read_text()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.json", "page.html", "train.py"]


@pytest.mark.slow  # four processes that import TensorFlow
def test_without_the_old_default_the_row_is_named(tmp_path, compare_source):
    done, told = compare_source(tmp_path, HEAD + LSTM)
    assert done.returncode == 1, done.stdout + done.stderr
    why = told["why"]["0"]
    assert (why["kind"], why["class_name"]) == ("layer", "LSTM")
    assert why["row"] == "`LSTM`, `GRU`"
    assert "--unsafe" in why["what_to_do"]
    assert told["layers"][0][0]["state"] == "differs"
    assert {each["state"] for each in told["layers"][0][1:]} == {"follows"}
    curve = told["curves"][0]
    assert abs(curve["old"][0] - curve["new"][0]) > 1e-4
    assert curve["old"][0] == pytest.approx(curve["again"][0], abs=1e-6)
    printed = {without_figures(line) for line in done.stdout.splitlines()}
    page = (Path(__file__).parents[2] / "docs" / "guide" / "compare.md").read_text("utf-8")
    shown = re.search(r"^```text\n(keras 2.*?)^```$", page, re.MULTILINE | re.DOTALL)[1].splitlines()
    assert [line for line in shown if without_figures(line) not in printed] == [], done.stdout


def without_figures(line: str) -> str:
    return re.sub(r"\d[\d.e+-]*", "0", line)


@pytest.mark.slow  # each runs three processes that import TensorFlow
@pytest.mark.parametrize("era", ["keras-2.2.4", "keras-2.3"])
def test_kinds_of_scripts_are_equal(era, tmp_path, compare_source):
    """All kinds in one script, as most of the time goes into imports; the generator, read ahead by threads, is last."""
    done, told = compare_source(tmp_path, HEAD + "".join(EQUAL.values()), "--era", era, "--replicas", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(told["models"]) == 1 + 1 + 2 + 1
    assert all(len(curve["new"]) >= 8 for curve in told["curves"])


@pytest.mark.slow  # each runs three processes that import TensorFlow
@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_tf_keras_is_equal(era, tmp_path, compare_source):
    done, told = compare_source(tmp_path, TF_KERAS, "--era", era)
    assert done.returncode == 0, done.stdout + done.stderr
    assert told["curves"][0]["fed"] == []
    assert told["curves"][0]["masked"] == ["dropout"]


@pytest.mark.slow  # each runs three processes that import TensorFlow
@pytest.mark.parametrize("with_", ["native", "folder"])
def test_other_sides(with_, tmp_path, compare_source):
    ported = tmp_path / "ported"
    ported.mkdir()
    project = tmp_path / "project"
    project.mkdir()
    source = HEAD.replace("from keras.utils import multi_gpu_model\n", "") + EQUAL["loop"]
    (ported / "train.py").write_text(source)
    done, _ = compare_source(project, source, "--with", str(ported) if with_ == "folder" else with_)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A project whose package Python finds in its folder, wherever the script is; return the script's folder."""
    for name, text in {
        ".git/HEAD": "",
        "package/__init__.py": "",
        "package/network.py": "import keras\ndef layer(): return keras.layers.LSTM(8, input_shape=(5, 3))\n",
        "examples/train.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[2]), str(tmp_path)]))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend("")  # the command's own
    return tmp_path / "examples"


OF_PACKAGE = LSTM.replace("LSTM(8, input_shape=(5, 3))", "network.layer()")


@pytest.mark.slow  # three processes that import TensorFlow
def test_an_installed_project_is_rewritten(installed, compare_source):
    source = HEAD + "from package import network\n" + OF_PACKAGE
    done, _ = compare_source(installed, source, "--era", "keras-2.2.4", "--steps", "4")
    assert done.returncode == 0, done.stdout + done.stderr  # the old default is written in the package


@pytest.mark.slow  # three processes that import TensorFlow
def test_a_project_that_is_imported_by_its_path_is_refused(installed, compare_source):
    place = f"import sys\nsys.path.insert(0, {str(installed.parent / 'package')!r})\nimport network\n"
    done, _ = compare_source(installed, HEAD + place + OF_PACKAGE, "--era", "keras-2.2.4", "--steps", "4")
    assert done.returncode == 2
    assert f"Received: {installed.parent / 'package' / 'network.py'}, which `migrate` has not rewritten" in done.stderr


@pytest.mark.parametrize(
    ("source", "told"),
    [
        pytest.param("import keras\n1 / 0\n", "ended with 1:", marks=pytest.mark.slow),
        pytest.param(
            "import numpy as np\nfrom keras.layers import Dense\nfrom keras.models import Sequential\n"
            "model = Sequential([Dense(1, input_dim=2)])\nmodel.compile('sgd', 'mse')\n"
            "model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)\n",
            "trained no model: it ended with 1:",
            marks=pytest.mark.slow,
        ),
        pytest.param("import keras\n", "trained no model. There is nothing", marks=pytest.mark.slow),
        ("import keras\nkeras.ops.ones(3)\n", "expected a script of old Keras"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(source, told, tmp_path, compare_source):
    done, _ = compare_source(tmp_path, source, *(["--era", "keras-2.2.4"] if "ops" not in source else []))
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr or "1 / 0" in done.stderr


def test_a_script_that_is_none(capsys):
    assert main(["compare", "nowhere.py"]) == 2
    assert "nowhere.py, which is not a file" in capsys.readouterr().err


def test_no_original_and_no_network(tmp_path):
    source = HEAD + LSTM
    (tmp_path / "train.py").write_text(source)
    command = [sys.executable, "-m", "parallel_compat", "compare", "train.py"]
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}
    nowhere[VARIABLE] = str(tmp_path / "cache")
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, **nowhere}, timeout=300, check=False
    )
    assert done.returncode == 2
    assert "compare: error: the original" in done.stderr
    assert "No matching distribution found for keras" in done.stderr


def test_advice_on_devices_names_the_option():
    line = "parallel-compat: train.py:1: this process has no GPU. " + advice.REPLICAS.format(2)
    assert runs._end(f"{line}\n").endswith("no GPU. give --replicas 2")


def test_the_end_of_a_run_is_shown_without_colours():
    assert runs._end("\x1b[1mnot built\x1b[0m\n") == "  not built"


# --- without a process ------------------------------------------------------------------------------------------------


@pytest.fixture
def recording():
    return read_recording(DATA / "keras-2.2.4.h5")


def other(recording, factor):
    """What a run of its own would record whose outputs and gradients are off by a factor."""
    arrays = {
        name: [each * factor if name.endswith(("outputs", "gradients")) else each for each in found]
        for name, found in recording.arrays.items()
    }
    models = [{**model, "weights_put_in": True} for model in recording.models]
    return replace(recording, arrays=arrays, facts={**recording.facts, "models": models})


def test_two_runs_of_the_original_say_what_is_rounding(recording):
    off = other(recording, 1.0001)
    assert not compare(recording, off).is_equal
    assert compare(recording, off, other(recording, 1.00005)).is_equal
    assert not compare(recording, off, other(recording, 1.000001)).is_equal


def test_histories_are_judged_no_finer_than_losses(recording):
    """Two runs of the original may have equal means of losses that are not."""
    again, new = other(recording, 1.0), other(recording, 1.0)
    for facts, factor in zip((recording, again, new), (1, 1.0001, 1), strict=True):
        for model in facts.models:
            model["losses"], model["batches"] = [factor * 1.0], [[1, 2]]
    epochs = [{**epoch, "logs": dict(epoch["logs"])} for epoch in new.models[1]["history"]]
    epochs[0]["logs"]["loss"] *= 1.0005
    new.models[1]["history"] = epochs
    assert compare(recording, new, again).is_equal
    for model in again.models:
        model["losses"] = [1.0]
    assert [finding.kind for _, finding in compare(recording, new, again).findings] == ["history"]


def test_losses_are_judged_step_by_step():
    old = [1.0, 0.5, 0.25, 0.125]
    assert Curve(old, old, old).differs_from is None
    later = Curve(old, [1.0, 0.5, 0.2501, 0.13], old)
    assert later.differs_from == 2
    assert "4 %" in later.at(3)
    noisy = Curve(old, [1.0, 0.5, 0.2501, 0.126], [1.0, 0.5, 0.25005, 0.1252])
    assert noisy.differs_from is None
    assert Curve(old, [1.0, float("nan"), 0.25, 0.125], old).differs_from == 1


def test_batches_that_could_not_be_handed_over_are_told(recording):
    new = other(recording, 1.0)
    for facts in recording.models:
        facts["batches"], facts["losses"] = [[1, 2], [3, 4]], [1.0, 0.5]
    for facts in new.models:
        facts["batches"], facts["losses"] = [[1, 2], [3, 5]], [1.0, 0.5]
    found = compare(recording, new, other(recording, 1.0))
    assert found.first()[1].kind == "data"
    assert "from step 1 on" in found.first()[1].text
    for facts in new.models:
        facts["fed"] = [1]
    found = compare(recording, new, other(recording, 1.0))
    assert found.is_equal
    assert any("1 of 2 steps" in note for _, note in found.notes)
    assert "1 of 2 steps" in page(found, "train.py")


def test_other_pictures_are_a_difference(recording):
    """The batches of the original were used, but a migrated project makes its own."""
    new = other(recording, 1.0)
    for each, checksum in ((recording, 4), (new, 5)):
        for facts in each.models:
            facts["batches"], facts["losses"] = [[1, 2], [3, checksum]], [1.0, 0.5]
    for facts in new.models:
        facts["fed"] = [1]
    source = "flow = ImageDataGenerator(rotation_range=30).flow(x, y)"
    found = compare(recording, new, other(recording, 1.0), source)
    _, finding = found.first()
    assert finding.text == "its own batches differ; the original's were used instead"
    assert "turned in the other direction" in found.reason(0, finding).text
    assert compare(recording, new, other(recording, 1.0), "flow = Own(x, y)").is_equal


def test_what_was_too_large_is_one_sentence(recording):
    new = other(recording, 1.0)
    too_large = "model0/step%d/%s: not written, 124127500 bytes are more than --max-mb still allows"
    new.facts["notes"] = [too_large % (step, kind) for step in (0, 1) for kind in ("gradients", "weights")]
    found = compare(recording, new)
    (text,) = [finding.text for model, finding in found.findings if model is None]
    assert text == f"gradients, weights of model {found.models[0]} in 2 steps: too large to be recorded"
    new.facts["notes"] = ["model0/initial: not written, 124127500 bytes are more than --max-mb still allows"]
    found = compare(recording, new)
    (text,) = [finding.text for model, finding in found.findings if model is None]
    assert text == f"initial of model {found.models[0]}: too large to be recorded"


class Layer:
    rate = 0.5


class SpatialDropout1D(Layer):
    pass


class GaussianNoise:
    stddev = 0.5


def recorder(tmp_path, **options):
    return Recorder(Recording(str(tmp_path / "r.h5"), 10**8), 2, **options)


def test_masks_are_the_same_in_any_run(tmp_path):
    first, second = recorder(tmp_path, masks=True), recorder(tmp_path, masks=True)
    layer, shape = Layer(), (6, 5)
    mask = first.mask(layer, shape)
    assert set(np.unique(mask)) == {0.0, 2.0}
    np.testing.assert_array_equal(mask, second.mask(layer, shape))
    second.current = type("Model", (), {"number": 0, "places": {}, "made": 1})()
    assert not np.array_equal(mask, second.mask(layer, shape))
    assert first.mask(SpatialDropout1D(), (6, 4, 5)).shape == (6, 1, 5)
    assert 0.1 < first.mask(GaussianNoise(), (50, 5)).std() < 0.9


class Replay:
    def __init__(self, recording):
        self.arrays = dict(recording.sections)
        self.facts = recording.facts


def test_what_a_script_draws_is_handed_over(tmp_path):
    """Keras 2 draws from numpy when it builds a model, Keras 3 does not."""
    first = recorder(tmp_path)
    first.random.at("start")
    drawn = [np.random.rand(), random.random()]
    np.random.randint(100)  # Keras 2 makes a seed of it
    first.random.at("after add")
    drawn += [np.random.rand(), random.random()]
    np.random.seed()
    random.seed()
    second = recorder(tmp_path, replay=Replay(first.recording))
    second.random.at("start")
    again = [np.random.rand(), random.random()]
    second.random.at("after add")
    again += [np.random.rand(), random.random()]
    assert again == drawn


def test_weights_are_handed_over_once_where_runs_go_on_by_themselves(tmp_path):
    class Dense:
        def set_weights(self, weights):
            self.weights = weights

    layer, given = Dense(), [np.ones((2, 2), "float32")]
    free = recorder(tmp_path, free=True, nudge=True)
    free.hand_over(layer, given)
    off = np.abs(layer.weights[0] - 1)
    assert 0 < off.min() <= off.max() < 2e-7
    free.hand_over(layer, [np.zeros((2, 2), "float32")])
    assert layer.weights[0].min() > 0.9
    pinned = recorder(tmp_path)
    pinned.hand_over(layer, given)
    pinned.hand_over(layer, [np.zeros((2, 2), "float32")])
    assert layer.weights[0].max() == 0


def test_a_project_is_copied_and_large_data_are_linked(tmp_path):
    project, copy = tmp_path / "project", tmp_path / "copy"
    for name in ("train.py", "sub/model.py", "data/few.csv", ".git/HEAD", "__pycache__/x.pyc"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("1")
    (project / "many").mkdir()
    for number in range(1002):
        (project / "many" / f"{number}.txt").touch()
    with (project / "large.bin").open("wb") as file:
        file.truncate(65_000_000)
    copy_project(project, copy)
    found = {str(each.relative_to(copy)) for each in copy.rglob("*") if not each.is_relative_to(copy / "many")}
    assert found == {"train.py", "sub", "sub/model.py", "data", "data/few.csv", "many", "large.bin"} - {"many"}
    assert (copy / "many").is_symlink()
    assert (copy / "large.bin").is_symlink()
    (copy / "train.py").write_text("2")
    assert (project / "train.py").read_text() == "1"


def test_a_link_within_a_project_leads_to_the_copy(tmp_path):
    project, copy = tmp_path / "project", tmp_path / "copy"
    (project / "package").mkdir(parents=True)
    (project / "package" / "model.py").write_text("1")
    (project / "examples").mkdir()
    (project / "examples" / "package").symlink_to("../package")
    copy_project(project, copy)
    assert (copy / "examples" / "package").resolve() == (copy / "package").resolve()


def test_a_folder_of_too_many_files_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("parallel_compat.compare.runs._MOST_FILES", 2)
    for number in range(3):
        (tmp_path / f"{number}.py").touch()
    with pytest.raises(CannotRun, match="at most 2 files"):
        copy_project(tmp_path, tmp_path.parent / "copy")


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """Runs of a script that ends with an error; each writes what is in `recordings` before."""
    (tmp_path / "train.py").write_text("from keras.layers import LSTM\nfrom keras.utils import np_utils\nLSTM(3)\n")
    recordings = []

    def call(command, *given):
        if recordings:
            Path(command[command.index("--out") + 1]).write_bytes(recordings[0])
        return 1, "Traceback\nValueError: no name"

    monkeypatch.setattr("parallel_compat.compare.runs._call", call)
    with Runs(Script.of(str(tmp_path / "train.py"), ()), Era.KERAS_2_2_4) as runs:
        yield runs, recordings


def test_a_run_that_fails_shows_its_last_lines(failing, capsys):
    runs, recordings = failing
    recordings.append((DATA / "keras-2.2.4.h5").read_bytes())
    runs.original()
    assert "ended with 1:\n  Traceback\n  ValueError: no name" in capsys.readouterr().err
    assert runs.failed == ["the original (keras-2.2.4) ended with 1: ValueError: no name"]


def test_a_recording_made_here_may_be_compressed_well(failing, recording, tmp_path):
    runs, recordings = failing
    made = Recording(str(tmp_path / "made.h5"), 10**9)
    made.put("compile0", [np.zeros(5_000_000)])
    made.facts["models"] = recording.models
    made.write()
    recordings.append((tmp_path / "made.h5").read_bytes())
    assert len(recordings[0]) < 500_000
    assert runs.original().arrays["compile0"][0].nbytes == 40_000_000


def test_a_migrated_copy_that_fails_names_unsafe(failing):
    runs, _ = failing
    with pytest.raises(CannotRun, match=r"no name\n`migrate` left 1 places that it rewrites only with --unsafe"):
        runs.migrated()
    with pytest.raises(CannotRun, match=r"no name$"):
        runs.migrated("--unsafe")


def test_the_package_of_a_script_belongs_to_its_project(tmp_path, monkeypatch):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "network.py").touch()
    (package / "train.py").write_text("from package import network\n")
    monkeypatch.chdir(package)
    assert Script.of("train.py", ()).root == tmp_path
    (package / "train.py").write_text("import network\n")
    assert Script.of("train.py", ()).root == package


def test_a_script_reads_what_it_imports(tmp_path):
    (tmp_path / "train.py").write_text("import model\n")
    (tmp_path / "model.py").write_text("from keras.layers import LSTM\n")
    (tmp_path / "other.py").write_text("from keras.layers import GRU\n")
    sources = Script.of(str(tmp_path / "train.py"), ()).sources()
    assert "LSTM" in sources
    assert "GRU" not in sources
