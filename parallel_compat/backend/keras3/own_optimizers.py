"""Optimizers of users that are written for Keras 2, in today's training step. Read in Keras 3.15.1, TensorFlow 2.21.

Keras 2 asked an optimizer for the updates of a step (`get_updates`), tf.keras for those of each variable
(`_resource_apply_dense`). TensorFlow still has both kinds of classes below `tensorflow.python.keras`: a user's class is
put on them, and what it makes is wrapped in one of Keras 3's optimizers.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import learning_rate, optimizer_steps, own_schedules
from parallel_compat.backend.keras3.assigned import variable_around
from parallel_compat.context_variables import set_within

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Iterator, Mapping, Sequence

_V1, _V2 = "tensorflow.python.keras.optimizer_v1", "tensorflow.python.keras.optimizer_v2"
_BASES = ((_V1, "Optimizer"), (f"{_V2}.optimizer_v2", "OptimizerV2"))
_MODULES_OF_V2 = {"Optimizer": ("optimizer_v2", "OptimizerV2"), "SGD": ("gradient_descent", "SGD")}
_IN_BOTH = {"Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD"}
_OF_V2 = {
    "_create_slots", "_decayed_lr", "_get_hyper", "_prepare_local", "_resource_apply_dense", "_resource_apply_sparse",
    "_set_hyper",
}  # fmt: skip


# --- classes ------------------------------------------------------------------------------------------------------


def rebase(kind: Any, formulas: Mapping[str, Callable[[Any, Any, Any], Any]], *, of_tf_keras: bool) -> bool:
    """Put a new class of optimizers on those that it is written for, if that is not Keras 3.

    Args:
        kind: a class of the user's that derives from one of Keras 3's optimizers.
        formulas: the `get_updates` of Keras 2's classes, by their names.
        of_tf_keras: whether it is written for tf.keras, where one that only passes on to others (`apply_gradients`) is
            put on its base class, too: that of Keras 3 wants a learning rate.

    Returns:
        Whether it was.
    """
    methods = {name: value for each in _of_user(kind) for name, value in vars(each).items()}
    old: Callable[[str], Any]
    used = {*methods, *(name for each in methods.values() for name in getattr(_code(each), "co_names", ()))}
    passes_on = of_tf_keras and "update_step" not in methods and _name(kind) in ("Optimizer", "BaseOptimizer")
    is_of_v2 = bool(used & _OF_V2) or passes_on
    if is_of_v2:
        old = _v2
    elif methods.keys() & {"get_updates", "get_gradients"}:
        old = lambda name: _v1(name, formulas.get(name))  # noqa: E731
    else:
        return False
    kind.__bases__ = tuple(old(_name(base)) if issubclass(base, keras.Optimizer) else base for base in kind.__bases__)
    if is_of_v2:
        _let_steps_return_operations(kind)
    return True


def _of_user(kind: Any) -> list[Any]:
    return [each for each in reversed(kind.__mro__) if not each.__module__.startswith(("keras.", "tensorflow."))]


def _code(value: Any) -> Any:
    return getattr(value, "__code__", None)


def _name(base: Any) -> str:
    return str(next(each.__name__ for each in base.__mro__ if each.__module__.startswith("keras.")))


@functools.cache
def _v1(name: str, formula: Callable[[Any, Any, Any], Any] | None) -> Any:
    old = getattr(importlib.import_module(_V1), name)

    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        if "learning_rate" in keywords:  # Keras 2.3's name
            keywords["lr"] = keywords.pop("learning_rate")
        old.__init__(self, *given, **keywords)

    # Where only one of them is there: a class of the user's may keep either, and make a property of the other.
    def __getattr__(self: Any, name: str) -> Any:
        if name == "learning_rate" and "lr" in vars(self):
            return self.lr
        if name == "lr" and ("learning_rate" in vars(self) or hasattr(type(self), "learning_rate")):
            return self.learning_rate
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self: Any, name: str, value: Any) -> None:
        own = name == "learning_rate" and "lr" in vars(self) and not hasattr(type(self), name)
        object.__setattr__(self, "lr" if own else name, value)

    def get_gradients(self: Any, loss: Any, params: Any) -> list[Any]:
        asked = _gradients.get()
        assert asked is not None
        of, clip, _ = asked
        whole = clip([of[id(each)] for each in params], *(vars(self).get(name) for name in ("clipnorm", "clipvalue")))
        return [_dense(each) for each in whole]

    members: dict[str, Any] = {
        "__init__": __init__, "__getattr__": __getattr__, "__setattr__": __setattr__, "get_gradients": get_gradients,
    }  # fmt: skip
    if formula is not None:
        members["get_updates"] = formula
    return type(name, (old,), members)


@functools.cache
def _v2(name: str) -> Any:
    module, name = _MODULES_OF_V2.get(name, (name.lower(), name))
    old = getattr(importlib.import_module(f"{_V2}.{module}"), name)

    def apply_gradients(self: Any, grads_and_vars: Any, *given: Any, **keywords: Any) -> Any:
        pairs = [(gradient, getattr(variable, "_value", variable)) for gradient, variable in grads_and_vars]
        return old.apply_gradients(self, pairs, *given, **keywords)

    def get_slot(self: Any, var: Any, slot_name: str) -> Any:
        return old.get_slot(self, getattr(var, "_value", var), slot_name)

    def __setattr__(self: Any, name: str, value: Any) -> None:
        old.__setattr__(self, name, _of_v2(value))

    own = {"apply_gradients": apply_gradients, "get_slot": get_slot, "__setattr__": __setattr__}
    made: Any = type(name, (old,), {**own, **own_schedules.members(old)})

    def __init_subclass__(cls: Any, /, **keywords: Any) -> None:
        super(made, cls).__init_subclass__(**keywords)
        _let_steps_return_operations(cls)

    made.__init_subclass__ = classmethod(cast("Any", __init_subclass__))
    return made


def _of_v2(value: Any) -> Any:
    """Return an optimizer that another one is made around, which calls its methods, as one of these classes."""
    if isinstance(value, OwnOptimizer):
        return value.inner
    if not isinstance(value, keras.optimizers.Optimizer) or _name(type(value)) not in _IN_BOTH:
        return value
    kind = _v2(_name(type(value)))
    settings = {**vars(value), **(optimizer_steps.step_settings(value) or {})}
    given = {name: settings[name] for name in inspect.signature(kind.__init__).parameters if name in settings}
    rate = value._learning_rate
    if not isinstance(rate, keras.optimizers.schedules.LearningRateSchedule):
        rate = float(str(keras.ops.convert_to_numpy(rate)))  # the number that was given, not that of float32
    name = optimizer_steps.name_as_then(value.name, kind.__name__)
    return kind(**{**given, "learning_rate": rate, "name": name, "decay": settings.get("decay") or 0.0})


_STEPS_OF_V2 = {"_resource_apply_dense", "_resource_apply_sparse", "_resource_apply_sparse_duplicate_indices"}


def _let_steps_return_operations(kind: Any) -> None:
    """Let steps of the user's that return nothing return an operation: since TensorFlow 2.4 these are grouped."""
    for method in _STEPS_OF_V2 & vars(kind).keys():
        setattr(kind, method, _returning_an_operation(vars(kind)[method]))


def _returning_an_operation(step: Any) -> Any:
    def returning_an_operation(self: Any, *given: Any, **keywords: Any) -> Any:
        done = step.__get__(self, type(self))(*given, **keywords)
        return tf.no_op() if done is None and not tf.executing_eagerly() else done

    return functools.update_wrapper(returning_an_operation, step)


def _is_of(module: str, name: str, optimizer: Any) -> bool:
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(optimizer, getattr(loaded, name))


def is_old(optimizer: Any) -> bool:
    """Say whether an optimizer is of one of the kinds that Keras 3 does not take."""
    return any(_is_of(module, name, optimizer) for module, name in _BASES)


def is_old_kind(kind: type) -> bool:
    """Say whether the objects of a class are of one of these kinds."""
    loaded = (getattr(sys.modules.get(module), name, None) for module, name in _BASES)
    return any(base is not None and issubclass(kind, base) for base in loaded)


# --- an optimizer around another -----------------------------------------------------------------------------------


def _take_apart(
    optimizer: Any, formulas: Mapping[str, Callable[[Any, Any, Any], Any]], around: Sequence[Any] = ()
) -> list[Any]:
    """Let an optimizer ask those that it is made around for their updates; return all, itself first.

    What it has of Keras 3's classes becomes one of Keras 2's with the same learning rate and count of steps.
    """
    found = [optimizer]
    around = [*around, optimizer]  # `self.__dict__.update(locals())` puts an optimizer into itself
    for name, value in list(vars(optimizer).items()):
        if isinstance(value, OwnOptimizer):
            value = value.inner
        elif isinstance(value, keras.optimizers.Optimizer) and optimizer_steps.kind_of(value) in formulas:
            value = _of_keras_2(value, formulas[optimizer_steps.kind_of(value)])
        if _is_of(_V1, "Optimizer", value) and all(value is not each for each in around):
            vars(optimizer)[name] = value
            found += _take_apart(value, formulas, around)
    return found


def _of_keras_2(optimizer: Any, formula: Callable[[Any, Any, Any], Any]) -> Any:
    base = _v1(optimizer_steps.kind_of(optimizer), formula)
    # A configuration names the class of Keras.
    kind: Any = type(
        base.__name__, (base,), {"__module__": "keras.optimizers", "get_config": lambda _: optimizer.get_config()}
    )
    made: Any = object.__new__(kind)
    decay = vars(optimizer).get("decay") or 0.0
    settings = optimizer_steps.step_settings(optimizer) or {}
    vars(made).update(
        {name: value for name, value in vars(optimizer).items() if not name.startswith("_") and name != "name"},
        lr=optimizer._learning_rate if (computed := learning_rate.number_of(optimizer)) is None else computed,
        iterations=optimizer._iterations,
        decay=decay,
        initial_decay=float(decay),
        epsilon=settings.get("epsilon", getattr(optimizer, "epsilon", None)),
        updates=[],
        weights=[],
    )
    return made


_gradients: ContextVar[tuple[dict[int, Any], Callable[..., list[Any]], Any] | None] = ContextVar(
    "gradients", default=None
)


def gradients_of_step(loss: Any, params: Sequence[Any]) -> list[Any] | None:
    """Return the gradients of a step whose updates an optimizer is asked for, as they were computed; else None.

    Args:
        loss: what they are asked of: other losses than that of the step have other gradients.
        params: the variables.
    """
    asked = _gradients.get()
    return None if asked is None or loss is not asked[2] else [_dense(asked[0][id(each)]) for each in params]


def _in_step(
    gradients: Sequence[Any], variables: Sequence[Any], clip: Callable[..., list[Any]], loss: Any = None
) -> contextlib.AbstractContextManager[None]:
    of = {id(variable): gradient for variable, gradient in zip(variables, gradients, strict=True)}
    return set_within(_gradients, (of, clip, loss))


def through_functions_of_users(
    gradients_of: Callable[[Any], Callable[[Any, Any], list[Any]] | None],
    clip_of: Callable[[Any], Callable[..., list[Any]]],
) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where an optimizer of Keras makes a step (`Optimizer.apply`): with the gradients of a user's function.

    Args:
        gradients_of: returns what a program put in the place of an optimizer's `get_gradients`, or None.
        clip_of: returns what clips the gradients of an optimizer.
    """

    def wrap(original: Any) -> Any:
        def apply(self: Any, grads: Any, trainable_variables: Any = None) -> None:
            function = gradients_of(self)
            if function is None:
                original(self, grads, trainable_variables)
                return
            variables = self._trainable_variables if trainable_variables is None else list(trainable_variables)
            with _in_step(list(grads), variables, clip_of(self)):
                found = list(function(None, variables))
            with optimizer_steps.unclipped(self):  # the function did, or not
                original(self, found, trainable_variables)

        return apply

    yield keras.optimizers.Optimizer, "apply", wrap


# --- variables that a step makes ----------------------------------------------------------------------------------


class _Made:
    """The variables that a step of an optimizer makes: the first time they are made, later they are those."""

    def __init__(self) -> None:
        self.variables: list[Any] = []
        self.position = 0


_made: ContextVar[_Made | None] = ContextVar("made", default=None)


def in_updates() -> bool:
    """Say whether an optimizer is being asked for its updates: they are collected, and run when all are known."""
    return _made.get() is not None


def made_once(make: Callable[[], Any]) -> Any:
    """Return the variable that was made at this place of an optimizer's updates, or make it.

    Args:
        make: makes it.
    """
    made = _made.get()
    assert made is not None
    if made.position == len(made.variables):
        with tf.init_scope():
            made.variables.append(make())
    made.position += 1
    return made.variables[made.position - 1]


def _making(made: _Made) -> contextlib.AbstractContextManager[None]:
    made.position = 0
    return set_within(_made, made)


# --- in today's training step -------------------------------------------------------------------------------------


class OwnOptimizer(keras.optimizers.Optimizer):  # type: ignore[misc]  # Keras carries no types
    """One of Keras 3's optimizers that steps as a user's.

    Args:
        inner: the user's.
        clip: called with all gradients, `clipnorm` and `clipvalue`.
        run: called with the list of updates of a step.
        formulas: the `get_updates` of Keras 2's classes, by their names.
    """

    def __init__(
        self,
        inner: Any,
        clip: Callable[..., list[Any]],
        run: Callable[[Any], None],
        formulas: Mapping[str, Callable[[Any, Any, Any], Any]],
    ) -> None:
        own: dict[str, Any] = self.__dict__
        own["inner"] = inner  # past `__setattr__`, which tracks what it is given
        super().__init__(learning_rate=0.0, name=type(inner).__name__)
        own.update(_clip=clip, _run=run, _made=_Made(), _is_v1=_is_of(_V1, "Optimizer", inner))
        own["_asked"] = _take_apart(inner, formulas) if self._is_v1 else []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "inner" not in vars(self):
            raise AttributeError(name)
        return getattr(vars(self)["inner"], name)

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the user's optimizer."""
        names = ("lr", "learning_rate") if self._is_v1 else ("learning_rate",)
        return next((getattr(self.inner, name) for name in names if hasattr(self.inner, name)), None)

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        now = self.learning_rate
        if hasattr(now, "assign"):
            now.assign(value)
        elif self._is_v1 and ("lr" in vars(self.inner) or hasattr(type(self.inner), "lr")):
            self.inner.lr = value
        else:
            self.inner.learning_rate = value

    lr = learning_rate

    @property
    def variables(self) -> list[Any]:
        """The count of steps, and what the user's optimizer keeps."""
        weights = self.inner.weights if self.built else []
        return [self.iterations, *(_as_keras_variable(each, i) for i, each in enumerate(weights))]

    def build(self, variables: Any) -> None:
        """Make what the user's optimizer keeps of variables."""
        if self.built:
            return
        super().build(list(variables))
        if not self._is_v1:
            with tf.init_scope():
                self.inner._create_all_weights([each._value for each in variables])
            return
        with tf.__internal__.FuncGraph("updates").as_default():  # asked for, and not run
            zeros = [tf.zeros(each.shape, each.dtype) for each in variables]
            self._updates(zeros, variables, tf.zeros((), keras.backend.floatx()))

    def scale_loss(self, loss: Any) -> Any:
        """Keep the loss of a step for `get_updates`, which got it; a training step hands it here, to be scaled."""
        self.__dict__["_loss"] = loss
        return super().scale_loss(loss)

    def apply(self, grads: Any, trainable_variables: Any = None) -> None:
        """Make a step."""
        gradients = list(grads)
        variables = self._trainable_variables if trainable_variables is None else list(trainable_variables)
        if not self.built:
            with tf.init_scope():
                self.build(variables)
        loss = self.__dict__.pop("_loss", None)
        if self._is_v1:
            self._run(self._updates(gradients, variables, loss))
        else:
            self.inner.apply_gradients(zip(gradients, [each._value for each in variables], strict=True))
        for variable in variables:
            if variable.constraint is not None:
                variable.assign(variable.constraint(variable))
        self._iterations.assign_add(1)

    def get_config(self) -> dict[str, Any]:
        """Return the configuration of the user's optimizer."""
        config: dict[str, Any] = self.inner.get_config()
        return config

    def _updates(self, gradients: list[Any], variables: list[Any], loss: Any) -> Any:
        inner = self.inner
        given: dict[str, Any] = {"loss": loss, "params": variables}
        if "constraints" in inspect.signature(inner.get_updates).parameters:  # Keras 1
            given["constraints"] = {}
        for each in self._asked:  # of another graph
            if "updates" in vars(each):
                each.updates = []
        inner.get_weights = self._first_weights
        try:
            with _in_step(gradients, variables, self._clip, loss), _making(self._made):
                return inner.get_updates(**given)
        finally:
            del inner.get_weights

    def _first_weights(self) -> list[Any]:
        """Return the numbers that the optimizer kept when its updates were first asked for: a graph's constants."""
        own: dict[str, Any] = self.__dict__
        if "_began_with" not in own:
            with tf.init_scope():
                own["_began_with"] = [keras.ops.convert_to_numpy(each) for each in self.inner.weights]
        return list(own["_began_with"])


def adapted(
    optimizer: Any,
    clip: Callable[..., list[Any]],
    run: Callable[[Any], None],
    formulas: Mapping[str, Callable[[Any, Any, Any], Any]],
) -> OwnOptimizer:
    """Return an optimizer of Keras 3 that steps as one that Keras 3 does not take.

    Args:
        optimizer: one that `is_old` says yes to.
        clip: called with all gradients, `clipnorm` and `clipvalue` where the user's optimizer leaves that to its base.
        run: called with the list of updates of a step.
        formulas: the `get_updates` of Keras 2's classes, by their names.
    """
    kind = type(optimizer)
    # Files name the class: it is the user's.
    named = type(kind.__name__, (OwnOptimizer,), {"__module__": kind.__module__, "__doc__": kind.__doc__})
    made: OwnOptimizer = named(optimizer, clip, run, formulas)
    return made


def patch_points(adapt: Callable[[Any], Any]) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where Keras takes an optimizer (`optimizers.get`), and makes one of a configuration.

    Args:
        adapt: returns what Keras takes for anything that it is given.
    """
    from keras.src import optimizers

    def wrap_get(original: Any) -> Any:
        return functools.wraps(original)(lambda identifier: original(adapt(identifier)))

    def wrap_deserialize(original: Any) -> Any:
        return functools.wraps(original)(lambda *given, **keywords: adapt(original(*given, **keywords)))

    def wrap_public_get(original: Any) -> Any:
        # An optimizer around another asks it for its updates.
        return functools.wraps(original)(lambda identifier: identifier if is_old(identifier) else original(identifier))

    yield optimizers, "get", wrap_get
    yield keras.optimizers, "get", wrap_public_get
    yield optimizers, "deserialize", wrap_deserialize


def _dense(gradient: Any) -> Any:
    return tf.convert_to_tensor(gradient) if isinstance(gradient, tf.IndexedSlices) else gradient


def _as_keras_variable(variable: Any, index: int) -> Any:
    if isinstance(variable, keras.Variable):
        return variable
    return variable_around(variable, False, f"variable_{index}")  # one name for each: files have them side by side


# The arguments of each optimizer of `tf.compat.v1.train`, and the fields that keep them. Read in TensorFlow 2.21.
_OF_TENSORFLOW_1 = {
    "GradientDescentOptimizer": {"learning_rate": "_learning_rate"},
    "MomentumOptimizer": {"learning_rate": "_learning_rate", "momentum": "_momentum", "use_nesterov": "_use_nesterov"},
    "AdamOptimizer": {"learning_rate": "_lr", "beta1": "_beta1", "beta2": "_beta2", "epsilon": "_epsilon"},
    "AdagradOptimizer": {
        "learning_rate": "_learning_rate",
        "initial_accumulator_value": "_initial_accumulator_value",
    },
    "AdadeltaOptimizer": {"learning_rate": "_lr", "rho": "_rho", "epsilon": "_epsilon"},
    "RMSPropOptimizer": {
        "learning_rate": "_learning_rate",
        "decay": "_decay",
        "momentum": "_momentum",
        "epsilon": "_epsilon",
        "centered": "_centered",
    },
    "FtrlOptimizer": {
        "learning_rate": "_learning_rate",
        "learning_rate_power": "_learning_rate_power",
        "initial_accumulator_value": "_initial_accumulator_value",
        "l1_regularization_strength": "_l1_regularization_strength",
        "l2_regularization_strength": "_l2_regularization_strength",
        "l2_shrinkage_regularization_strength": "_l2_shrinkage_regularization_strength",
    },
}


def arguments_of_tensorflow_1(optimizer: Any) -> dict[str, Any] | None:
    """Return what an optimizer of `tf.compat.v1.train` was made with, or None for anything else.

    Args:
        optimizer: any object.
    """
    kind = type(optimizer)
    fields = _OF_TENSORFLOW_1.get(kind.__name__)
    if fields is None or not kind.__module__.startswith("tensorflow.python.training."):
        return None
    values = {name: getattr(optimizer, field) for name, field in fields.items()}
    return {name: value() if callable(value) else value for name, value in values.items()}
