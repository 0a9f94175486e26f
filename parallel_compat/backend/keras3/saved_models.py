"""What TensorFlow up to 2.4 said of a Keras model in a SavedModel. Read in TensorFlow 2.21."""

from __future__ import annotations

import os

from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import saved_model_pb2


def keras_metadata(folder: str) -> str | None:
    """Return what TensorFlow up to 2.4 said of a SavedModel's first object, JSON; None if it is not Keras's."""
    model = saved_model_pb2.SavedModel()
    with open(os.path.join(folder, "saved_model.pb"), "rb") as file:
        try:
            model.ParseFromString(file.read())
        except DecodeError as error:
            raise ValueError(str(error)) from error
    nodes = [node for graph in model.meta_graphs[:1] for node in graph.object_graph_def.nodes[:1]]
    first = nodes[0].user_object if nodes else None
    return str(first.metadata) if first is not None and first.identifier.startswith("_tf_keras_") else None
