"""Models that have no weights yet: tf.keras refused to list or to write those of a model that would make some later.

Keras 3 lists none, and writes a file without any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import keras

if TYPE_CHECKING:
    from parallel_compat.names.eras import Era


def check(model: keras.layers.Layer, era: Era) -> None:
    """Refuse a Sequential, or a model of a class with a `build` of its own, that has not been built.

    Args:
        model: a model, or a layer, which is never refused.
        era: that of the code which asks for its weights.

    Raises:
        ValueError: it is such a model (`Network._assert_weights_created` of TensorFlow 1.15 and 2.2).
    """
    if not era.is_tf_keras or not isinstance(model, keras.Model) or model.built:
        return
    if type(model) is keras.Sequential or "build" in vars(type(model)):
        raise missing(model)


def missing(model: keras.Model) -> ValueError:
    """Return the error about a model without weights."""
    return ValueError(
        f"Expected a model that has its weights. Received: '{model.name}', which has never been called. Build the "
        "model first: call it on some data, or give its first layer an `input_shape`."
    )
