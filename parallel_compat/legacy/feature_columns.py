"""`DenseFeatures` and `SequenceFeatures`: layers of tf.keras that make tensors of `tf.feature_column`'s columns.

TensorFlow still has the columns; the layers left with its own Keras. Read in TensorFlow 2.2.3's
`feature_column/dense_features_v2.py` and `sequence_feature_column.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import feature_columns
from parallel_compat.backend.keras3.feature_columns import State

__all__ = ["DenseFeatures", "SequenceFeatures"]


class _Features(keras.layers.Layer):  # type: ignore[misc]  # Keras has no types
    _KIND: Any
    _AXES: int  # before that of the features
    columns_state: State

    def __init__(
        self,
        feature_columns: Any,
        trainable: bool = True,
        name: str | None = None,
        partitioner: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        if partitioner is not None:
            raise ValueError(
                f"Expected `partitioner` of `{type(self).__name__}` to be None: weights are no longer cut into parts. "
                f"Received: {partitioner!r}. Leave it out."
            )
        self._columns = _in_order(feature_columns, self._KIND)
        # Past `setattr`: Keras would follow what it holds.
        self.__dict__["columns_state"] = State(self._add)

    def _add(self, column: str, name: str, shape: Any, dtype: str, initializer: Any, trainable: bool) -> Any:
        return self.add_weight(
            shape=shape,
            initializer=initializer,
            dtype=dtype,
            trainable=self.trainable and trainable,
            name=f"{feature_columns.scope_of(column)}_{name}",
        )

    def __call__(self, features: Any, *given: Any, **kwargs: Any) -> Any:
        """Return the tensors of features by name, each of which may be a list or an array."""
        if isinstance(features, dict):
            lists = {
                name: tf.convert_to_tensor(each) for name, each in features.items() if isinstance(each, (list, tuple))
            }
            features = {**features, **lists}
        return super().__call__(features, *given, **kwargs)

    def build(self, input_shape: Any = None) -> None:
        for column in self._columns:
            column.create_state(self.columns_state)
        # The list itself, to which tables are added in calls; Keras would set a copy.
        self.__dict__["tables"] = self.columns_state.tables
        self.built = True

    def _reshaped(self, column: Any, tensor: Any) -> Any:
        shape = tf.shape(tensor)
        return tf.reshape(tensor, [*(shape[axis] for axis in range(self._AXES)), math.prod(column.variable_shape)])

    def _size(self) -> int:
        return sum(math.prod(column.variable_shape) for column in self._columns)

    def _features(self, given: Any) -> Any:
        if not isinstance(given, dict):
            raise ValueError(f"We expected a dictionary here, of features by name. Instead we got: {given!r}")
        return feature_columns.features_of(given)

    def get_config(self) -> dict[str, Any]:
        columns = feature_columns.to_configs(self._columns)
        return {**super().get_config(), "feature_columns": columns, "partitioner": None}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        columns = feature_columns.from_configs(config["feature_columns"], custom_objects=custom_objects)
        return cls(**{**config, "feature_columns": columns})


@keras.saving.register_keras_serializable("parallel_compat")
class DenseFeatures(_Features):
    """A dense tensor of the features that columns describe, which is a model's first layer.

    >>> column = tf.feature_column.numeric_column("age")
    >>> DenseFeatures([column])({"age": tf.constant([[30.0], [41.0]])}).numpy().tolist()
    [[30.0], [41.0]]

    The columns are taken in the order of their names. Read in TensorFlow 2.2.3's `dense_features_v2.py`.

    Args:
        feature_columns: dense columns of `tf.feature_column`, as `numeric_column`, `bucketized_column`,
            `embedding_column` and `indicator_column` make them.
        trainable: whether the weights of embeddings are trained.
        name: name of the layer.
        partitioner: None.
        **kwargs: the arguments of every layer.

    Returns:
        Called with features by name, each of shape `(batch,)` or `(batch, n)`: a tensor `(batch, features)`, float32.

    Raises:
        ValueError: if the columns are of another kind or have a name in common, or if what it is called with
            is no dict.
    """

    _KIND = feature_columns.DENSE
    _AXES = 1

    def __call__(
        self, features: Mapping[str, Any], cols_to_output_tensors: dict[Any, Any] | None = None, **kwargs: Any
    ) -> Any:
        """Return the tensors of the columns side by side; with a dict, put that of each column in it."""
        result, start = super().__call__(features, **kwargs), 0
        for column in self._columns if cols_to_output_tensors is not None else ():
            end = start + math.prod(column.variable_shape)
            cols_to_output_tensors[column] = result[:, start:end]  # type: ignore[index]  # it is a dict here
            start = end
        return result

    def call(self, features: Mapping[str, Any]) -> Any:
        """Return the tensors of the columns side by side, in the order of the columns' names."""
        cache, tensors = self._features(features), []
        for column in self._columns:
            tensors.append(self._reshaped(column, column.get_dense_tensor(cache, self.columns_state)))
        result = tf.concat(tensors, -1)
        return tf.ensure_shape(result, (*result.shape[:-1], self._size()))

    def compute_output_shape(self, input_shape: Any) -> tuple[int | None, ...]:
        return (None, self._size())


@keras.saving.register_keras_serializable("parallel_compat")
class SequenceFeatures(_Features):
    """A tensor of sequences of the features that columns describe, and their lengths.

    >>> column = tf.feature_column.sequence_numeric_column("temperature")
    >>> sparse = tf.sparse.from_dense([[20.0, 21.0], [19.0, 0.0]])
    >>> tensor, lengths = SequenceFeatures([column])({"temperature": sparse})
    >>> tensor.shape, lengths.numpy().tolist()
    (TensorShape([2, 2, 1]), [2, 1])

    Read in TensorFlow 2.2.3's `sequence_feature_column.py`.

    Args:
        feature_columns: sequence columns of `tf.feature_column`.
        trainable: whether the weights of embeddings are trained.
        name: name of the layer.
        partitioner: None.
        **kwargs: the arguments of every layer.

    Returns:
        Called with features by name, sparse tensors `(batch, steps)`: a tensor `(batch, steps, features)`, float32,
        and the lengths, `(batch,)`, int64.

    Raises:
        ValueError: as `DenseFeatures`.
    """

    _KIND = feature_columns.SEQUENCE
    _AXES = 2

    def call(self, features: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return the tensors of the columns side by side, and the lengths that they have in common."""
        cache, tensors, lengths = self._features(features), [], []
        for column in self._columns:
            tensor, length = column.get_sequence_dense_tensor(cache, self.columns_state)
            tensors.append(self._reshaped(column, tensor))
            lengths.append(length)
        return tf.concat(tensors, -1), feature_columns.sequence_length(lengths)


def _in_order(given: Any, kind: Any) -> list[Any]:
    """Return the columns in the order of their names, once they are found to be columns of that kind."""
    if isinstance(given, feature_columns.COLUMN):
        given = [given]
    if isinstance(given, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict. Give `list(columns.values())`.")
    columns = list(given)
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    names: dict[str, Any] = {}
    for column in columns:
        if not isinstance(column, feature_columns.COLUMN):
            raise ValueError(
                f"Items of feature_columns must be a FeatureColumn. Given (type {type(column)}): {column}."
            )
        if column.name in names:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {names[column.name]}. Leave one of "
                "them out, or give it a feature of another name."
            )
        if not isinstance(column, kind):
            raise ValueError(
                f"Items of feature_columns must be a {kind}. You can wrap a categorical column with an "
                f"embedding_column or indicator_column. Given: {column}"
            )
        names[column.name] = column
    return sorted(columns, key=lambda column: str(column.name))
