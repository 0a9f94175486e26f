"""Private places of Keras where names and arguments of layers are refused that Keras 2 took. Read in Keras 3.15.1.

Each is (owner, attribute, a function from what stands there to what shall stand there); the caller sets and undoes.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import numbers
import re
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf
from keras.src.layers.layer import might_have_unbuilt_state
from keras.src.utils.python_utils import is_default

from parallel_compat.backend.keras3 import call_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# What the names of TensorFlow's outermost scopes are made of.
_SCOPE = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")
_NOT_IN_SCOPES = re.compile(r"[^A-Za-z0-9_.\\/>-]")
# Where a layer has those that its last call made.
_MADE = "_parallel_compat_made"


def of_refused_names() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a name is refused: one with a `/` (`Operation`, `Variable` and the scope that a name opens), and one
    with another character that no scope of TensorFlow's may have.

    In Keras 2 names of layers were parts of the names of a graph's operations: `block1/conv` was as good as any. The
    name of a model became one only where the model was called, so that `U-Net (small)` was as good as any; today each
    pass of a model opens a scope of its name.
    """
    from keras.src.backend.common.name_scope import name_scope
    from keras.src.backend.tensorflow.core import name_scope as scope_of_tensorflow
    from keras.src.ops.operation import Operation

    def wrap(original: Any) -> Any:
        def __init__(self: Any, *args: Any, name: Any = None, **kwargs: Any) -> None:
            if not isinstance(name, str) or "/" not in name:
                original(self, *args, name=name, **kwargs)
                return
            original(self, *args, name=name.replace("/", "_"), **kwargs)
            if isinstance(self, Operation):
                self.name = name

        return __init__

    def wrap_scope(original: Any) -> Any:
        def __init__(self: Any, name: Any, *args: Any, **kwargs: Any) -> None:
            original(self, name.replace("/", "_") if isinstance(name, str) else name, *args, **kwargs)

        return __init__

    yield Operation, "__init__", wrap
    yield keras.Variable, "__init__", wrap  # not its base, whose constructor others on this class have wrapped already
    yield name_scope, "__init__", wrap_scope

    def wrap_scope_of_tensorflow(original: Any) -> Any:
        def __init__(self: Any, name: Any, *args: Any, **kwargs: Any) -> None:
            original(self, name, *args, **kwargs)
            if isinstance(name, str) and not _SCOPE.fullmatch(name):
                self._tf_name_scope = tf.name_scope("x" + _NOT_IN_SCOPES.sub("_", name))

        return __init__

    yield scope_of_tensorflow, "__init__", wrap_scope_of_tensorflow


def of_shapes_of_arguments() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer's `build` and `compute_output_shape` get the shapes of what its `call` is given.

    Keras 3.15 takes an argument that is called `args` or `kwargs` for `*args` or `**kwargs`, and passes on None.
    """
    from keras.src import backend
    from keras.src.layers import layer

    kept = "_parallel_compat_signature"

    def keep_signature(original: Any) -> Any:
        def __init__(self: Any, signature: inspect.Signature, *rest: Any) -> None:
            original(self, signature, *rest)
            setattr(self, kept, signature)

        return __init__

    def wrap(original: Any) -> Any:
        def get_shapes_dict(call_spec: Any) -> dict[str, Any]:
            shapes: dict[str, Any] = original(call_spec)
            for name in {"args", "kwargs"} & call_spec.tensor_arguments_dict.keys():
                kind = getattr(call_spec, kept).parameters[name].kind
                if kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
                    given = call_spec.tensor_arguments_dict[name]
                    shapes[f"{name}_shape"] = keras.tree.map_structure(
                        lambda x: None if x is None else backend.standardize_shape(x.shape), given
                    )
            return shapes

        return get_shapes_dict

    yield layer.CallSpec, "__init__", keep_signature
    yield layer, "get_shapes_dict", wrap


def of_numbers_among_tensors() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer is called with numbers (`Layer.__call__`): `model([x, 3])`, `layer(8)`, `layer([-1., 1.])`.

    Keras 3 refuses it; tf.keras made a tensor of each number. It also took the further arguments of `call` by position,
    whatever they are: `layer(x, True)`, where Keras 3 wants names for all that is no tensor.
    """

    def wrap(original: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            if args and isinstance(args[0], (list, tuple, numbers.Number)):
                args = (keras.tree.map_structure(_tensor, args[0]), *args[1:])
            if len(args) > 1 and not all(map(_may_be_input, args[1:])):
                args, kwargs = _by_name(self, args, kwargs)
            return original(self, *args, **kwargs)

        return __call__

    yield keras.layers.Layer, "__call__", wrap


def of_copied_collections() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where lists, dicts and sets of a layer are copied: `TrackedList` and its relatives of Keras 3.

    A `get_config` that returns `self.cutoffs` hands out such a list, and a model copies its configuration. With the
    list Keras would copy what tracks it: the layer, and the model with it.
    """
    from keras.src.utils import tracking

    def plain(kind: Any) -> Callable[[Any], Any]:
        def wrap(original: Any) -> Any:
            def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
                return copy.deepcopy(kind(self), memo)

            return __deepcopy__

        return wrap

    yield tracking.TrackedList, "__deepcopy__", plain(list)
    yield tracking.TrackedDict, "__deepcopy__", plain(dict)
    yield tracking.TrackedSet, "__deepcopy__", plain(set)


def of_shapes_for_users(
    wants: Callable[[Any, str], bool], make: Callable[[Any], Any]
) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where the shapes for a layer's `build` and `compute_output_shape` are chosen.

    Args:
        wants: whether a layer's method of a name is one that gets them otherwise.
        make: makes them of Keras 3's tuples.
    """
    from keras.src.layers import layer as module

    def wrap(original: Any) -> Any:
        def update_shapes_dict_for_target_fn(target_fn: Any, shapes_dict: Any, call_spec: Any, **keywords: Any) -> Any:
            method = inspect.unwrap(target_fn)  # Keras puts a function around `build`
            owner = getattr(method, "__self__", None)
            shapes = _by_place(target_fn, shapes_dict, call_spec)
            if shapes is None:
                shapes = original(target_fn, shapes_dict, call_spec, **keywords)
            if shapes and owner is not None and wants(owner, method.__name__):
                shapes = {name: make(shape) for name, shape in shapes.items()}
            return shapes

        return update_shapes_dict_for_target_fn

    yield module, "update_shapes_dict_for_target_fn", wrap


def _by_place(method: Any, shapes: dict[str, Any], call_spec: Any) -> dict[str, Any] | None:
    """Return the shapes for a method of Keras's own, beside a `call` that has other arguments.

    `RNN.compute_output_shape(sequences_shape, initial_state_shape)` is for `call(sequences, initial_state)`; a class of
    the user's has `call(inputs, initial_state)`, or `call(inputs)`. None where the names agree, or the method takes one
    argument.
    """
    first, *others = inspect.signature(method).parameters or [""]
    module = getattr(inspect.unwrap(method), "__module__", "")
    is_own = module.startswith(("keras.", "parallel_compat."))  # or what is put on it
    agree = all(name.removesuffix("_shape") in call_spec.arguments_dict for name in (first, *others))
    if not is_own or not first.endswith("_shape") or not others or not shapes or agree:
        return None
    return {
        first: shapes.get(first, next(iter(shapes.values()))),
        **{name: shapes[name] for name in others if name in shapes},
    }


def _may_be_input(value: Any) -> bool:
    return all(each is None or hasattr(each, "dtype") for each in keras.tree.flatten(value))


def _by_name(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Give the arguments of a call that are no tensors their names."""
    names = [
        name
        for name, parameter in inspect.signature(layer.call).parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    if len(names) < len(args):
        return args, kwargs  # which Keras refuses
    first = next(i for i, each in enumerate(args) if i and not _may_be_input(each))
    return args[:first], {**dict(zip(names[first:], args[first:], strict=False)), **kwargs}


def with_mask_and_training_by_name(
    layer: Any, given: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a layer's call with its mask and `training` by name, where they stood by place.

    Keras 3 hands `compute_mask`, and the layers that follow, the mask that has the name alone, and adds `training` by
    name to a call in which it stands by place, so that it is given twice (`Layer.__call__`).

    Args:
        layer: the layer.
        given: what stands by place.
        keywords: what stands by name.
    """
    names = list(layer._call_signature.parameters)
    place = min((names.index(name) for name in ("mask", "training") if name in names), default=len(given))
    if not 0 < place < len(given) <= len(names):
        return given, keywords
    return given[:place], {**dict(zip(names[place:], given[place:], strict=False)), **keywords}


def arrays_among_tensors(inputs: Any) -> Any:
    """Return a layer's inputs, of which arrays beside tensors are tensors: Keras 3 does not take the two together."""
    leaves = keras.tree.flatten(inputs)
    if not any(isinstance(leaf, np.ndarray) for leaf in leaves) or not any(map(tf.is_tensor, leaves)):
        return inputs
    return keras.tree.map_structure(
        lambda leaf: tf.convert_to_tensor(leaf) if isinstance(leaf, np.ndarray) else leaf, inputs
    )


def of_absent_masks(is_old: Callable[[Any], bool]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer is handed the masks of a list of inputs (`Operation.__call__`): a list of None is None.

    Args:
        is_old: says whether a layer's `call` expects that.
    """

    def wrap(original: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
            masks = kwargs.get("mask")
            if isinstance(masks, (list, tuple)) and all(each is None for each in masks) and is_old(self):
                kwargs["mask"] = None
            return original(self, *args, **kwargs)

        return __call__

    yield keras.Operation, "__call__", wrap


def of_layers_made_by_calls() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a `Sequential` model is put together (`Sequential.build`).

    A user's layer may be written as `__call__` alone, which applies layers that it makes there. Keras 2 took the layers
    of the graph for those of the model; Keras 3 those that were added, so what such a `__call__` made was not trained,
    saved or listed. Here they are the layers of the one that made them.
    """

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def build(self: Any, input_shape: Any = None) -> None:
            original(self, input_shape)
            if self._functional is not None:
                _keep_what_calls_made(self._layers, self._functional.layers)

        return build

    yield keras.Sequential, "build", wrap


def _keep_what_calls_made(added: list[Any], in_graph: list[Any]) -> None:
    own, applied = {id(layer) for layer in added}, {id(layer) for layer in in_graph}
    makers = [layer for layer in added if id(layer) not in applied]
    if not makers:
        return
    made: dict[int, list[Any]] = {id(maker): [] for maker in makers}
    maker = makers[0]
    for layer in in_graph:
        if id(layer) in own:
            following = added[added.index(layer) + 1 :]
            maker = next((each for each in following if id(each) not in applied), maker)
        else:
            made[id(maker)].append(layer)
    for each in makers:
        before = vars(each).get(_MADE, [])
        each._layers = [layer for layer in each._layers if all(layer is not old for old in before)] + made[id(each)]
        vars(each)[_MADE] = made[id(each)]
        each.built = True


def of_output_shapes(
    by_calling: Callable[[Any], bool], called_too: Callable[[Any], bool]
) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where the output of a layer on symbolic tensors is found (`Layer.symbolic_call`).

    Keras 3 asks a `compute_output_shape` that the layer has, and takes the dtype to be the layer's; tf.keras always
    called the layer. Keras 2.2.4 did both: the dtype is that of what `call` returns (`K.cast(x, "int32")`), and the
    layers that a layer holds may be built by its `call`.

    Args:
        by_calling: says whether a layer was called.
        called_too: says whether it was, and its `compute_output_shape` asked.
    """

    def wrap(original: Any) -> Any:
        def symbolic_call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(self, keras.layers.Lambda):
                shape = self._output_shape
                if isinstance(shape, list) and all(n is None or isinstance(n, int) for n in shape):
                    vars(self)["_output_shape"] = tuple(shape)  # Keras 3 takes a list for one of shapes
            elif is_default(self.compute_output_shape) or (
                _is_of_keras(self, "compute_output_shape") and not _calls_code_of_user(self)
            ):
                return original(self, *args, **kwargs)
            called = called_too(self) and (_calls_code_of_user(self) or might_have_unbuilt_state(self))
            if by_calling(self) or (called and isinstance(self, keras.layers.Lambda) and self._output_shape is None):
                return keras.Operation.compute_output_spec(self, *args, **kwargs)
            with _answers(self) as answers:
                try:
                    outputs = original(self, *args, **kwargs)
                except (TypeError, ValueError):
                    if all(map(_are_shapes, answers)):
                        raise
                    return keras.Operation.compute_output_spec(self, *args, **kwargs)
            if not called:
                return outputs
            try:
                return _with_dtypes(outputs, keras.Operation.compute_output_spec(self, *args, **kwargs))
            except Exception:
                if might_have_unbuilt_state(self):
                    raise
                return outputs  # it makes variables of values, which a step allows; the dtype is the layer's

        return symbolic_call

    yield keras.layers.Layer, "symbolic_call", wrap


def _is_of_keras(layer: Any, method: str, *packages: str) -> bool:
    return str(getattr(type(layer), method).__module__).startswith(("keras.", *packages))


def _calls_code_of_user(layer: Any) -> bool:
    return isinstance(layer, keras.layers.Lambda) or not _is_of_keras(layer, "call", "parallel_compat.")


def _with_dtypes(outputs: Any, called: Any) -> Any:
    """Return the symbolic tensors that a `call` returned, with the shapes that were announced for them.

    More may be announced than are returned, as by a layer that says its inputs' shapes; as many as were returned count.
    """
    returned, leaves = keras.tree.flatten(called), keras.tree.flatten(outputs)
    if len(returned) > len(leaves) or not all(isinstance(each, keras.KerasTensor) for each in returned):
        return outputs
    made = [keras.KerasTensor(leaf.shape, dtype=each.dtype) for leaf, each in zip(leaves, returned, strict=False)]
    return keras.tree.pack_sequence_as(outputs if len(returned) == len(leaves) else called, made)


@contextlib.contextmanager
def _answers(layer: Any) -> Iterator[list[Any]]:
    """Give a list of what a layer's `compute_output_shape` returns meanwhile.

    Keras 2.2.4 noted it beside the tensors of `call`, and nothing looked at it until a layer was built on it:
    `(input_shape[0], 3)` of a list of shapes, or a size of 16.0, did no harm.
    """
    answers: list[Any] = []
    method, before = layer.compute_output_shape, vars(layer).get("compute_output_shape")

    @functools.wraps(method)
    def compute_output_shape(*given: Any, **named: Any) -> Any:
        answers.append(method(*given, **named))
        return answers[-1]

    compute_output_shape.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]  # without `self`
    vars(layer)["compute_output_shape"] = compute_output_shape  # past `__setattr__`, which tracks what it is given
    try:
        yield answers
    finally:
        vars(layer).pop("compute_output_shape", None)
        if before is not None:  # a method that was put on this layer alone
            vars(layer)["compute_output_shape"] = before


def _are_shapes(answer: Any) -> bool:
    if isinstance(answer, dict):
        return all(map(_are_shapes, answer.values()))
    if not isinstance(answer, (list, tuple)):
        return isinstance(answer, tf.TensorShape)
    return all(size is None or isinstance(size, numbers.Integral) for size in answer) or all(map(_are_shapes, answer))


def of_compiled_calls() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer's `call` is run to see what it makes (`compute_output_spec` of the backend).

    It is run where variables are not changed. A `call` that is a `tf.function` keeps what it was traced to there and
    would change none from then on: moving statistics would stay what they are.
    """
    from keras.src import backend

    def wrap(original: Any) -> Any:
        def compute_output_spec(fn: Any, *args: Any, **kwargs: Any) -> Any:
            written = getattr(fn, "python_function", None)
            if written is not None and hasattr(fn, "get_concrete_function"):
                fn = tf.function(written)  # traced anew, for this alone
            return original(fn, *args, **kwargs)

        return compute_output_spec

    yield backend, "compute_output_spec", wrap


def of_dropout_masks() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a recurrent layer prepares its cells' dropout (`RNN._maybe_config_dropout_masks`).

    Of stacked cells it calls each one, without constants, which is of use only where a cell drops something.
    """

    def wrap(original: Any) -> Any:
        def _maybe_config_dropout_masks(self: Any, cell: Any, *args: Any, **kwargs: Any) -> None:
            if any(_drops(each) for each in getattr(cell, "cells", [cell])):
                original(self, cell, *args, **kwargs)

        return _maybe_config_dropout_masks

    yield keras.layers.RNN, "_maybe_config_dropout_masks", wrap


def of_builds_before_calls(
    builds_on_the_way: Callable[[Any, bool], bool],
) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer without a `build` runs its `call` to build the layers it holds (`Layer._maybe_build`).

    The call that follows builds them as well.

    Args:
        builds_on_the_way: says whether a layer leaves it to that call, which is on values or not.
    """

    def wrap(original: Any) -> Any:
        def _maybe_build(self: Any, call_spec: Any) -> None:
            by_calling = not self.built and is_default(self.build) and might_have_unbuilt_state(self)
            if not (by_calling and builds_on_the_way(self, call_spec.eager)):
                original(self, call_spec)

        return _maybe_build

    yield keras.layers.Layer, "_maybe_build", wrap


def _drops(cell: Any) -> bool:
    return hasattr(cell, "cells") or any(getattr(cell, name, None) for name in ("dropout", "recurrent_dropout"))


def _tensor(value: Any) -> Any:
    return tf.convert_to_tensor(value) if isinstance(value, numbers.Number) else value


def say_uses_phase(tensors: Any, uses: bool) -> None:
    """Let tensors say whether they depend on the learning phase, as every tensor of Keras 2 did."""
    for each in keras.tree.flatten(tensors):
        if isinstance(each, tf.Tensor):
            each._uses_learning_phase = uses


def says_uses_phase(tensors: Any) -> bool:
    """Say whether one of several tensors was said to depend on the learning phase."""
    kinds = (tf.Tensor, keras.KerasTensor)
    return any(
        vars(each).get("_uses_learning_phase") for each in keras.tree.flatten(tensors) if isinstance(each, kinds)
    )


def noting_phase(value: Any) -> Any:
    """Return a tensor of a graph that says that it depends on the learning phase; anything else as it is."""
    if not is_traced(value):
        return value
    value = tf.identity(value)  # what it was made of does not
    say_uses_phase(value, True)
    return value


_NOTES = "_parallel_compat_notes_phase"


def of_notes_of_the_phase() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer's `call` is run to see what it makes: whether it notes that it uses the phase is kept."""
    from keras.src import backend

    def wrap(original: Any) -> Any:
        def compute_output_spec(fn: Any, *args: Any, **kwargs: Any) -> Any:
            layer = getattr(fn, "__self__", None)
            if not isinstance(layer, keras.layers.Layer):
                return original(fn, *args, **kwargs)
            return original(_noting(layer, fn), *args, **kwargs)

        return compute_output_spec

    yield backend, "compute_output_spec", wrap


def _noting(layer: Any, call: Any) -> Any:
    @functools.wraps(call)
    def call_and_note(*args: Any, **kwargs: Any) -> Any:
        outputs = call(*args, **kwargs)
        if call_context.is_undecided():
            keep_notes_of_phase(layer, outputs)
        return outputs

    return call_and_note


def keep_notes_of_phase(layer: keras.Layer, outputs: Any) -> None:
    """Keep whether `call` of a layer noted on what it gave that it depends on the learning phase.

    Keras 2.2.4 refused a model whose `call` ends with no layer, as its output says nothing; Keras 2.3 trains it.
    """
    if isinstance(layer, keras.Model) and not any(map(_says_of_phase, keras.tree.flatten(outputs))):
        return
    vars(layer)[_NOTES] = says_uses_phase(outputs)


def _says_of_phase(tensor: Any) -> bool:
    return hasattr(tensor, "_uses_learning_phase")


def is_traced(outputs: Any) -> bool:
    """Say whether these are tensors of a graph, and not values."""
    return not tf.executing_eagerly() and any(isinstance(each, tf.Tensor) for each in keras.tree.flatten(outputs))


def notes_phase(layer: keras.Layer) -> bool | None:
    """Return what `keep_notes_of_phase` kept, or None."""
    kept: bool | None = vars(layer).get(_NOTES)
    return kept


def call_abstractly(layer: keras.Layer, *args: Any, **keywords: Any) -> None:
    """Run `call` of a layer on the shapes of symbolic tensors."""
    from keras.src import backend

    with call_context.undecided(layer):
        backend.compute_output_spec(layer.call, *args, **keywords)


def of_other_sizes(takes: Callable[[Any, Any, bool], bool]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a functional model compares what it is called on with its inputs (`_assert_input_compatibility`).

    Args:
        takes: called with a model, its inputs, and whether another layer or model calls it; says whether it takes
            inputs of another size, which its layers look at themselves.
    """
    from keras.src import backend
    from keras.src.backend.common import global_state
    from keras.src.models.functional import Functional

    def wrap(original: Any) -> Any:
        def _assert_input_compatibility(self: Any, *args: Any) -> Any:
            context = global_state.get_global_attribute("current_call_ctx")
            inside = context is not None and context.entry_layer is not self
            if takes(self, args[0], inside):
                given, own = keras.tree.flatten(args[0]), self._inputs
                if len(given) == len(own) and all(
                    x is not None and len(x.shape) == len(y.shape) for x, y in zip(given, own, strict=True)
                ):
                    if not inside and any(map(_is_other_size, given, own)):
                        backend.compute_output_spec(self.call, args[0])  # the layers are called, and look at theirs
                    return None
            return original(self, *args)

        return _assert_input_compatibility

    yield Functional, "_assert_input_compatibility", wrap


def _is_other_size(x: Any, y: Any) -> bool:
    if not isinstance(x, keras.KerasTensor):
        return False
    return any(one != other and None not in (one, other) for one, other in zip(x.shape, y.shape, strict=True))
