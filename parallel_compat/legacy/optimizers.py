"""The optimizers with their old arguments: `lr`, `decay`, and TensorFlow 1's three that are the same step today.

`decay` has Keras 2's formula, lr / (1 + decay * iterations). Keras 3 takes the argument, warns and ignores it.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import learning_rate, own_optimizers
from parallel_compat.backend.keras3 import optimizer_steps as steps_of_keras
from parallel_compat.legacy.call_arguments import translate
from parallel_compat.legacy.numbers import assigned_numbers, optimizer_steps, optimizer_weights
from parallel_compat.names.arguments import SCHEDULE_DECAY
from parallel_compat.names.eras import Era
from parallel_compat.names.positions import named_positions

_COMPILED = "_parallel_compat_compiled_by_old_code"


def __getattr__(name: str) -> Any:
    kind = getattr(keras.optimizers, name, None)
    if not isinstance(kind, type) or not issubclass(kind, keras.optimizers.Optimizer):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return with_old_arguments(kind)


@cache
def with_old_arguments(kind: Any) -> Any:
    """Return a class that takes the old arguments and makes objects of `kind`.

    Args:
        kind: an optimizer class of Keras.

    Returns:
        A subclass: called itself it makes a plain `kind`; a class derived from it takes the old arguments as well.
    """
    of = f"keras.optimizers.{kind.__name__}"

    def __new__(cls: Any, *given: Any, **keywords: Any) -> Any:
        if cls is not legacy:
            return kind.__new__(cls)
        made = kind.__new__(kind)
        initialize(kind.__init__, made, of, given, keywords)
        return made

    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        initialize(kind.__init__, self, of, given, keywords)

    legacy = type(kind.__name__, (kind,), {"__new__": __new__, "__init__": __init__, "__doc__": kind.__doc__})
    return legacy


def initialize(
    init: Any,
    optimizer: Any,
    of: str,
    given: tuple[Any, ...],
    keywords: dict[str, Any],
    note: Any = lambda given, became: None,
    era: Era = Era.TODAY,
) -> None:
    """Call an optimizer's `__init__` with today's arguments, and give `decay` its effect.

    Args:
        init: the class's own `__init__`.
        optimizer: the new object.
        of: the class, as the table spells it.
        given: the positional arguments.
        keywords: the keyword arguments, old ones among them.
        note: called with each argument that changes.
        era: whose default learning rates hold, whose meaning of `clipnorm`, and whose steps.

    Raises:
        ValueError: `decay` together with a schedule.
    """
    schedule_decay = SCHEDULE_DECAY
    is_nadam = of == "keras.optimizers.Nadam" and era is not Era.TODAY
    if is_nadam:
        agreeing, names = named_positions(of, given, keywords, era)
        keywords = {**dict(zip(names, given[agreeing:], strict=True)), **keywords}
        given = given[:agreeing]
        schedule_decay = float(keywords.pop("schedule_decay", schedule_decay))
    clips = {}
    if optimizer_steps.is_known(optimizer, era):
        keywords = dict(keywords)
        clips = {name: keywords.pop(name, None) for name in ("clipnorm", "clipvalue")}
        if era.is_standalone and keywords.get("global_clipnorm") is not None:  # from a config
            clips["clipnorm"] = keywords.pop("global_clipnorm")
    given, keywords = translate(of, given, keywords, note, era=era)
    decay = keywords.pop("decay", None)
    parameters = list(inspect.signature(init).parameters)[1:]
    keywords = {**dict(zip(parameters, given, strict=False)), **keywords}
    # Keras 3 refuses a momentum that is a whole number, 0 and 1 as well.
    numbers = ("learning_rate", "momentum")
    keywords = {key: _as_float(value) if key in numbers else value for key, value in keywords.items()}
    if keywords.get("epsilon", 0) is None:  # Keras 2: None is `K.epsilon()`
        keywords["epsilon"] = keras.backend.epsilon()
    functions = _taken_as_functions(keywords) if era.is_tf_keras else {}
    init(optimizer, **keywords)
    if optimizer_steps.step_as(optimizer, era, schedule_decay=schedule_decay, **clips):
        note("the step", f"that of {era}")
        for name, function in functions.items():
            steps_of_keras.number_from(optimizer, name, function)
    if is_nadam and era.is_tf_keras:
        vars(optimizer)["decay"] = schedule_decay  # which `optimizer.decay` shows there
    # tf.keras replaced Nadam's argument by `schedule_decay`.
    if decay and not (is_nadam and not era.is_standalone):
        note("decay=", "lr / (1 + decay * iterations) in every step")
        if learning_rate.variable_of(optimizer) is None and not era.is_tf_keras:
            raise ValueError("Expected `decay` or a schedule as the learning rate. Received: both.")
        learning_rate.step_with(optimizer, float(decay))


def _taken_as_functions(keywords: dict[str, Any]) -> dict[str, Any]:
    """Take the numbers that are functions, or variables, out of arguments: tf.keras asked them in each step.

    Keras 3 asks the learning rate's function itself; of the others it gets the value that they have now.
    """

    def function_of(value: Any) -> Any:
        return (lambda: tf.convert_to_tensor(value)) if isinstance(value, tf.Variable) else value

    if isinstance(keywords.get("learning_rate"), tf.Variable):
        keywords["learning_rate"] = function_of(keywords["learning_rate"])
    names = [name for name in steps_of_keras.NUMBERS if name in keywords]
    functions = {name: function_of(keywords[name]) for name in names if callable(function_of(keywords[name]))}
    for name, function in functions.items():
        keywords[name] = float(function()) or 1e-12  # of 0 Keras would keep no momentum
    return functions


def of_era(kind: Any, keywords: dict[str, Any], era: Era, note: Any = lambda given, became: None) -> Any:
    """Make an optimizer that has the defaults and steps of an era.

    Args:
        kind: an optimizer class of Keras.
        keywords: its arguments, old ones among them.
        era: the era.
        note: called with each argument that changes.
    """
    made = kind.__new__(kind)
    initialize(kind.__init__, made, f"keras.optimizers.{kind.__name__}", (), keywords, note, era)
    return made


def for_one_compile(optimizer: Any, model: Any = None) -> Any:
    """Return an optimizer that a model can be compiled with: the one that is given, the first time.

    In Keras 2 one `Adam` could be compiled into the discriminator and the whole of a GAN: each model had its own
    moments, the learning rate and the count of steps were common. Keras 3 builds an optimizer for one model.

        d.compile(loss="mse", optimizer=for_one_compile(adam))
        gan.compile(loss="mse", optimizer=for_one_compile(adam))

    In tf.keras the moments were the optimizer's, by variable: a model that is compiled once more goes on with them, and
    models with a weight in common have its moments in common.

    Args:
        optimizer: an optimizer, or the name of one.
        model: the model that is compiled, if moments belong to weights.

    Returns:
        `optimizer`, or a copy without moments that shares the learning rate and the count of steps.
    """
    if not isinstance(optimizer, keras.optimizers.Optimizer):
        return optimizer
    weights = [] if model is None else list(model.trainable_weights)
    compiled = vars(optimizer).get(_COMPILED)  # it, and its copies, each with the weights that it will have moments of
    if compiled is None:
        compiled = vars(optimizer)[_COMPILED] = [(optimizer, [])]
        if not optimizer.built:
            compiled[0][1].extend(weights)
            return optimizer
    for each, its_weights in compiled:
        known = {id(weight) for weight in its_weights}
        in_common = steps_of_keras.can_be_extended(each) and any(id(weight) in known for weight in weights)
        if in_common or keras3.has_moments_of(each, weights):
            its_weights.extend(weight for weight in weights if id(weight) not in known)
            return each
    twin = keras3.twin_of(optimizer)
    assigned_numbers.step_with_assigned(optimizer, twin)
    vars(twin)[_COMPILED] = compiled
    compiled.append((twin, weights))
    return twin


class _ToBeCalled(list[Any]):
    """A list that may be called for itself: `optimizer.variables` is a method in tf.keras."""

    def __call__(self) -> list[Any]:
        return list(self)


def weights(optimizer: Any) -> list[Any]:
    """Return the variables of an optimizer, in the order of the era of the code that asks."""
    if isinstance(optimizer, own_optimizers.OwnOptimizer):
        return list(optimizer.inner.weights)
    return optimizer_weights.variables(optimizer, _era())


def variables(optimizer: Any) -> list[Any]:
    """Return the same as `weights`, for the code of tf.keras, which calls it."""
    return _ToBeCalled(weights(optimizer))


def get_weights(optimizer: Any) -> list[Any]:
    """Return the state of an optimizer as arrays, in the order of the era of the code that asks."""
    if isinstance(optimizer, own_optimizers.OwnOptimizer):
        return [keras.ops.convert_to_numpy(each) for each in optimizer.inner.weights]
    return optimizer_weights.get_weights(optimizer, _era())


def set_weights(optimizer: Any, weights: Any) -> None:
    """Give an optimizer the state that `get_weights` returned."""
    if isinstance(optimizer, own_optimizers.OwnOptimizer):
        for variable, value in zip(optimizer.inner.weights, weights, strict=True):
            variable.assign(value)
        return
    optimizer_weights.set_weights(optimizer, weights, _era())


def _era() -> Era:
    from parallel_compat.run import callers

    era = callers.era_of_caller()
    return Era.TF_KERAS_2_2 if era is Era.TODAY else era


def _as_float(value: Any) -> Any:
    # Keras 3 refuses `lr=1` and a numpy scalar.
    is_number = isinstance(value, int) or (type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0)
    return float(value) if is_number and not isinstance(value, bool) else value


def AdamOptimizer(
    learning_rate: Any = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    use_locking: bool = False,
    name: str = "Adam",
) -> Any:
    """Make the `keras.optimizers.Adam` that steps as `tf.train.AdamOptimizer` did."""
    return _step(keras.optimizers.Adam(_as_float(learning_rate), beta1, beta2, epsilon))


def GradientDescentOptimizer(learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> Any:
    """Make the `keras.optimizers.SGD` that steps as `tf.train.GradientDescentOptimizer` did."""
    return _step(keras.optimizers.SGD(_as_float(learning_rate)))


def MomentumOptimizer(
    learning_rate: Any, momentum: float, use_locking: bool = False, name: str = "Momentum", use_nesterov: bool = False
) -> Any:
    """Make the `keras.optimizers.SGD` that steps as `tf.train.MomentumOptimizer` did, at a constant rate."""
    return _step(keras.optimizers.SGD(_as_float(learning_rate), momentum=momentum, nesterov=use_nesterov))


def AdagradOptimizer(
    learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False, name: str = "Adagrad"
) -> Any:
    """Make the `keras.optimizers.Adagrad` that steps as `tf.train.AdagradOptimizer` did."""
    return _step(keras.optimizers.Adagrad(_as_float(learning_rate), initial_accumulator_value, epsilon=0.0))


def AdadeltaOptimizer(
    learning_rate: Any = 0.001,
    rho: float = 0.95,
    epsilon: float = 1e-8,
    use_locking: bool = False,
    name: str = "Adadelta",
) -> Any:
    """Make the `keras.optimizers.Adadelta` that steps as `tf.train.AdadeltaOptimizer` did."""
    return _step(keras.optimizers.Adadelta(_as_float(learning_rate), rho, epsilon))


def RMSPropOptimizer(
    learning_rate: Any,
    decay: float = 0.9,
    momentum: float = 0.0,
    epsilon: float = 1e-10,
    use_locking: bool = False,
    centered: bool = False,
    name: str = "RMSProp",
) -> Any:
    """Make the `keras.optimizers.RMSprop` that steps as `tf.train.RMSPropOptimizer` did."""
    return _step(keras.optimizers.RMSprop(_as_float(learning_rate), decay, momentum, epsilon, centered))


def FtrlOptimizer(
    learning_rate: Any,
    learning_rate_power: float = -0.5,
    initial_accumulator_value: float = 0.1,
    l1_regularization_strength: float = 0.0,
    l2_regularization_strength: float = 0.0,
    use_locking: bool = False,
    name: str = "Ftrl",
    accum_name: str | None = None,
    linear_name: str | None = None,
    l2_shrinkage_regularization_strength: float = 0.0,
) -> Any:
    """Make the `keras.optimizers.Ftrl` that steps as `tf.train.FtrlOptimizer` did."""
    return _step(
        keras.optimizers.Ftrl(
            _as_float(learning_rate),
            learning_rate_power,
            initial_accumulator_value,
            l1_regularization_strength,
            l2_regularization_strength,
            l2_shrinkage_regularization_strength,
        )
    )


class _OfTensorFlow(type):
    """Makes `isinstance(optimizer, TFOptimizer)` true of what TFOptimizer was called on."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return bool(vars(instance).get(_WRAPPED)) if isinstance(instance, keras.optimizers.Optimizer) else False


_WRAPPED = "_parallel_compat_in_tf_optimizer"


class TFOptimizer(metaclass=_OfTensorFlow):
    """An optimizer of `tf.train` as one of Keras: here they are that already, and it is returned as it is."""

    def __new__(cls, optimizer: Any, iterations: Any = None) -> Any:
        """Return the optimizer.

        Raises:
            TypeError: for an optimizer of `tf.train` that has no counterpart in Keras.
        """
        if not isinstance(optimizer, keras.optimizers.Optimizer):
            raise TypeError(
                "Expected one of `tf.train`'s AdamOptimizer, GradientDescentOptimizer, MomentumOptimizer, "
                "RMSPropOptimizer, AdagradOptimizer, AdadeltaOptimizer and FtrlOptimizer. Received: "
                f"{type(optimizer).__name__}. Use an optimizer of `keras.optimizers`."
            )
        vars(optimizer)[_WRAPPED] = True
        return optimizer


_step = optimizer_steps.step_as_tensorflow_1
