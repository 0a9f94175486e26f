"""A tower without samples gives zero gradients and leaves the moving statistics alone.

`multi_gpu_model` cuts a batch into whole parts, so a batch smaller than the towers leaves some without samples. Their
batch statistics were NaN, and with them the gradient of `gamma` and the moving statistics. The kernel gradient of a
depthwise convolution was memory that nothing had written.

Seen in TensorFlow 1.15 to 2.21.
"""

from __future__ import annotations

import contextvars
from typing import Any

from parallel_compat.context_variables import set_within
from parallel_compat.originals.mends.operations import uncounted
from parallel_compat.originals.mends.register import Register

_MARK = "_parallel_compat_in_tower"

_building: contextvars.ContextVar[bool] = contextvars.ContextVar("building", default=False)
# Whether the tower whose statistics are computed has no samples: a tensor; None outside of a tower.
_is_empty: contextvars.ContextVar[Any] = contextvars.ContextVar("is_empty", default=None)


def apply(mends: Register) -> None:
    import tensorflow
    import tensorflow.compat.v1 as tf
    from tensorflow.python.ops import gen_nn_ops, nn, nn_ops, resource_variable_ops

    for name in ("assign", "assign_add", "assign_sub"):
        mends.around(resource_variable_ops.ResourceVariable, name, _writes_of_samples)
    of_scripts = tensorflow.nn  # Keras 2.3 in a project of TensorFlow 2 calls that of TensorFlow 2
    for owner in dict.fromkeys((nn, tf.nn, of_scripts)):
        mends.around(owner, "moments", _finite)
    for owner in (gen_nn_ops, nn_ops):
        mends.around(owner, "depthwise_conv2d_native_backprop_filter", _zero_without_samples)
    for root in ("keras", "tensorflow.python.keras"):
        mends.after(f"{root}.layers.normalization", _pass_tower)
        mends.around(f"{root}.utils.multi_gpu_utils", "multi_gpu_model", _mark_what_is_built, shown=True)


def _has_no_samples(batch: Any) -> Any:
    """Return a tensor; None where the size is known and not zero."""
    import tensorflow.compat.v1 as tf

    if batch.shape.rank is None or batch.shape[:1].num_elements():
        return None
    with uncounted(tf.get_default_graph()):
        return tf.equal(tf.shape(batch)[0], 0)


def _instead(is_empty: Any, make: Any, value: Any) -> Any:
    """Return a value, or where there are no samples what `make` makes of it."""
    import tensorflow.compat.v1 as tf

    if is_empty is None:
        return value
    with uncounted(tf.get_default_graph()):
        return tf.where_v2(is_empty, make(value), value)


def _zero_without_samples(gradient_of_kernel: Any, input: Any, *args: Any, **options: Any) -> Any:
    import tensorflow.compat.v1 as tf

    return _instead(_has_no_samples(input), tf.zeros_like, gradient_of_kernel(input, *args, **options))


def _mark_what_is_built(make: Any, *args: Any, **options: Any) -> Any:
    with set_within(_building, True):
        return make(*args, **options)


def _pass_tower(module: Any) -> None:
    kind = getattr(module, "BatchNormalizationBase", None) or module.BatchNormalization
    original = kind.call

    def call(self: Any, inputs: Any, training: Any = None) -> Any:
        if _building.get():
            setattr(self, _MARK, True)
        with set_within(_is_empty, _has_no_samples(inputs) if getattr(self, _MARK, False) else None):
            return original(self, inputs, training=training)

    kind.call = call


def _finite(moments: Any, *args: Any, **options: Any) -> Any:
    import tensorflow.compat.v1 as tf
    from tensorflow.python.ops import nn_impl

    mean, variance = getattr(nn_impl, moments.__name__)(*args, **options)
    is_empty = _is_empty.get()
    return _instead(is_empty, tf.zeros_like, mean), _instead(is_empty, tf.zeros_like, variance)


def _writes_of_samples(write: Any, self: Any, value: Any, *args: Any, **options: Any) -> Any:
    import tensorflow.compat.v1 as tf

    is_empty = _is_empty.get()
    if is_empty is not None:
        adds = write.__name__ != "assign"
        with uncounted(tf.get_default_graph()):
            value = tf.convert_to_tensor(value, self.dtype)
        value = _instead(is_empty, tf.zeros_like if adds else lambda _: self.read_value(), value)
    return write(self, value, *args, **options)
