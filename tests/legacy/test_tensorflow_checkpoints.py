"""Weights in checkpoints of TensorFlow: those of TensorFlow 2.2.3 are read, and `tf.keras` code writes them."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import trackable_object_graph_pb2

from parallel_compat.legacy import models
from tests.data import make_old_checkpoints as old

FILES = Path(__file__).parents[1] / "data" / "old_checkpoints"


@pytest.mark.parametrize("case", old.CASES)
def test_weights_of_an_old_checkpoint(case, tmp_path):
    model = old.filled(old.CASES[case])
    model.set_weights([np.zeros_like(weight) for weight in model.get_weights()])
    models.load_weights(model, FILES / case)
    expected = np.load(FILES / "predictions.npz")[case]
    np.testing.assert_allclose(model.predict(old.data(), verbose=0), expected, rtol=1e-5)

    models.save_weights(model, tmp_path / "folder" / "again", save_format="tf")
    theirs, ours = (dict(tf.train.list_variables(str(path))) for path in (FILES / case, tmp_path / "folder" / "again"))
    weights = {name: shape for name, shape in ours.items() if name.endswith("VARIABLE_VALUE") and "save_c" not in name}
    assert weights.items() <= theirs.items()
    assert len(weights) == len(model.weights)

    models.save_weights(model, tmp_path / "named" / "w_1.tf")  # of rewritten code the name tells
    assert tf.train.latest_checkpoint(str(tmp_path / "named")) == str(tmp_path / "named" / "w_1.tf")


def test_a_weight_that_is_missing_is_refused_and_nothing_is_changed():
    model = keras.Sequential([keras.Input((5,)), keras.layers.Embedding(9, 3), keras.layers.Dense(2)])
    before = model.get_weights()
    with pytest.raises(ValueError, match=r"without layer_with_weights-1/kernel of shape \(3, 2\) and 1 more"):
        models.load_weights(model, FILES / "graph")
    for kept, now in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(kept, now)
    with pytest.raises(ValueError, match="has not been called"):
        models.load_weights(old.Blocks(), FILES / "blocks")
    with pytest.raises(ValueError, match="by_name"):
        models.load_weights(model, FILES / "graph", by_name=True)


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
        models.load_weights(model, path)


@pytest.mark.parametrize("left", [0, 10, 100])
@pytest.mark.parametrize("part", [".index", ".data-00000-of-00001"])
def test_a_checkpoint_that_was_cut_off_is_named(tmp_path, part, left):
    path = str(tmp_path / "cut")
    for each in (".index", ".data-00000-of-00001"):
        content = (FILES / f"graph{each}").read_bytes()
        Path(path + each).write_bytes(content[:left] if each == part else content)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)])
    with pytest.raises(ValueError, match=r"(?s)Expected .*cut'"):
        models.load_weights(model, path)
