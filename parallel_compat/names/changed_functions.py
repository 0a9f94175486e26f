"""Functions of TensorFlow 1 that take the same arguments today and return something else, with their replacements."""

from __future__ import annotations

_INITIALIZERS = "parallel_compat.legacy.tensorflow_functions"

CHANGED = {
    "tensorflow.where": "tensorflow.compat.v1.where",
    "tensorflow.image.resize": "tensorflow.compat.v1.image.resize",  # about the corners of pixels, not their middles
    "tensorflow.nn.softmax_cross_entropy_with_logits":  # no gradients go into the labels
    "tensorflow.compat.v1.nn.softmax_cross_entropy_with_logits",
    **{
        f"tensorflow.{path}": f"{_INITIALIZERS}.{name}"
        for name in ("random_normal_initializer", "random_uniform_initializer", "truncated_normal_initializer")
        for path in (name, f"initializers.{name.removesuffix('_initializer')}")
    },
}
