"""Optimizers of a user's own that say in `get_updates` what a step is, and Keras 2.2.4's own for those made of them.

A step reads all variables before it writes one. Updates of one variable are made in the order of the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend.keras3 import learning_rate, optimizer_slots
from parallel_compat.legacy import backend, step_graph
from parallel_compat.legacy.functions import Update

K: Any = backend  # asked for each name: the wrappers of optimizers set `K.update` for a while

# Of a parameter's path, what Keras 2 did not have in its names.
_SCOPES = ("sequential", "functional", "model", "parallel_model")


class _Made(type(keras.optimizers.Optimizer)):  # type: ignore[misc]
    """Makes optimizers in their graph, from others that are made likewise."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = tuple(map(as_old, args)), {name: as_old(value) for name, value in kwargs.items()}
        optimizer: Any = cls.__new__(cls)
        with tf.init_scope():  # also where it is made by another one's `__init__`
            keras.optimizers.Optimizer.__init__(optimizer, 0.0, name=kwargs.pop("name", None))
        for name in ("clipnorm", "clipvalue", "global_clipnorm", "weight_decay"):
            delattr(optimizer, name)  # `hasattr(self, "clipnorm")` said whether it was given
        optimizer.__dict__.update(_parallel_compat_made=[], updates=[], weights=[], _parallel_compat_steps={})
        with step_graph.of(optimizer):
            optimizer.__init__(*args, **kwargs)
        return optimizer


class Optimizer(keras.optimizers.Optimizer, metaclass=_Made):  # type: ignore[misc]
    """The base of an optimizer whose steps its `get_updates(loss, params)` says, for Keras 3.

    >>> class Plain(Optimizer):
    ...     def get_updates(self, loss, params):
    ...         return [K.update_sub(p, 0.5 * g) for p, g in zip(params, self.get_gradients(loss, params))]
    >>> x = keras.Variable(2.0)
    >>> Plain().apply([tf.constant(1.0)], [x])
    >>> float(x)
    1.5

    Args:
        **kwargs: `clipnorm`, the largest norm of all gradients together, and `clipvalue`, the largest of one number.

    Raises:
        TypeError: for other arguments.
    """

    takes_any_variables = True  # what `get_updates` makes for some of them is theirs

    def __init__(self, **kwargs: Any) -> None:
        for name in kwargs:
            if name not in ("clipnorm", "clipvalue"):
                raise TypeError(f"Expected `clipnorm` and `clipvalue`. Received: {name}={kwargs[name]!r}")
        self.__dict__.update(kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, as_old(value))

    @property
    def lr(self) -> Any:
        """The learning rate that `__init__` set, as `lr` or `learning_rate`: a variable that takes numbers."""
        if "lr" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no learning rate: its `__init__` sets none.")
        return vars(self)["lr"]

    @lr.setter
    def lr(self, value: Any) -> None:
        now = vars(self).get("lr")
        if isinstance(now, (keras.Variable, tf.Variable)) and isinstance(value, (int, float, np.number, np.ndarray)):
            now.assign(value)
        else:
            self.__dict__["lr"] = value

    @property
    def learning_rate(self) -> Any:
        """The learning rate, by the name that Keras 3 asks for."""
        return self.lr

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self.lr = value

    @property
    def iterations(self) -> Any:
        """The number of steps: the variable that `__init__` set, or Keras's."""
        return vars(self).get("iterations", super().iterations)

    @iterations.setter
    def iterations(self, value: Any) -> None:
        self.__dict__["iterations"] = value

    @property
    def variables(self) -> list[Any]:
        """`weights`, then what else the optimizer and those that it is made of keep."""
        others = [each for value in vars(self).values() if isinstance(value, Optimizer) for each in value.variables]
        kept = [each for each in self.weights if isinstance(each, keras.Variable)]
        return list({id(each): each for each in (*kept, *self._parallel_compat_made, *others)}.values())

    def get_updates(self, loss: Any, params: Any) -> Any:
        """Return the updates of one step: what `K.update` returned, and pairs (variable, new value)."""
        raise NotImplementedError

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """Return the gradients, clipped."""
        gradients: list[Any] = K.gradients(loss, params)
        largest = getattr(self, "clipnorm", 0)
        if largest > 0:
            norm = tf.sqrt(tf.add_n([tf.reduce_sum(tf.square(each)) for each in gradients]))
            gradients = [tf.where(norm >= largest, each * (largest / norm), each) for each in gradients]
        if getattr(self, "clipvalue", 0) > 0:
            gradients = [tf.clip_by_value(each, -self.clipvalue, self.clipvalue) for each in gradients]
        return gradients

    def get_weights(self) -> list[Any]:
        """Return the values of `weights`."""
        return list(K.batch_get_value(self.weights))

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Assign to `weights`, or to all `variables`, which begin with them."""
        for variable, value in zip(self.variables, weights, strict=False):
            variable.assign(value)

    def get_config(self) -> dict[str, Any]:
        """Return `clipnorm` and `clipvalue`, as far as they were given."""
        return {name: vars(self)[name] for name in ("clipnorm", "clipvalue") if name in vars(self)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        return cls(**config)

    def build(self, variables: Sequence[Any]) -> None:
        """Ask `get_updates` what a step of these variables is."""
        self._step_of(variables)

    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None) -> None:
        """Make a step.

        Args:
            grads: the gradients.
            trainable_variables: their variables; those of the last step if None.

        Raises:
            ValueError: a gradient is None, or the step is one of several replicas of `tf.distribute`.
        """
        context = tf.distribute.get_replica_context()
        if context is None or context.num_replicas_in_sync > 1:
            raise ValueError(
                f"Expected one replica, for `get_updates` of {type(self).__name__} knows no others. Received: a step "
                "under a strategy of `tf.distribute`. Make the model parallel by `parallel_compat.parallelize`."
            )
        variables = list(
            next(reversed(self._parallel_compat_steps.values())).variables
            if trainable_variables is None
            else trainable_variables
        )
        without = [variable.path for variable, each in zip(variables, grads, strict=True) if each is None]
        if without:
            raise ValueError(
                f"Expected a gradient for each weight, as Keras 2 did. Received: None for {', '.join(without)}. Are "
                "they a part of what the loss is computed from?"
            )
        self._step_of(variables)(grads)

    def twin(self) -> Any:
        """Return an optimizer for another model, that has all but what `get_updates` makes in common with this one."""
        other = type(self).__new__(type(self))
        other.__dict__.update(
            {name: list(value) if type(value) is list else value for name, value in vars(self).items()}
        )
        other.__dict__["_parallel_compat_steps"] = {}
        return other

    def _step_of(self, variables: Sequence[Any]) -> _Step:
        steps: dict[Any, _Step] = self._parallel_compat_steps
        key = tuple(map(id, variables))
        if key not in steps:
            steps[key] = _Step(self, variables)
            self.built = True
        return steps[key]


class _Step:
    """A step of some variables.

    The loss that `get_updates` is given is one whose gradients are those that will be handed over. It is no value.
    """

    def __init__(self, optimizer: Optimizer, variables: Sequence[Any]) -> None:
        self.variables = list(variables)
        with step_graph.of(optimizer):
            given = [tf.compat.v1.placeholder(each.dtype, each.shape) for each in self.variables]
            products = [tf.reduce_sum(each.value * g) for each, g in zip(self.variables, given, strict=True)]
            loss = tf.add_n([tf.cast(each, products[0].dtype) for each in products])
            updates = optimizer.get_updates(loss=loss, params=[_named(each) for each in self.variables])
        self._updates = [_as_update(each, type(optimizer).__name__) for each in updates]
        values = [step_graph.as_tensor(each.value, each.variable) for each in self._updates]
        if step_graph.depends_on(values, loss):
            raise ValueError(
                f"Expected `get_updates` of {type(optimizer).__name__} to use the gradients of its `loss` alone. "
                "Received: updates that depend on its value, which Keras 3 does not give to an optimizer."
            )
        self._compute = step_graph.function(given, values)

    def __call__(self, gradients: Sequence[Any]) -> None:
        values = self._compute(*(tf.convert_to_tensor(each) for each in gradients))
        for update, value in zip(self._updates, values, strict=True):
            update.assign(value)


def _as_update(update: Any, name: str) -> Update:
    if isinstance(update, tuple) and len(update) == 2:
        update = Update(*update)
    if not isinstance(update, Update):
        raise TypeError(
            f"Expected `get_updates` of {name} to return what `K.update`, `K.update_add` and `K.update_sub` return, "
            f"and pairs (variable, new value). Received: {type(update).__name__}. Write an assignment of TensorFlow so."
        )
    return update


class _Parameter(keras.Variable):  # type: ignore[misc]
    """A variable of Keras 3 itself, under the name that it had."""

    name = property(lambda self: vars(self)["_parallel_compat_old_name"])
    __hash__ = object.__hash__


def _named(variable: Any) -> Any:
    """Return a variable of Keras 3 with the name that it had: "conv/kernel:0" for "sequential/conv/kernel"."""
    if not isinstance(variable, keras.Variable):
        return variable
    scope, _, rest = variable.path.partition("/")
    path = rest if "/" in rest and scope.rstrip("_0123456789") in _SCOPES else variable.path
    parts = [each for each in path.split("/") if not each.rstrip("_0123456789").endswith("_cell")]
    parameter = object.__new__(_Parameter)
    parameter.__dict__ = vars(variable)
    vars(variable)["_parallel_compat_old_name"] = "/".join(parts) + ":0"
    return parameter


# --- Keras 2.2.4's own ----------------------------------------------------------------------------------------------


def as_old(value: Any) -> Any:
    """Return an optimizer of Keras 3 as one that `get_updates` can be asked of; anything else as it is.

    Raises:
        ValueError: it has a setting that Keras 2.2.4 had not.
    """
    if not isinstance(value, keras.optimizers.Optimizer) or isinstance(value, Optimizer):
        return value
    kind = _OF_KERAS.get(optimizer_slots.kind_of(value))
    plain = getattr(keras.optimizers, kind.__name__)() if kind else None
    config = value.get_config()
    settings = {name: config[name] for name in (*kind.settings, "clipvalue") if name in config} if kind else {}
    settings["lr"], settings["clipnorm"] = config["learning_rate"], config["global_clipnorm"]
    others = config.keys() - settings.keys() - {"name", "learning_rate", "global_clipnorm", "loss_scale_factor"}
    foreign = {name for name in others if plain is None or config[name] != plain.get_config().get(name)}
    if learning_rate.variable_of(value) is None or kind is None or foreign - _STARTS:
        raise ValueError(
            "Expected an optimizer of Keras 2.2.4 with a number as its learning rate, of which another one is made. "
            f"Received: {type(value).__name__} with {sorted(foreign) or 'a schedule'}."
        )
    return kind(**{name: each for name, each in settings.items() if each is not None})


_STARTS = {"initial_accumulator_value"}  # with what sums begin: 0 in Keras 2.2.4


class _OfKeras(Optimizer):
    """An optimizer of Keras 2.2.4, whose numbers are variables."""

    settings: tuple[str, ...] = ("lr", "decay")

    def _set(self, kwargs: dict[str, Any], epsilon: float | None = None, **numbers: Any) -> None:
        numbers["lr"] = kwargs.pop("learning_rate", numbers["lr"])
        Optimizer.__init__(self, **kwargs)
        self.iterations = K.variable(0, dtype="int64", name="iterations")
        for name, value in numbers.items():
            setattr(self, name, K.variable(value, name=name))
        self.initial_decay = numbers.get("decay", 0)
        self.epsilon = K.epsilon() if epsilon is None else epsilon

    def _begin(self, loss: Any, params: Any) -> tuple[list[Any], Any, Any]:
        """Return the gradients, the rate of this step and its number, from 1."""
        gradients = self.get_gradients(loss, params)
        self.updates = [K.update_add(self.iterations, 1)]
        rate = self.lr
        if self.initial_decay > 0:
            rate = rate * (1.0 / (1.0 + self.decay * K.cast(self.iterations, K.dtype(self.decay))))
        return gradients, rate, K.cast(self.iterations, K.floatx()) + 1

    def _slots(self, params: Any, count: int, *more: Any) -> list[list[Any]]:
        slots = [[K.zeros(K.int_shape(each), dtype=K.dtype(each)) for each in params] for _ in range(count)]
        self.weights = [*more, *(each for slot in slots for each in slot)]
        return slots

    def _move(self, parameter: Any, to: Any) -> None:
        constraint = getattr(parameter, "constraint", None)
        self.updates.append(K.update(parameter, to if constraint is None else constraint(to)))

    def get_config(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in self.settings}
        numbers = {
            name: value if isinstance(value, (bool, float, int)) else float(K.get_value(value))
            for name, value in values.items()
        }
        return {**super().get_config(), **numbers}


@keras.saving.register_keras_serializable(package="parallel_compat")
class SGD(_OfKeras):
    """Gradient descent, with momentum."""

    settings: tuple[str, ...] = ("lr", "momentum", "decay", "nesterov")

    def __init__(self, lr: Any = 0.01, momentum: Any = 0.0, decay: Any = 0.0, nesterov: bool = False, **kwargs: Any):
        self._set(kwargs, lr=lr, momentum=momentum, decay=decay)
        self.nesterov = nesterov

    def get_updates(self, loss: Any, params: Any) -> Any:
        gradients, rate, _ = self._begin(loss, params)
        (moments,) = self._slots(params, 1, self.iterations)
        for p, g, m in zip(params, gradients, moments, strict=True):
            velocity = self.momentum * m - rate * g
            self.updates.append(K.update(m, velocity))
            self._move(p, p + (self.momentum * velocity - rate * g if self.nesterov else velocity))
        return self.updates


@keras.saving.register_keras_serializable(package="parallel_compat")
class RMSprop(_OfKeras):
    """Steps divided by the root of the mean square of gradients."""

    settings: tuple[str, ...] = ("lr", "rho", "decay", "epsilon")

    def __init__(self, lr: Any = 0.001, rho: Any = 0.9, epsilon: Any = None, decay: Any = 0.0, **kwargs: Any):
        self._set(kwargs, epsilon, lr=lr, rho=rho, decay=decay)

    def _mean(self, square: Any, mean: Any) -> Any:
        return self.rho * mean + (1.0 - self.rho) * square

    def get_updates(self, loss: Any, params: Any) -> Any:
        gradients, rate, _ = self._begin(loss, params)
        (means,) = self._slots(params, 1)
        for p, g, mean in zip(params, gradients, means, strict=True):
            new = self._mean(K.square(g), mean)
            self.updates.append(K.update(mean, new))
            self._move(p, p - rate * g / (K.sqrt(new) + self.epsilon))
        return self.updates


@keras.saving.register_keras_serializable(package="parallel_compat")
class Adagrad(RMSprop):
    """Steps divided by the root of the sum of squares of gradients."""

    settings: tuple[str, ...] = ("lr", "decay", "epsilon")

    def __init__(self, lr: Any = 0.01, epsilon: Any = None, decay: Any = 0.0, **kwargs: Any):
        self._set(kwargs, epsilon, lr=lr, decay=decay)

    def _mean(self, square: Any, mean: Any) -> Any:
        return mean + square


@keras.saving.register_keras_serializable(package="parallel_compat")
class Adadelta(_OfKeras):
    """Steps as large as the last ones were."""

    settings: tuple[str, ...] = ("lr", "rho", "decay", "epsilon")

    def __init__(self, lr: Any = 1.0, rho: Any = 0.95, epsilon: Any = None, decay: Any = 0.0, **kwargs: Any):
        self._set(kwargs, epsilon, lr=lr, decay=decay)
        self.rho = rho

    def get_updates(self, loss: Any, params: Any) -> Any:
        gradients, rate, _ = self._begin(loss, params)
        for p, g, mean, moved in zip(params, gradients, *self._slots(params, 2), strict=True):
            new = self.rho * mean + (1.0 - self.rho) * K.square(g)
            step = g * K.sqrt(moved + self.epsilon) / K.sqrt(new + self.epsilon)
            self.updates.append(K.update(mean, new))
            self._move(p, p - rate * step)
            self.updates.append(K.update(moved, self.rho * moved + (1.0 - self.rho) * K.square(step)))
        return self.updates


class _OfMoments(_OfKeras):
    """What Adam and its like have in common: the mean gradient, and one of its sizes."""

    settings: tuple[str, ...] = ("lr", "beta_1", "beta_2", "decay", "epsilon")

    def _means(self, m: Any, v: Any, g: Any) -> tuple[Any, Any]:
        return self.beta_1 * m + (1.0 - self.beta_1) * g, self.beta_2 * v + (1.0 - self.beta_2) * K.square(g)

    def _keep(self, *pairs: tuple[Any, Any]) -> None:
        self.updates.extend(K.update(variable, value) for variable, value in pairs)


@keras.saving.register_keras_serializable(package="parallel_compat")
class Adam(_OfMoments):
    """Adam, or AMSGrad."""

    settings: tuple[str, ...] = (*_OfMoments.settings, "amsgrad")

    def __init__(
        self,
        lr: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: Any = None,
        decay: Any = 0.0,
        amsgrad: bool = False,
        **kwargs: Any,
    ):
        self._set(kwargs, epsilon, lr=lr, beta_1=beta_1, beta_2=beta_2, decay=decay)
        self.amsgrad = amsgrad

    def get_updates(self, loss: Any, params: Any) -> Any:
        gradients, rate, t = self._begin(loss, params)
        rate = rate * (K.sqrt(1.0 - K.pow(self.beta_2, t)) / (1.0 - K.pow(self.beta_1, t)))
        ms, vs = self._slots(params, 2, self.iterations)
        largest = [K.zeros(K.int_shape(each) if self.amsgrad else 1, dtype=K.dtype(each)) for each in params]
        self.weights += largest
        for p, g, m, v, most in zip(params, gradients, ms, vs, largest, strict=True):
            new_m, new_v = self._means(m, v, g)
            size = K.maximum(most, new_v) if self.amsgrad else new_v
            self._keep(*([(most, size)] if self.amsgrad else []), (m, new_m), (v, new_v))
            self._move(p, p - rate * new_m / (K.sqrt(size) + self.epsilon))
        return self.updates


@keras.saving.register_keras_serializable(package="parallel_compat")
class Adamax(_OfMoments):
    """Adam with the largest gradient for the mean square."""

    def __init__(
        self,
        lr: Any = 0.002,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: Any = None,
        decay: Any = 0.0,
        **kwargs: Any,
    ):
        self._set(kwargs, epsilon, lr=lr, beta_1=beta_1, beta_2=beta_2, decay=decay)

    def get_updates(self, loss: Any, params: Any) -> Any:
        gradients, rate, t = self._begin(loss, params)
        rate = rate / (1.0 - K.pow(self.beta_1, t))
        for p, g, m, u in zip(params, gradients, *self._slots(params, 2, self.iterations), strict=True):
            new_m, new_u = self._means(m, u, g)[0], K.maximum(self.beta_2 * u, K.abs(g))
            self._keep((m, new_m), (u, new_u))
            self._move(p, p - rate * new_m / (new_u + self.epsilon))
        return self.updates


@keras.saving.register_keras_serializable(package="parallel_compat")
class Nadam(_OfMoments):
    """Adam with Nesterov's momentum, whose schedule is Keras's."""

    settings: tuple[str, ...] = ("lr", "beta_1", "beta_2", "epsilon", "schedule_decay")

    def __init__(
        self,
        lr: Any = 0.002,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: Any = None,
        schedule_decay: Any = 0.004,
        **kwargs: Any,
    ):
        self._set(kwargs, epsilon, lr=lr, beta_1=beta_1, beta_2=beta_2)
        self.m_schedule = K.variable(1.0, name="m_schedule")
        self.schedule_decay = schedule_decay

    def get_updates(self, loss: Any, params: Any) -> Any:
        gradients, rate, t = self._begin(loss, params)
        now, then = (self.beta_1 * (1.0 - 0.5 * K.pow(0.96, at * self.schedule_decay)) for at in (t, t + 1))
        schedule = self.m_schedule * now
        self._keep((self.m_schedule, schedule))
        for p, g, m, v in zip(params, gradients, *self._slots(params, 2, self.iterations), strict=True):
            new_m, new_v = self._means(m, v, g)
            mean = (1.0 - now) * g / (1.0 - schedule) + then * new_m / (1.0 - schedule * then)
            self._keep((m, new_m), (v, new_v))
            self._move(p, p - rate * mean / (K.sqrt(new_v / (1.0 - K.pow(self.beta_2, t))) + self.epsilon))
        return self.updates


_OF_KERAS: dict[str, Any] = {kind.__name__: kind for kind in (SGD, RMSprop, Adagrad, Adadelta, Adam, Adamax, Nadam)}


def get(identifier: Any) -> Any:
    """Return an optimizer that `get_updates` can be asked of, by a name, a config or as an optimizer of Keras 3.

    >>> type(get("adam")).__module__
    'parallel_compat.legacy.graph_optimizers'
    """
    config = {"class_name": identifier, "config": {}} if isinstance(identifier, str) else identifier
    if not isinstance(config, dict):
        return as_old(config)
    of_keras = {name.lower(): kind for name, kind in _OF_KERAS.items()}.get(config["class_name"].lower())
    if of_keras is not None and config.get("registered_name") is None:
        return of_keras.from_config(config["config"])
    return as_old(keras.optimizers.deserialize(config))


deserialize = get
