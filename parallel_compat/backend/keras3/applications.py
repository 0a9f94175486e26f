"""What `keras.applications` keeps to itself. Read in Keras 3.15.1."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from keras.src.applications import (
    densenet,
    imagenet_utils,
    inception_resnet_v2,
    mobilenet,
    mobilenet_v2,
    nasnet,
    resnet,
)
from keras.src.applications.imagenet_utils import obtain_input_shape

from parallel_compat.backend.keras3.layers import operation_of
from parallel_compat.names.eras import Era

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["obtain_input_shape", "patch_points"]

# The names that networks gave some of their layers, by today's. Read in Keras-Applications 1.0.8, which Keras 2.2.4 and
# tf.keras 1.15 took them from, and in TensorFlow 2.2.3.
_CLASSIFIERS = {densenet: "fc1000", resnet: "probs", mobilenet: "act_softmax", mobilenet_v2: "Logits"}
_STEM_OF_DENSENETS = {"conv1_conv": "conv1/conv", "conv1_bn": "conv1/bn", "conv1_relu": "conv1/relu"}


def patch_points(era: Callable[[], Era]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where networks find what they are made of (`layers` of their modules), for the names and shapes of then.

    Args:
        era: returns that of the code that asks for a network.
    """

    def names_in(module: Any) -> Mapping[str, str]:
        asking = era()
        names = {} if asking is Era.TODAY or module is not densenet else dict(_STEM_OF_DENSENETS)
        if asking.has_graphs:
            names["predictions"] = _CLASSIFIERS[module]
        return names

    def is_old() -> bool:
        return era() is not Era.TODAY

    def on_two_sides(_: Any) -> Any:
        return ((0, 1), (0, 1))

    def as_needed(inputs: Any) -> Any:
        return imagenet_utils.correct_pad(inputs, 3)

    def of(module: Any) -> Callable[[Any], Any]:
        return lambda layers: _Layers(layers, functools.partial(names_in, module))

    def of_mobilenet(module: Any, first: str, padding: Callable[[Any], Any]) -> Callable[[Any], Any]:
        names = functools.partial(names_in, module)
        return lambda layers: _LayersOfMobileNets(layers, names, first, padding, is_old)

    yield densenet, "layers", of(densenet)
    yield resnet, "layers", of(resnet)
    yield mobilenet, "layers", of_mobilenet(mobilenet, "conv1", on_two_sides)
    yield mobilenet_v2, "layers", of_mobilenet(mobilenet_v2, "Conv1", as_needed)
    yield nasnet, "NASNet", lambda make: _nasnet(make, is_old)
    yield inception_resnet_v2, "inception_resnet_block", lambda make: _naming_its_sum(make, is_old)


class _Layers:
    """Keras's layers, some with the names of then.

    Args:
        layers: the module.
        names: returns today's name -> the name of then.
    """

    def __init__(self, layers: Any, names: Callable[[], Mapping[str, str]]) -> None:
        self._layers, self._names = layers, names

    def __getattr__(self, kind: str) -> Any:
        make = getattr(self._layers, kind)

        def named(*given: Any, **keywords: Any) -> Any:
            if "name" in keywords:
                keywords["name"] = self._names().get(keywords["name"], keywords["name"])
            return make(*given, **keywords)

        return named


class _LayersOfMobileNets(_Layers):
    """Those of MobileNets, with zeros before the first convolution, and a shape after the mean for the classifier.

    They began with a layer of zeros around the picture, which Keras 3 leaves to the convolution: all layers after it
    have other numbers there (`base.layers[:100]`), and the first MobileNet pads other pictures of odd sizes.

    Args:
        layers: the module.
        names: as above.
        first: the name of the first convolution.
        padding: returns the zeros around its input.
        is_old: says whether a network is made for code of Keras 2.
    """

    def __init__(
        self,
        layers: Any,
        names: Callable[[], Mapping[str, str]],
        first: str,
        padding: Callable[[Any], Any],
        is_old: Callable[[], bool],
    ) -> None:
        super().__init__(layers, names)
        self._first, self._padding, self._is_old = first, padding, is_old

    def Conv2D(self, *given: Any, **keywords: Any) -> Any:
        if keywords.get("name") != self._first or not self._is_old():
            return self._layers.Conv2D(*given, **keywords)

        def padded(inputs: Any) -> Any:
            zeros = self._layers.ZeroPadding2D(self._padding(inputs), name=f"{self._first}_pad")
            return self._layers.Conv2D(*given, **{**keywords, "padding": "valid"})(zeros(inputs))

        return padded

    def GlobalAveragePooling2D(self, *given: Any, **keywords: Any) -> Any:
        if not keywords.get("keepdims") or not self._is_old():
            return self._layers.GlobalAveragePooling2D(*given, **keywords)

        def shaped(inputs: Any) -> Any:
            mean = self._layers.GlobalAveragePooling2D()
            size = inputs.shape[-1 if mean.data_format == "channels_last" else 1]
            shape = (1, 1, size) if mean.data_format == "channels_last" else (size, 1, 1)
            return self._layers.Reshape(shape, name="reshape_1")(mean(inputs))

        return shaped


def _nasnet(make: Callable[..., Any], is_old: Callable[[], bool]) -> Callable[..., Any]:
    """NASNets had one name, and that without a classifier the size of its pictures, also the large one."""

    def NASNet(input_shape: Any = None, *given: Any, **keywords: Any) -> Any:
        if is_old():
            if keywords.get("name") in ("nasnet_mobile", "nasnet_large"):
                keywords["name"] = "NASNet"
            if input_shape is None and not keywords.get("include_top", True):
                input_shape = (keywords["default_size"], keywords["default_size"], 3)
        return make(input_shape, *given, **keywords)

    return NASNet


def _naming_its_sum(make: Callable[..., Any], is_old: Callable[[], bool]) -> Callable[..., Any]:
    """What a block adds to its input was a Lambda with the name of the block."""

    def inception_resnet_block(x: Any, scale: Any, block_type: str, block_idx: int, **keywords: Any) -> Any:
        outputs = make(x, scale, block_type, block_idx, **keywords)
        if is_old():
            operation = operation_of(outputs)
            if not isinstance(operation, inception_resnet_v2.CustomScaleLayer):  # the activation after it
                operation = operation_of(operation.input)
            operation.name = f"{block_type}_{block_idx}"
        return outputs

    return inception_resnet_block
