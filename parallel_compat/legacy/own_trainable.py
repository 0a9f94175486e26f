"""`trainable` as Keras 2.2.4 had it: each layer's own flag, which a model's does not change.

Keras 3 (and `tf.keras`) set the flags of all layers in a model with its own: freezing a discriminator and thawing it
again makes layers trainable that the user had frozen one by one. In Keras 2.2.4 a layer trained where its own flag and
those of the models around it said so.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend import keras3
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Callable

    Setter = Callable[[keras.Layer, bool], None]

_OWN = "_parallel_compat_trainable"


def own(layer: keras.Layer, getter: Callable[[keras.Layer], bool]) -> bool:
    """Return a layer's own flag, as it was set last.

    Args:
        layer: the layer.
        getter: Keras 3's getter of `trainable`. Asked by name, a wrapper class whose own code answers each attribute
            would lead back here.
    """
    flags = vars(layer)
    if isinstance(layer, keras.layers.Wrapper) and isinstance(flags.get("layer"), keras.Layer):
        return own(flags["layer"], operator.attrgetter("trainable"))  # but of `Bidirectional`, which has two
    if _OWN not in flags:  # Keras 2.2.4's inputs were never trainable, before somebody said so
        return not isinstance(layer, keras.layers.InputLayer) and getter(layer)
    return bool(flags[_OWN])


def in_config(layer: keras.Layer, config: dict[str, Any]) -> dict[str, Any]:
    """Return a layer's config with its own flag; that of a model had none.

    A model that was frozen, such as the discriminator of a GAN, came out of its file, or a copy, as trainable as its
    layers were one by one.

    Args:
        layer: the layer.
        config: what `get_config` returned.
    """
    if isinstance(layer, keras.Model):
        return {name: value for name, value in config.items() if name != "trainable"}
    return {**config, "trainable": own(layer, operator.attrgetter("trainable"))}


def set_own(setter: Setter, layer: keras.Layer, value: bool) -> None:
    """Set a layer's own flag.

    Args:
        setter: Keras 3's setter of `trainable`, which sets the flags of all layers inside.
        layer: the layer.
        value: the flag.
    """
    for each in keras3.all_layers(layer):
        vars(each).setdefault(_OWN, own(each, operator.attrgetter("trainable")))
    vars(layer)[_OWN] = bool(value)
    if isinstance(layer, keras.layers.Wrapper) or is_of_directions(layer):  # which told what they wrap
        for inner in keras3.layers_of(layer):
            set_own(setter, inner, value)
    settle(setter, layer)


def tell(wrapper: keras.Layer, value: bool) -> None:
    """Let what a wrapper wraps be trainable where the wrapper is made so: it was told, also where it had been frozen.

    Args:
        wrapper: a `Wrapper` or `Bidirectional`.
        value: the flag that it is made with.
    """
    for inner in keras3.layers_of(wrapper):
        if own(inner, operator.attrgetter("trainable")) is not bool(value):
            inner.trainable = bool(value)


def init_of_wrapper(original: Callable[..., None]) -> Callable[..., None]:
    """`Wrapper(layer)`, such as `TimeDistributed`."""

    def __init__(self: Any, layer: Any, *given: Any, **keywords: Any) -> None:
        original(self, layer, *given, **keywords)
        if object_eras.era_of_object(self).is_standalone:
            tell(self, keywords.get("trainable", True))

    return __init__


def is_of_directions(layer: keras.Layer) -> bool:
    """Say whether a layer is a `Bidirectional`: it sets the flags of both directions, and these decide what trains."""
    return isinstance(layer, keras.layers.Bidirectional)


def settle(setter: Setter, layer: keras.Layer) -> None:
    """Set Keras 3's flags of a layer and of all layers inside, by what they and the models around them say.

    Args:
        setter: Keras 3's setter of `trainable`.
        layer: the layer, or a model that is about to be compiled.
    """
    if not any(_OWN in vars(each) for each in keras3.all_layers(layer)):
        return
    _settle(setter, layer)


def _settle(setter: Setter, layer: keras.Layer) -> None:
    getter = operator.attrgetter("trainable")
    flag = own(layer, getter)
    inner = [(each, own(each, getter)) for each in keras3.layers_of(layer)]
    setter(layer, flag)
    if flag or is_of_directions(layer):
        for each, before in inner:
            vars(each).setdefault(_OWN, before)
            _settle(setter, each)
