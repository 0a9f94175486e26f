"""Weights in TensorFlow's checkpoint format, as `tf.keras` wrote and read them where a name was not one of HDF5.

The names in the file are `tf.keras`'s: `layer_with_weights-0/kernel` for a functional or sequential model, otherwise
the attributes that hold the layers. So its files are read here, and `tf.train.latest_checkpoint` finds those of here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import h5py
import keras
import tensorflow as tf
from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import trackable_object_graph_pb2

from parallel_compat.backend.keras3 import checkpoint_children

_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
_OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"
_STEPS = f"optimizer/iter{_SUFFIX}"  # of an optimizer of `tf.keras`


class LoadStatus:
    """What `load_weights` returned for a checkpoint; the file has every weight of the model.

    Args:
        unused: what the file has of other weights.
    """

    def __init__(self, unused: list[str]) -> None:
        self._unused = unused

    def expect_partial(self) -> LoadStatus:
        """Return itself."""
        return self

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Return itself."""
        return self

    def assert_consumed(self) -> LoadStatus:
        """Return itself.

        Raises:
            AssertionError: if the file has a weight that the model has not.
        """
        if self._unused:
            raise AssertionError(
                f"Expected all weights of the checkpoint in the model. Received: one without {', '.join(self._unused)}"
            )
        return self


def save(model: keras.Model, path: str) -> None:
    """Write a model's weights, and its optimizer's variables if it was compiled.

    Args:
        path: the beginning of the files' names.
    """
    variables = _variables(model)
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    tree: dict[str, Any] = {}
    for name, variable in variables.items():
        *above, last = name
        place = tree
        for part in above:
            place = place.setdefault(part, {})
        place[last] = tf.Variable(keras.ops.convert_to_numpy(variable))
    written = _tracked(tree).write(path)
    # Beside the files, so that the folder may be moved, and the files may be named "checkpoint" as this one is.
    noted = os.path.relpath(written, folder) if os.path.isabs(written) else written
    tf.compat.v1.train.update_checkpoint_state(folder, noted, all_model_checkpoint_paths=[noted])


def load(model: keras.Model, path: str) -> Any:
    """Read a model's weights, and its optimizer's variables where the file has all of them.

    Raises:
        ValueError: a weight is not in the file, or has another shape there; or the model has no weights yet.
    """
    if not model.built or not model.weights:
        raise ValueError(
            f"Expected a model that has weights, to read those of {path!r}. Received: the model {model.name!r}, "
            "which has not been called. Call it once on a batch, or `build(input_shape)`, before `load_weights`."
        )
    with _reading(path):
        reader = tf.compat.v1.train.NewCheckpointReader(path)  # a folder may have the same name
        stored = reader.get_variable_to_shape_map()
    values: list[tuple[Any, str]] = []
    missing: list[str] = []
    places = _Places(reader, path)
    for name, variable in _variables(model).items():
        key = places.key(name)
        if tuple(stored.get(key, (None,))) == tuple(variable.shape):
            values.append((variable, key))
        elif name[0] != "optimizer":
            missing.append(f"{'/'.join(name)} of shape {tuple(variable.shape)}")
        else:  # of another optimizer: it starts from zero
            values = [one for one in values if not one[1].startswith("optimizer/")]
            break
    if missing:
        raise ValueError(
            f"Expected each weight of {model.name!r} in {path!r}. Received: a checkpoint without {missing[0]}"
            f"{f' and {len(missing) - 1} more' if len(missing) > 1 else ''}. It has {', '.join(sorted(stored)[:8])} ..."
        )
    with _reading(path):
        read = [(variable, reader.get_tensor(key)) for variable, key in values]
    for variable, value in read:
        variable.assign(value)
    if _STEPS in stored:
        _restore_optimizer(model, path)
    used = {key for _, key in values}
    others = [key for key in stored if key.endswith(_SUFFIX) and key not in used]
    return LoadStatus([key for key in others if not key.startswith(("optimizer/", "save_counter/"))])


@contextlib.contextmanager
def _reading(path: str) -> Iterator[None]:
    try:
        yield
    except tf.errors.NotFoundError:
        raise
    except (IndexError, DecodeError, tf.errors.OpError) as error:  # TensorFlow's first for bytes that are not there
        raise ValueError(
            f"Expected a checkpoint of TensorFlow in {path!r}. Received: {error}. It is damaged: read another one."
        ) from error


class _Places:
    """Finds the key of a variable in a checkpoint by the attributes that lead to it.

    Of several ways to a variable the shortest is its key, and there may be one that a model has not here: in a
    SavedModel `keras_api/variables/3`. So its objects are walked, as TensorFlow does.

    Args:
        reader: of the checkpoint.
        path: the beginning of the files' names.

    Raises:
        ValueError: what the file says of its objects cannot be read.
    """

    def __init__(self, reader: Any, path: str) -> None:
        graph = trackable_object_graph_pb2.TrackableObjectGraph()
        if reader.has_tensor(_OBJECTS):
            shape, dtype = reader.get_variable_to_shape_map()[_OBJECTS], reader.get_variable_to_dtype_map()[_OBJECTS]
            if shape or dtype != tf.string:
                raise ValueError(
                    f"Expected one string of bytes for `{_OBJECTS}` in {path!r}. Received: {dtype.name} of the shape "
                    f"{shape}. The file is damaged: read another one."
                )
            with _reading(path):
                graph.ParseFromString(reader.get_tensor(_OBJECTS))
        self._nodes = graph.nodes

    def key(self, way: tuple[str, ...]) -> str:
        """Return the key; that of the way itself where the file says nothing of objects or has none there."""
        node = self._nodes[0] if self._nodes else None
        for name in way:
            inner = {child.local_name: child.node_id for child in node.children} if node is not None else {}
            number = inner.get(name, -1)
            node = self._nodes[number] if 0 <= number < len(self._nodes) else None
        keys = [each.checkpoint_key for each in node.attributes] if node is not None else []
        return keys[0] if keys else "/".join(part.replace(".", "..").replace("/", ".S") for part in way) + _SUFFIX


def _restore_optimizer(model: keras.Model, path: str) -> None:
    """Let the optimizer of a compiled model go on where that of `tf.keras` was, which wrote the file."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        return
    if not optimizer.built:
        optimizer.build(model.trainable_variables)
    tf.train.Checkpoint(root=model).read(path).expect_partial()


def is_checkpoint(path: str) -> bool:
    """Return whether a path is the beginning of the names of a checkpoint's files, and no HDF5 file beside them.

    The file "checkpoint", which says what the latest one is, may be beside one of that name.
    """
    return os.path.exists(f"{path}.index") and not (os.path.isfile(path) and h5py.is_hdf5(path))


def _variables(model: keras.Model) -> dict[tuple[str, ...], Any]:
    """Return all variables by the way to them; the optimizer's are last."""
    found: dict[tuple[str, ...], Any] = dict(checkpoint_children.variables(model))
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None:
        if not optimizer.built:
            optimizer.build(model.trainable_variables)
        for number, variable in enumerate(optimizer.variables):
            found["optimizer", f"variables-{number}"] = variable
    return found


def _tracked(tree: dict[str, Any]) -> tf.train.Checkpoint:
    return tf.train.Checkpoint(
        **{name: _tracked(part) if isinstance(part, dict) else part for name, part in tree.items()}
    )
