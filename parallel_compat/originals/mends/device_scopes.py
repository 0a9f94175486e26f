"""A device scope is text for what Keras 2.2.4 reads it with: `with tf.device("/cpu:0")` around a model, and each tower.

Seen in TensorFlow 1.14 to 2.21.
"""

from __future__ import annotations

from types import ModuleType

from parallel_compat.names.eras import Era
from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    if mends.era is not Era.KERAS_2_2_4:
        return
    import tensorflow.compat.v1 as tf

    def takes_text(module: ModuleType) -> None:
        kind = module._TfDeviceCaptureOp
        mends.add(
            kind, _set_device_from_string=lambda self, text: setattr(self, "device", tf.DeviceSpec.from_string(text))
        )

    mends.after("keras.backend.tensorflow_backend", takes_text)
