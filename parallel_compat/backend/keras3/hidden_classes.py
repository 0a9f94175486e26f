"""Classes that Keras 3 does not show, which old code derives from or reads. Read in Keras 3.15.1."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

__all__ = ["CONVOLUTION", "DATA_FRAME_ITERATOR", "MERGE", "POOLING", "kept_layers", "spec_by_calling"]

# What `ImageDataGenerator.flow_from_dataframe` returns (`DataFrameIterator`).
DATA_FRAME_ITERATOR: Any = next(
    each for each in tf.keras.preprocessing.image.Iterator.__subclasses__() if each.__name__ == "DataFrameIterator"
)
# What `Add`, `Multiply` and the like derive from (`Merge`).
MERGE: Any = next(each for each in keras.layers.Add.__mro__ if "compute_mask" in vars(each))
# What `Conv1D`, `Conv2D` and `Conv3D` derive from (`BaseConv`).
CONVOLUTION: Any = keras.layers.Conv2D.__mro__[1]
# What `MaxPooling2D` and the like derive from (`BasePooling`).
POOLING: Any = keras.layers.MaxPooling2D.__mro__[1]


def kept_layers() -> list[Any]:
    """Return the classes of layers that Keras 3 keeps for old files alone: those that only `tf.keras.layers` shows."""
    if tf.keras.layers.Layer is not keras.layers.Layer:  # `tf.keras` is another package's, if the user wants that
        return []
    kinds = vars(tf.keras.layers).items()
    return [kind for name, kind in kinds if isinstance(kind, type) and getattr(keras.layers, name, None) is not kind]


def spec_by_calling(owner: Any, original: Any) -> Any:
    """Return the `compute_output_spec` of a class whose subclasses with a `call` of their own are called."""

    def compute_output_spec(self: Any, *args: Any, **kwargs: Any) -> Any:
        if type(self).call is not owner.call:
            return keras.Operation.compute_output_spec(self, *args, **kwargs)
        return original(self, *args, **kwargs)

    return compute_output_spec
