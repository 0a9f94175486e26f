"""Weights in checkpoints of TensorFlow: those of TensorFlow 2.2.3 are read, and `tf.keras` code writes them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import trackable_object_graph_pb2

import parallel_compat
from parallel_compat.legacy import model_files
from parallel_compat.warning_category import ParallelCompatWarning
from tests.data import make_old_checkpoints as old

FILES = Path(__file__).parents[1] / "data" / "old_checkpoints"

SCRIPT = """
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models
from tensorflow.keras.callbacks import ModelCheckpoint


def make():
    model = models.Sequential([layers.Dense(3, activation="relu", input_shape=(4,)), layers.Dense(1)])
    model.compile("adam", "mse")
    return model


x, y = np.random.rand(8, 4), np.random.rand(8, 1)
model = make()
save = ModelCheckpoint("training/cp-{epoch:04d}.ckpt", save_weights_only=True, verbose=0)
model.fit(x, y, epochs=2, callbacks=[save], verbose=0)
latest = tf.train.latest_checkpoint("training")
assert latest.replace("\\\\", "/") == "training/cp-0002.ckpt", latest
other = make()
other.load_weights(latest).expect_partial()
np.testing.assert_array_equal(other.predict(x), model.predict(x))
model.fit(x, y, epochs=1, verbose=0, shuffle=False)
other.fit(x, y, epochs=1, verbose=0, shuffle=False)  # Adam goes on where it was
np.testing.assert_allclose(other.predict(x), model.predict(x), rtol=1e-6)
model.save_weights("plain.h5")
assert open("plain.h5", "rb").read(4) == b"\\x89HDF"
model.save_weights("named", save_format="tf")
other.load_weights("named").assert_consumed()
print("finished")
"""


@pytest.mark.parametrize("case", old.CASES)
def test_weights_of_an_old_checkpoint(case, tmp_path):
    model = old.filled(old.CASES[case])
    model.set_weights([np.zeros_like(weight) for weight in model.get_weights()])
    model_files.load_weights(model, FILES / case)
    expected = np.load(FILES / "predictions.npz")[case]
    np.testing.assert_allclose(model.predict(old.data(), verbose=0), expected, rtol=1e-5)

    model_files.save_weights(model, tmp_path / "folder" / "again", save_format="tf")
    theirs, ours = (dict(tf.train.list_variables(str(path))) for path in (FILES / case, tmp_path / "folder" / "again"))
    weights = {name: shape for name, shape in ours.items() if name.endswith("VARIABLE_VALUE") and "save_c" not in name}
    assert weights.items() <= theirs.items()
    assert len(weights) == len(model.weights)

    model_files.save_weights(model, tmp_path / "named" / "w_1.tf")  # of rewritten code the name tells
    assert tf.train.latest_checkpoint(str(tmp_path / "named")) == str(tmp_path / "named" / "w_1.tf")


def test_a_weight_that_is_missing_is_refused_and_nothing_is_changed():
    model = keras.Sequential([keras.Input((5,)), keras.layers.Embedding(9, 3), keras.layers.Dense(2)])
    before = model.get_weights()
    with pytest.raises(ValueError, match=r"without layer_with_weights-1/kernel of shape \(3, 2\) and 1 more"):
        model_files.load_weights(model, FILES / "graph")
    for kept, now in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(kept, now)
    with pytest.raises(ValueError, match="has not been called"):
        model_files.load_weights(old.Blocks(), FILES / "blocks")
    with pytest.raises(ValueError, match="by_name"):
        model_files.load_weights(model, FILES / "graph", by_name=True)


def test_a_script_goes_on_from_its_latest_checkpoint(tmp_path, monkeypatch):
    import parallel_compat

    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT)
    with parallel_compat.legacy_names():
        exec(compile(SCRIPT, str(tmp_path / "train.py"), "exec"), {"__name__": "__main__"})


@pytest.mark.slow
def test_a_training_goes_on_from_an_old_checkpoint_restored_before_the_first_call(tmp_path, monkeypatch, capsys):
    """The losses that come next are those of TensorFlow 2.2.3, with each optimizer; layers are in lists and dicts."""
    monkeypatch.chdir(tmp_path)
    _goes_on("resumed", tmp_path, monkeypatch, capsys)


def test_a_compiled_model_goes_on_from_files_of_tf_keras(tmp_path, monkeypatch, capsys):
    """The losses that come next are those of TensorFlow 2.2.3: state, steps and the learning rate that was set."""
    _goes_on("compiled", tmp_path, monkeypatch, capsys)


def _goes_on(which, tmp_path, monkeypatch, capsys):
    program = f"{which}_trainings.py"
    copy = tmp_path / program
    copy.write_text((Path(__file__).parents[1] / "data" / program).read_text())
    monkeypatch.setattr(sys, "argv", [program, "go_on", str(FILES / which)])
    with parallel_compat.legacy_names():
        exec(compile(copy.read_text(), str(copy), "exec"), {"__name__": "__main__"})
    ours = json.loads(capsys.readouterr().out)
    theirs = json.loads((FILES / which / "numbers.json").read_text())
    assert ours.keys() == theirs.keys()
    for name, numbers in theirs.items():
        np.testing.assert_allclose(ours[name], numbers, rtol=2e-5, err_msg=name)


def test_a_checkpoint_takes_no_name_from_the_models_after_it(tmp_path):
    import parallel_compat
    from parallel_compat.backend.keras3 import checkpoint_children

    checkpoint_children._names_of_keras.cache_clear()
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers

        def model(name=None):
            return Sequential([layers.Dense(1, input_shape=(1,))], name=name)

        first = [model().name, layers.Layer().name]
        model("saved").save_weights(str(tmp_path / "weights"))
        second = [model().name, layers.Layer().name]
    numbers = [[int(re.sub(r"\D", "", name) or 0) for name in names] for names in (first, second)]
    assert [now - then for then, now in zip(*numbers, strict=True)] == [1, 1]


def test_a_checkpoint_may_be_moved_and_named_as_its_folder_or_checkpoint(tmp_path):
    """`ModelCheckpoint("/tmp/checkpoint", save_weights_only=True)` is that of Keras's own documents."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        (tmp_path / "of").mkdir()
        for path in (tmp_path / "of" / "checkpoint", tmp_path / "of"):
            model.save_weights(str(path))
            model.load_weights(str(path)).assert_consumed()
        (tmp_path / "of").rename(tmp_path / "moved")
        assert tf.train.latest_checkpoint(str(tmp_path / "moved")) == str(tmp_path / "moved" / "checkpoint")


def test_a_part_of_a_model_is_read_in_code_of_tf_keras(tmp_path):
    """As TensorFlow 2.2's guide of transfer learning does it; what the file lacks stays, with a word on it."""

    def model(*sizes):
        return keras.Sequential([keras.Input((4,)), *(keras.layers.Dense(size) for size in sizes)])

    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        small, large = model(3), model(3, 2)
        small.save_weights(str(tmp_path / "small"))
        large.save_weights(str(tmp_path / "large"))
        kept = large.get_weights()[2:]
        with pytest.warns(ParallelCompatWarning, match=r"lacks 2 weights of .*: layer_with_weights-1/"):
            status = large.load_weights(str(tmp_path / "small"))
        for now, then in zip(large.get_weights(), [*small.get_weights(), *kept], strict=True):
            np.testing.assert_array_equal(now, then)
        with pytest.raises(AssertionError, match="layer_with_weights-1/kernel"):
            status.assert_existing_objects_matched()
        more = small.load_weights(str(tmp_path / "large"))
        assert more.assert_existing_objects_matched() is more
        with pytest.raises(AssertionError, match="layer_with_weights-1/"):
            more.assert_consumed()
        with pytest.raises(ValueError, match=r"without layer_with_weights-1/kernel of shape \(3, 5\)"):
            model(3, 5).load_weights(str(tmp_path / "large"))
        embedding = keras.Sequential([keras.Input((2,)), keras.layers.Embedding(4, 3)])
        with pytest.raises(ValueError, match="embeddings"):
            embedding.load_weights(str(tmp_path / "large"))


def _objects_that_point(number):
    graph = trackable_object_graph_pb2.TrackableObjectGraph()
    graph.nodes.add().children.add(local_name="layer_with_weights-0", node_id=number)
    return tf.constant(graph.SerializeToString())


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        (_objects_that_point(10**6), "without layer_with_weights-0/bias"),
        (_objects_that_point(-5), "without layer_with_weights-0/bias"),
        (_objects_that_point(0), "without layer_with_weights-0/bias"),
        (tf.constant(b"\xff\xff\xff"), "It is damaged"),
        (tf.constant([1.0, 2.0]), r"float32 of the shape \[2\]"),
        (tf.constant([b"a", b"b"]), r"string of the shape \[2\]"),
    ],
)
def test_a_checkpoint_may_say_anything_of_its_objects(tmp_path, objects, message):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)])
    names = [f"layer_with_weights-0/kernel/{'.ATTRIBUTES/VARIABLE_VALUE'}", "_CHECKPOINTABLE_OBJECT_GRAPH"]
    path = str(tmp_path / "hostile")
    tf.raw_ops.SaveV2(prefix=path, tensor_names=names, shape_and_slices=["", ""], tensors=[tf.ones((3, 4)), objects])
    with pytest.raises(ValueError, match=message):
        model_files.load_weights(model, path)


@pytest.mark.parametrize("left", [0, 10, 100])
@pytest.mark.parametrize("part", [".index", ".data-00000-of-00001"])
def test_a_checkpoint_that_was_cut_off_is_named(tmp_path, part, left):
    path = str(tmp_path / "cut")
    for each in (".index", ".data-00000-of-00001"):
        content = (FILES / f"graph{each}").read_bytes()
        Path(path + each).write_bytes(content[:left] if each == part else content)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)])
    with pytest.raises(ValueError, match=r"(?s)Expected .*cut'"):
        model_files.load_weights(model, path)
