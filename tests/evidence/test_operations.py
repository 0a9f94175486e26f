"""Graphs of TensorFlow 1 have as many operations under `run` as they had: `tf.set_random_seed` uses the count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import scripts

DATA = Path(__file__).parents[1] / "data" / "operations"
# Known differences, (operations, those of the gradient), each after which nothing is drawn as a rule.
DIFFERENT = {
    "tf.random_shuffle(x2)": "it has a gradient now",
    "tf.parse_": "protocol buffers are read by an operation with more arguments",
    "tf.train.FtrlOptimizer": "today's has one more hyperparameter",
}
# By default, what was different before its function was the original's, and one of each kind of layer.
SOME = (
    *("tf.tensordot(p3", "tf.layers.dense(x3", "tf.one_hot(i2", "tf.linspace", "tf.eye(3)", "tf.matrix_", "tf.einsum"),
    *("tf.nn.swish", "tf.nn.weighted_moments", "tf.math.bessel", "tf.confusion_matrix", "tf.svd", "tf.unsorted"),
    *(
        "tf.image.crop_to",
        "tf.image.per_",
        "tf.image.adjust_jpeg",
        "tf.image.random_jpeg",
        "tf.signal",
        "tf.random.stateless",
        "tf.data",
        "tf.saturate",
        "tf.get_variable('b",
        "(tf.",
    ),
    *("LocallyConnected2D(4,2,impl", "Dense(4, kernel_reg", "LSTM(3)", "compiled('ftrl'", "BatchNormalization()(x3)"),
    "in a function: ",
)


def counted(folder: Path, *starts: str) -> dict[str, str]:
    out = folder / "counted.json"
    script = str(DATA / "count_operations.py")
    done = scripts.run("--quiet", "--era", "tf.keras-1.15", script, str(out), *starts, folder=folder, seconds=900)
    assert done.returncode == 0, done.stderr[-3000:]
    recorded = json.loads((DATA / "tensorflow-1.15.5.json").read_text())
    found = json.loads(out.read_text())
    assert set(found) == {call for call in recorded if call.startswith(starts or "")}
    different = {call: f"{recorded[call]}, and now {found[call]}" for call in found if found[call] != recorded[call]}
    return {call: text for call, text in different.items() if not call.startswith(tuple(DIFFERENT))}


def test_as_many_operations_as_then(tmp_path):
    assert counted(tmp_path, *SOME) == {}


@pytest.mark.slow
def test_all_calls(tmp_path):
    assert counted(tmp_path) == {}
