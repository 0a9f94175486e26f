"""Imported, lets TensorFlow's functions make layers of Keras's symbolic tensors, as in TensorFlow 1 and tf.keras 2.

    import parallel_compat.legacy.symbolic_functions

    x = keras.Input((4, 3))
    y = tf.reduce_max(tf.square(x), 2)
    model = keras.Model(x, y)

Keras 3 raises there. The layers are saved and loaded with the model.
"""

from __future__ import annotations

from parallel_compat.backend.keras3 import dispatch, symbolic_values
from parallel_compat.backend.patches import CORE, TENSORFLOW
from parallel_compat.legacy import op_layers

dispatch.register_once()
CORE.set(
    dispatch,
    "handler",
    op_layers.on_symbolic_tensors,
    why="a layer of any TensorFlow function, in migrated code",
    read_in=TENSORFLOW,
)
(_owner, _name, _wrap), _why = symbolic_values.multiplied()
CORE.wrap(_owner, _name, _wrap, why=_why)
