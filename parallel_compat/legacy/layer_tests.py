"""What old projects tested their own layers with: `layer_test` and `keras_test` of `keras.utils.test_utils`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np

from parallel_compat.legacy.utils import has_arg

_TOLERANCE = 1e-3  # Keras 2's


def keras_test(func: Callable[..., Any]) -> Callable[..., Any]:
    """Forget Keras's global state after a test (a decorator of Keras before 2.2.3).

    >>> @keras_test
    ... def test_layer():
    ...     return "tested"
    >>> test_layer()
    'tested'

    Returns:
        The test, after which `keras.utils.clear_session` is called.
    """

    @functools.wraps(func)
    def test(*arguments: Any, **keywords: Any) -> Any:
        output = func(*arguments, **keywords)
        keras.utils.clear_session()
        return output

    return test


def layer_test(
    layer_cls: Callable[..., Any],
    kwargs: dict[str, Any] | None = None,
    input_shape: Sequence[int | None] | None = None,
    input_dtype: Any = None,
    input_data: Any = None,
    expected_output: Any = None,
    expected_output_dtype: Any = None,
    fixed_batch_size: bool = False,
) -> Any:
    """Try a layer of one input and one output in a model: shape, dtype, config, weights and a step of training.

    >>> layer_test(keras.layers.Dense, {"units": 3}, input_shape=(4, 2)).shape
    (4, 3)

    Args:
        layer_cls: the layer's class.
        kwargs: arguments of the class.
        input_shape: shape of the input, the batch included; a None is drawn from 1 to 3. Needed without `input_data`.
        input_dtype: dtype of the input; by default that of `input_data`, or `floatx`.
        input_data: an array; by default random numbers in [0, 10).
        expected_output: an array that the layer must compute.
        expected_output_dtype: dtype of the output; by default `input_dtype`.
        fixed_batch_size: whether the input's batch size is a part of the model.

    Returns:
        What the layer computed, an array.

    Raises:
        AssertionError: the layer did not do what was expected, in numpy's words.
        ValueError: there is neither `input_data` nor `input_shape`.
    """
    if input_data is None:
        if not input_shape:
            raise ValueError("Expected `input_data` or `input_shape`. Received neither.")
        input_dtype = input_dtype or keras.config.floatx()
        sizes = [np.random.randint(1, 4) if size is None else size for size in input_shape]
        input_data = (10 * np.random.random(sizes)).astype(input_dtype)
    shape = tuple(input_data.shape if input_shape is None else input_shape)
    dtype = keras.backend.standardize_dtype(input_dtype or input_data.dtype)

    layer = layer_cls(**(kwargs or {}))
    x = keras.Input(batch_shape=shape if fixed_batch_size else (None, *shape[1:]), dtype=dtype)
    y = layer(x)
    np.testing.assert_equal(y.dtype, keras.backend.standardize_dtype(expected_output_dtype or dtype))
    layer.set_weights(layer.get_weights())

    model = keras.Model(x, y)
    output = model.predict(input_data, verbose=0)
    promised = tuple(layer.compute_output_shape(shape))
    known = tuple(size if want is None else want for want, size in zip(promised, output.shape, strict=True))
    np.testing.assert_equal(output.shape, known)
    if expected_output is not None:
        np.testing.assert_allclose(output, expected_output, rtol=_TOLERANCE)

    again = type(model).from_config(model.get_config(), custom_objects={type(layer).__name__: type(layer)})
    if model.weights:
        again.set_weights(model.get_weights())
        np.testing.assert_allclose(again.predict(input_data, verbose=0), output, rtol=_TOLERANCE)
    type(layer).from_config(layer.get_config())

    if has_arg(layer.call, "training"):  # such a layer does something else in training
        model.compile("rmsprop", "mse")
        model.train_on_batch(input_data, output)
    return output
