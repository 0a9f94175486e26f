"""Imported, lets TensorFlow's functions make layers of Keras's symbolic tensors, as in TensorFlow 1 and tf.keras 2.

    import parallel_compat.legacy.symbolic_functions

    x = keras.Input((4, 3))
    y = tf.reduce_max(tf.square(x), 2)
    model = keras.Model(x, y)

Keras 3 raises there. The layers are saved and loaded with the model.
"""

from __future__ import annotations

from parallel_compat.backend.keras3 import dispatch, indices
from parallel_compat.legacy import op_layers

dispatch.register_once(op_layers.on_symbolic_tensors)
indices.take_numbers_of_numpy()
