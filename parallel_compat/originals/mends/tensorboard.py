"""The projector of TensorBoard, which was in `tf.contrib`.

Seen in TensorBoard 2.18 to 2.21.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parallel_compat.names.eras import Era

if TYPE_CHECKING:
    from parallel_compat.originals.mends.register import Register

_CALLBACKS = {Era.KERAS_2_2_4: "keras.callbacks", Era.KERAS_2_3: "keras.callbacks.tensorboard_v1"}


def apply(mends: Register) -> None:
    """Let Keras's callback import it from where it is."""
    if mends.era in _CALLBACKS:
        mends.edit(
            _CALLBACKS[mends.era],
            "from tensorflow.contrib.tensorboard.plugins import projector",
            "from tensorboard.plugins import projector",
        )
