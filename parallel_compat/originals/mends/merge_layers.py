"""`Merge` and `merge`, which Keras had until 2.1: the layer that each mode became.

A Sequential model could begin with a Merge of models. Its configuration is that of a `Model`, as a list of layers does
not say what is merged. Compared with Keras 2.0.8 and 2.1.6.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from parallel_compat.names.eras import Era
from parallel_compat.originals.mends.register import Register

_MODULE = "keras.layers.merge"
_MODULES = ("keras.engine", "keras.engine.topology", "keras.layers", "keras.layers.core", "keras.legacy.layers")
_OF_MODE = {"sum": "Add", "mul": "Multiply", "ave": "Average", "max": "Maximum"}


def apply(mends: Register) -> None:
    """Let modules have both; `keras.layers.merge` is a module today, and can be called as well."""
    if mends.era is not Era.KERAS_2_2_4:
        return
    for module in _MODULES:
        mends.after(module, lambda module: mends.add(module, Merge=Merge, merge=merge))
    mends.after(_MODULE, lambda module: setattr(module, "__class__", _Callable))
    # The stars of `keras.layers` put the function above, which has no `merge.concatenate`, over its module.
    mends.after("keras.layers", lambda module: mends.replace(module, "merge", lambda _: sys.modules[_MODULE]))
    first = "isinstance(layer, InputLayer)"
    mends.edit("keras.engine.sequential", first, f'{first} or hasattr(layer, "_parallel_compat_merges_models")')
    mends.after("keras.engine.sequential", lambda module: _configure(module.Sequential, mends))


def Merge(
    layers: Sequence[Any] | None = None,
    mode: Any = "sum",
    concat_axis: int = -1,
    dot_axes: Any = -1,
    output_shape: Any = None,
    output_mask: Any = None,
    arguments: Any = None,
    node_indices: Sequence[int] | None = None,
    tensor_indices: Sequence[int] | None = None,
    name: str | None = None,
) -> Any:
    """Return the layer of a mode, called on the outputs of layers if they are given."""
    from keras import backend
    from keras import layers as kinds

    options = {"name": name or f"merge_{backend.get_uid('merge')}"}
    if callable(mode):
        layer = kinds.Lambda(mode, output_shape=output_shape, mask=output_mask, arguments=arguments, **options)
    elif mode in _OF_MODE:
        layer = getattr(kinds, _OF_MODE[mode])(**options)
    elif mode == "concat":
        layer = kinds.Concatenate(axis=concat_axis, **options)
    elif mode == "dot":
        layer = kinds.Dot(axes=single_axes(dot_axes), **options)
    elif mode == "cos":
        layer = kinds.Lambda(_cosine, arguments={"axes": dot_axes}, **options)
    else:
        raise ValueError(
            f"Expected a `mode` of Merge: sum, mul, concat, ave, cos, dot, max or a function. Received: {mode}"
        )
    if layers:
        tensors = []
        for index, each in enumerate(layers):
            if hasattr(each, "get_output_at"):
                each = each.get_output_at(node_indices[index] if node_indices else 0)
                if isinstance(each, list):
                    each = each[tensor_indices[index] if tensor_indices else 0]
            tensors.append(each)
        layer(tensors)
        layer._parallel_compat_merges_models = True
    return layer


def single_axes(axes: Any) -> Any:
    """Return `[1, 1]` of `[[1], [1]]`, which Keras 1 took, too."""
    if not isinstance(axes, list | tuple):
        return axes
    return [each[0] if isinstance(each, list | tuple) and len(each) == 1 else each for each in axes]


def merge(
    inputs: Sequence[Any],
    mode: Any = "sum",
    concat_axis: int = -1,
    dot_axes: Any = -1,
    output_shape: Any = None,
    output_mask: Any = None,
    arguments: Any = None,
    name: str | None = None,
) -> Any:
    """Return the merged tensor."""
    return Merge(None, mode, concat_axis, dot_axes, output_shape, output_mask, arguments, name=name)(inputs)


def _cosine(tensors: Any, axes: Any) -> Any:
    from keras import backend

    a, b = tensors
    norms = backend.batch_dot(a, a, axes) * backend.batch_dot(b, b, axes)
    return backend.expand_dims(
        backend.batch_dot(a, b, axes) / backend.maximum(backend.sqrt(norms), backend.epsilon()), 1
    )


def _configure(sequential: Any, mends: Register) -> None:
    """Let the configuration of a Sequential model that begins with a Merge be that of a `Model`."""

    def get_config(of_sequential: Any, self: Any) -> Any:
        from keras import Model

        if not any(hasattr(layer, "_parallel_compat_merges_models") for layer in self.layers):
            return of_sequential(self)
        return Model(self.inputs, self.outputs, name=self.name).get_config()

    def from_config(of_sequential: Any) -> Any:
        def from_config(cls: Any, config: Any, custom_objects: Any = None) -> Any:
            from keras import Model

            if "input_layers" in config:
                return Model.from_config(config, custom_objects)
            return of_sequential.__func__(cls, config, custom_objects)

        return classmethod(from_config)

    mends.around(sequential, "get_config", get_config)
    mends.replace(sequential, "from_config", from_config)


class _Callable(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        return merge(*args, **options)
