"""TensorFlow's feature columns, whose state and whose configs are in private modules. Read in TensorFlow 2.21."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf
from tensorflow.python.feature_column import feature_column_v2, feature_column_v2_types, serialization

COLUMN, DENSE, SEQUENCE = (
    feature_column_v2_types.FeatureColumn,
    feature_column_v2.DenseColumn,
    feature_column_v2.SequenceDenseColumn,
)

to_configs: Callable[[list[Any]], list[Any]] = serialization.serialize_feature_columns
from_configs: Callable[..., list[Any]] = serialization.deserialize_feature_columns
scope_of: Callable[[str], str] = feature_column_v2._sanitize_column_name_for_variable_scope


def features_of(given: Mapping[str, Any]) -> Any:
    """Return what columns take their features from: each is made once for all columns that ask for it."""
    return feature_column_v2.FeatureTransformationCache(dict(given))


def sequence_length(lengths: list[Any]) -> Any:
    """Return the lengths of sequences, int64 of shape `(batch,)`, that all columns must have in common."""
    first = lengths[0]
    same = [tf.debugging.assert_equal(first, each) for each in lengths[1:]]
    with tf.control_dependencies([each for each in same if each is not None]):
        return tf.identity(first)


class State(feature_column_v2.StateManager):  # type: ignore[misc]  # TensorFlow has no types
    """The weights and tables of a layer's columns.

    Args:
        add: called with a column's name, a weight's name, shape, dtype, initializer and whether it is trained.

    Attributes:
        tables: all tables; a SavedModel holds them.
    """

    def __init__(self, add: Callable[..., Any]) -> None:
        self._add = add
        self._weights: dict[Any, dict[str, Any]] = defaultdict(dict)
        self._tables: dict[Any, dict[str, Any]] = defaultdict(dict)
        self.tables: list[Any] = []

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        def initial(shape: Any, dtype: Any = None) -> Any:
            return initializer(shape, tf.as_dtype(dtype or "float32"))

        made = self._add(
            feature_column.name,
            name,
            tuple(shape),
            tf.as_dtype(dtype or "float32").name,
            "glorot_uniform" if initializer is None else initial,
            trainable,
        )
        self._weights[feature_column][name] = made
        return made

    def get_variable(self, feature_column: Any, name: str) -> Any:
        # A tensor: a replica reads a value of its own, and TensorFlow asks for a variable's device otherwise.
        return tf.convert_to_tensor(self._weights[feature_column][name])

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        self._tables[feature_column][name] = resource
        self.tables.append(resource)

    def has_resource(self, feature_column: Any, name: str) -> bool:
        return name in self._tables[feature_column]

    def get_resource(self, feature_column: Any, name: str) -> Any:
        return self._tables[feature_column][name]
