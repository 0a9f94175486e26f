"""Old arguments of the constructors of layers, callbacks, regularizers, losses and metrics."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.legacy.call_arguments import translate
from parallel_compat.names import positions
from parallel_compat.names.arguments import arguments
from parallel_compat.names.defaults import defaults
from parallel_compat.run import (
    callers,
    object_eras,
)
from parallel_compat.run.patches.optimizers import apply_gradients, optimizer_copy, optimizer_deepcopy, optimizer_init
from parallel_compat.run.patches.wrapping import ARGUMENTS, like, noting

if TYPE_CHECKING:
    from types import FrameType

    from parallel_compat.backend.patches import Patches


_OWNERS = ("keras.layers", "keras.callbacks", "keras.regularizers", "keras.losses", "keras.metrics")


def put_on(patches: Patches, keras: Any) -> None:
    with_activation = {
        f"keras.layers.{kind.__name__}"
        for kind in vars(keras.layers).values()
        if isinstance(kind, type)
        and (takes_argument(kind, "activation") or takes_argument(kind, "activity_regularizer"))
    }
    others = {"keras.layers.ActivityRegularization", "keras.layers.RepeatVector"}
    for kind in vars(keras.layers).values():  # within what translates arguments, which looks who calls
        if isinstance(kind, type) and issubclass(kind, keras.layers.Layer) and _takes_no_others(kind):
            patches.wrap(kind, "__init__", _init_without_keywords, why="the arguments that every layer had")
    for of in sorted({*arguments(), *defaults(), *positions.callables(), *with_activation, *others}):
        owner, _, name = of.rpartition(".")
        if (owner not in _OWNERS or name in ("Layer", "Input")) and of != "keras.Sequential":
            continue
        kind = getattr(keras if owner == "keras" else getattr(keras, owner.partition(".")[2]), name, None)
        if isinstance(kind, type) and "__init__" in vars(kind):
            patches.wrap(kind, "__init__", functools.partial(_init, kind=kind, of=of), why=ARGUMENTS)
    for kind in (keras.losses.Loss, keras.metrics.Metric):
        patches.wrap(kind, "__init__", _remembering, why="objects remember the era of who made them")
    why = "arguments that named an operation, and that spoke to other devices"
    patches.wrap(keras.optimizers.Optimizer, "apply_gradients", apply_gradients, why=why)
    for name, method in (("__copy__", optimizer_copy), ("__deepcopy__", optimizer_deepcopy)):
        patches.set(keras.optimizers.Optimizer, name, method, why="a copy of an optimizer has its variables")
    for name in dir(keras.optimizers):
        kind = getattr(keras.optimizers, name)
        if isinstance(kind, type) and issubclass(kind, keras.optimizers.Optimizer) and "__init__" in vars(kind):
            make = functools.partial(optimizer_init, kind=kind, of=f"keras.optimizers.{name}")
            patches.wrap(kind, "__init__", make, why=ARGUMENTS)


def _remembering(original: Any) -> Any:
    @like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        object_eras.remember(self, callers.era_of_caller())
        original(self, *given, **keywords)

    return __init__


def takes_argument(kind: Any, argument: str) -> bool:
    """Say whether a class's own `__init__` has the argument."""
    code = getattr(vars(kind).get("__init__"), "__code__", None)
    return code is not None and argument in code.co_varnames


def _init(original: Any, kind: Any, of: str) -> Any:
    @like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        frame = callers.user_frame(sys._getframe(1))
        if frame is None:
            original(self, *given, **keywords)
            _keep_regularizer(self, keywords)
            return
        era = callers.era_of(frame)
        length = keywords.get("input_length")
        given, keywords = translate(of, given, keywords, noting(of, frame), era=era, in_run=True)
        given, keywords = _old_hard_sigmoid(of, given, keywords, frame)
        original(self, *given, **keywords)
        _keep_regularizer(self, keywords)
        if length is not None and of == "keras.layers.Embedding":
            self.input_length = length
        if era.is_standalone and getattr(self, "activity_regularizer", None) is not None:
            noting(of, frame)("activity_regularizer=", "the sum over the batch, which Keras 3 divides by its samples")

    return __init__


def _old_hard_sigmoid(
    of: str, given: tuple[Any, ...], keywords: dict[str, Any], frame: FrameType
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Let the name mean Keras 2's function."""

    def old(value: Any) -> Any:
        if not isinstance(value, str) or value != "hard_sigmoid":
            return value
        from parallel_compat.legacy.activations import hard_sigmoid

        noting(of, frame)('"hard_sigmoid"', "parallel_compat.legacy.activations.hard_sigmoid")
        return hard_sigmoid

    return tuple(old(value) for value in given), {key: old(value) for key, value in keywords.items()}


def _keep_regularizer(layer: Any, keywords: dict[str, Any]) -> None:
    """Keras 3.15's `SimpleRNN` takes an `activity_regularizer` and forgets it."""
    regularizer = keywords.get("activity_regularizer")
    if regularizer is not None and getattr(layer, "activity_regularizer", None) is None:
        layer.activity_regularizer = sys.modules["keras"].regularizers.get(regularizer)


OF_EVERY_LAYER = {
    "weights",
    "batch_input_shape",
    "batch_size",
    "input_shape",
    "input_dim",
    "input_length",
    "input_dtype",
}


def _takes_no_others(kind: type) -> bool:
    """Say whether a class has an `__init__` of its own without `**keywords`, as `SpatialDropout1D` has."""
    of_kind = vars(kind).get("__init__")
    return of_kind is not None and all(
        each.kind is not each.VAR_KEYWORD for each in inspect.signature(of_kind).parameters.values()
    )


def _init_without_keywords(original: Any) -> Any:
    own = inspect.signature(original).parameters

    @like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        common = {name: keywords.pop(name) for name in (OF_EVERY_LAYER & keywords.keys()) - own.keys()}
        trainable = True if "trainable" in own else keywords.pop("trainable", True)
        if "input_dtype" in common:
            keywords["dtype"] = common.pop("input_dtype")
        original(self, *given, **keywords)
        if not trainable:
            self.trainable = False
        if common:
            from parallel_compat.legacy.layers import take_common

            take_common(common)(self)

    return __init__


def reads_its_regularizer(cls: Any, /, **keywords: Any) -> None:
    """Let Keras 3's constructor pass by an `activity_regularizer` that a class computes: it assigns None."""
    super(sys.modules["keras"].layers.Layer, cls).__init_subclass__(**keywords)
    found = vars(cls).get("activity_regularizer")
    if not isinstance(found, property) or found.fset is not None or not callers.is_class_of_user(cls):
        return

    def assign(self: Any, value: Any) -> None:
        if value is not None:
            raise AttributeError(f"property 'activity_regularizer' of {type(self).__name__!r} object has no setter")

    cls.activity_regularizer = found.setter(assign)
