"""What `keras.applications` keeps to itself. Read in Keras 3.15.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keras.src.applications import imagenet_utils, mobilenet, mobilenet_v2
from keras.src.applications.imagenet_utils import obtain_input_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["obtain_input_shape", "of_mobilenets"]


def of_mobilenets(is_old: Callable[[], bool]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where MobileNets find the layers that they are made of (`layers` of their modules).

    They began with a layer of zeros around the picture, which Keras 3 leaves to the convolution: all layers after it
    have other numbers there (`base.layers[:100]`), and the first MobileNet pads other pictures of odd sizes.

    Args:
        is_old: says whether a network is made for code of Keras 2.
    """

    def on_two_sides(_: Any) -> Any:
        return ((0, 1), (0, 1))

    def as_needed(inputs: Any) -> Any:
        return imagenet_utils.correct_pad(inputs, 3)

    yield mobilenet, "layers", lambda layers: _Layers(layers, "conv1", on_two_sides, is_old)
    yield mobilenet_v2, "layers", lambda layers: _Layers(layers, "Conv1", as_needed, is_old)


class _Layers:
    """Keras's layers, with zeros before the first convolution, and a shape after the mean that the classifier takes.

    Args:
        layers: the module.
        first: the name of the first convolution.
        padding: returns the zeros around its input.
        is_old: as above.
    """

    def __init__(self, layers: Any, first: str, padding: Callable[[Any], Any], is_old: Callable[[], bool]) -> None:
        self._layers, self._first, self._padding, self._is_old = layers, first, padding, is_old

    def __getattr__(self, name: str) -> Any:
        return getattr(self._layers, name)

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
