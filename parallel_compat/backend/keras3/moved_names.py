"""What other releases of Keras 3 have under another name. Read in Keras 3.12 to 3.15 and the nightly of 3.16."""

from __future__ import annotations

import functools
from typing import Any

import keras
from keras.src import backend

_operations: Any = getattr(backend, "ops", backend)  # a package of its own since 3.16
# The operations of the TensorFlow backend, as `keras.ops` calls them.
nn: Any = _operations.nn
numpy: Any = _operations.numpy

# The class of TensorFlow's backend whose methods `keras.Model` has: `TensorFlowTrainer`, since 3.16 `Trainer`.
Trainer: Any = next(kind for kind in keras.Model.__mro__[1:] if "fit" in vars(kind))


@functools.cache
def functional_class() -> Any:
    """Return the class of a model of inputs and outputs (`Functional`)."""
    # Named, for what has no name of its own is numbered. Keras 3.12 wants a layer between the two.
    any_input = keras.Input((1,), name="any_input")
    return type(keras.Model(any_input, keras.layers.Identity(name="any_layer")(any_input), name="any_model"))
