"""A layer that repeats a TensorFlow operation, such as `tf.concat` of Keras tensors, passes its inputs as a flat list.

TensorFlow 1.15 took those that are a list, as `tf.concat` has, as a list; today it finds them itself.

Seen in TensorFlow 2.18 to 2.21.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    """Let the layer make no list."""
    if mends.is_tensorflow_1:
        mends.edit("tensorflow.python.keras.engine.base_layer", "'N' in node_def.attr", "False")
