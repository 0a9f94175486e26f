"""The tables that stand in for Keras (so that it need not be imported) agree with the Keras that is installed."""

from __future__ import annotations

import inspect

import pytest

from parallel_compat.recover.layer_weights import specs
from parallel_compat.recover.rules.keras3_arguments import KERAS3_ARGUMENTS


@pytest.mark.parametrize("name", sorted(KERAS3_ARGUMENTS))
def test_every_argument_is_taken(name: str) -> None:
    import keras

    taken: set[str] = set()
    for owner in getattr(keras.layers, name).__mro__:
        if owner is keras.layers.Layer:
            break
        signature = inspect.signature(owner.__init__).parameters
        taken |= set(signature)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.values()):
            break
    else:
        taken = set()
    assert KERAS3_ARGUMENTS[name] <= taken | {"activity_regularizer"}


LAYERS = {
    "Dense": ((4,), {"units": 3}),
    "Conv1D": ((9, 4), {"filters": 3, "kernel_size": 2}),
    "Conv2D": ((9, 9, 4), {"filters": 3, "kernel_size": [2, 3]}),
    "Conv3D": ((5, 5, 5, 2), {"filters": 3, "kernel_size": 2}),
    "Conv2DTranspose": ((9, 9, 4), {"filters": 3, "kernel_size": 2}),
    "Conv3DTranspose": ((5, 5, 5, 2), {"filters": 3, "kernel_size": 2}),
    "SeparableConv1D": ((9, 4), {"filters": 3, "kernel_size": 2, "depth_multiplier": 2}),
    "SeparableConv2D": ((9, 9, 4), {"filters": 3, "kernel_size": 2, "depth_multiplier": 2}),
    "DepthwiseConv2D": ((9, 9, 4), {"kernel_size": 2, "depth_multiplier": 2}),
    "Embedding": ((5,), {"input_dim": 7, "output_dim": 3}),
    "BatchNormalization": ((4,), {"scale": False}),
    "LayerNormalization": ((4,), {}),
    "PReLU": ((4, 4), {}),
    "SimpleRNN": ((5, 4), {"units": 3}),
    "GRU": ((5, 4), {"units": 3, "reset_after": True}),
    "LSTM": ((5, 4), {"units": 3, "use_bias": False}),
    "ConvLSTM2D": ((3, 5, 5, 2), {"filters": 2, "kernel_size": 3}),
}


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_every_weight_is_known(name: str) -> None:
    import keras

    shape, config = LAYERS[name]
    layer = getattr(keras.layers, name)(**config)
    layer.build((None, *shape))
    known = specs(name, config)
    assert known is not None
    assert len(known) == len(layer.weights)
    for spec, weight in zip(known, layer.weights, strict=True):
        assert spec.fits(tuple(weight.shape)), (spec, weight.shape)
        assert spec.name == weight.name or {spec.name, weight.name} <= {"depthwise_kernel", "kernel"}
