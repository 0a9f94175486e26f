"""What `run` puts on Keras's own classes: old arguments, methods and attributes, for the user's code.

The classes stay what they are, so `isinstance`, subclasses and pickles work. An old member looks as if it were not
there when anybody but the user's code asks for it; an old argument is taken from the user's code alone.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import re
import sys
import warnings
from typing import TYPE_CHECKING, Any

from parallel_compat import devices
from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import layers, metric_state, patch_points
from parallel_compat.backend.patches import TENSORFLOW
from parallel_compat.batches.sources import AT_ONCE, BEFORE_THE_NEXT, NEVER, Passes
from parallel_compat.legacy import weight_names
from parallel_compat.legacy.call_arguments import translate
from parallel_compat.legacy.numbers import callback_params
from parallel_compat.legacy.numbers.logs import rename_rate
from parallel_compat.names import lookup, positions, run_only
from parallel_compat.names.arguments import arguments
from parallel_compat.names.defaults import defaults
from parallel_compat.names.eras import Era
from parallel_compat.names.identifiers import FUNCTIONS_TODAY, SHORT_FUNCTIONS, identifiers
from parallel_compat.names.members import members
from parallel_compat.names.table import Change, Member
from parallel_compat.run import (
    callers,
    environment,
    graph_patches,
    layer_patches,
    number_patches,
    object_eras,
    own_optimizers,
    usage,
)
from parallel_compat.run.modules import GoneAttributeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from parallel_compat.backend.patches import Patches


# Why most patches are there.
_ARGUMENTS = "old arguments, for the user's code"


def put_on(patches: Patches) -> None:
    """Put everything on the classes of an imported Keras."""
    import keras
    import tensorflow as tf

    # `losses.mse(K.variable(a), K.variable(b))`: Keras 3's operations ask for it, and take TensorFlow's tensors.
    patches.set(
        tf.Variable,
        "ndim",
        property(lambda variable: variable.shape.rank),
        why="Keras's operations take TensorFlow's variables",
        read_in=TENSORFLOW,
    )
    _members(patches, keras)
    _configurations(patches, keras)  # which looks at the arguments of constructors as they are
    layer_patches.put_on_constructors(patches, keras, _looking_alike)
    _constructors(patches, keras)
    _callbacks(patches, keras)
    _layers(patches, keras)
    graph_patches.put_on(patches)
    _models(patches, keras.Model)
    for kind in (patch_points.functional_class(), keras.Sequential):
        of_config = functools.partial(_method, name="get_config", of="keras.Model.get_config")
        patches.wrap(kind, "get_config", of_config, why="a config holds no arguments of `compile`")
    _model_constructors(patches, keras)
    patches.set(
        keras.layers.Layer,
        "__init_subclass__",
        classmethod(_reads_its_regularizer),
        why="a user's class may compute `activity_regularizer`, which no constructor of a layer assigned",
    )
    patches.set(
        keras.Model,
        "__init_subclass__",
        classmethod(_wrapper_of_parallel_model),
        why="a class that takes over a parallel model's `__dict__` gets its methods (`ModelMGPU`)",
    )
    patches.set(
        patch_points.image_iterator_class(),
        "next",
        lambda batches: next(batches),
        why="`batches.next()`, the spelling of Python 2",
    )
    for owner, name, wrap in patch_points.of_names_of_functions(_function_of_old_name):
        patches.wrap(owner, name, _looking_alike(wrap), why="names are looked up in `get_custom_objects()` first")
    for name in ("input", "output"):
        patches.wrap(
            keras.Sequential,
            name,
            functools.partial(_end_of_sequential, name=name),
            why="they are there before the model is called",
        )
    patches.wrap(
        keras.Sequential, "build", _build_of_sequential, why="a model whose input is known did not look at the shape"
    )
    for kind in (keras.Model, keras.Sequential):
        patches.wrap(kind, "layers", _each_layer_once, why="a layer that was added twice was listed once")
    patches.wrap(
        keras.Model, "compiled_loss", _compiled_loss, why="TensorFlow 2.2 counted the loss, and added what is given"
    )
    patches.wrap(
        keras.Model, "compiled_metrics", _compiled_metrics, why="Keras 3 counts outputs as if they were losses"
    )
    patches.wrap(keras.Model, "metrics", _metrics_of_era, why="the metrics one by one, for the user's code")
    of_output = Member("keras.Model", "output_names", Change.PROVIDED, "parallel_compat.legacy.models.output_names")
    patches.set(
        keras.Sequential,
        of_output.old,
        ForUsers(of_output, lambda model: lookup.fetch(of_output.new or "")(model)),
        why="functional models have it today, too",
    )
    for owner, name, wrap in patch_points.of_reductions(_with_auto):
        patches.wrap(owner, name, _looking_alike(wrap), why="`Reduction.AUTO`, which was the mean over the batch")
    layer_patches.put_on(patches, keras, _looking_alike)
    number_patches.put_on(patches, keras, _looking_alike)
    own_optimizers.put_on(patches, keras)


def _with_auto(original: Any) -> Any:
    def standardize_reduction(reduction: Any) -> Any:
        return original("sum_over_batch_size" if reduction == "auto" else reduction)

    return standardize_reduction


def _compiled_loss(original: Any) -> Any:
    @_like(original)
    def compiled_loss(self: Any, y: Any, y_pred: Any, *given: Any, **keywords: Any) -> Any:
        if not object_eras.era_of_object(self).is_tf_keras:
            return original(self, y, y_pred, *given, **keywords)
        return keras3.loss_of_own_step(self, y, y_pred, *given, **keywords)

    return compiled_loss


class _CompiledMetrics:
    """What `model.compiled_metrics` is to a `train_step` of the user's."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        keras3.update_compiled_metrics(self._model, y_true, y_pred, sample_weight)


def _compiled_metrics(original: property) -> property:
    def get(self: Any) -> Any:
        if not object_eras.era_of_object(self).is_tf_keras:
            return original.__get__(self, type(self))
        return _CompiledMetrics(self)

    return property(get)


def _metrics_of_era(original: property) -> property:
    def get(self: Any) -> Any:
        metrics = original.__get__(self, type(self))
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_name in ("__getattribute__", "__getattr__"):  # which ask for others
            frame = frame.f_back
        if frame is None or not callers.is_users(frame):
            return metrics
        from parallel_compat.legacy import compiled_metrics

        return compiled_metrics.metrics_of_era(self, metrics)

    return property(get)


def _function_of_old_name(kind: str, name: str) -> Any:
    """Return what a name that Keras 3 does not know stands for: a function, a regularizer, or today's name."""
    if (kind, name) == ("regularizers", "l1_l2"):
        from keras import regularizers

        return regularizers.L1L2(0.01, 0.01)
    if kind == "constraints":
        row = identifiers()["constraint"].get(name)
        return None if row is None else row.new
    today = FUNCTIONS_TODAY.get(SHORT_FUNCTIONS.get(name, name)) if kind in ("losses", "metrics") else None
    if today is None:
        return None
    from keras import losses

    return getattr(losses, today)


def put_on_parallel_model(patches: Patches) -> None:
    """Put the old arguments on the methods that `ParallelModel` has of its own."""
    from parallel_compat.parallel_model import ParallelModel
    from parallel_compat.training.trainer import ParallelTrainer

    for kind in (ParallelModel, ParallelTrainer):
        _models(patches, kind, own=True)
    patches.wrap(
        ParallelModel,
        "__init__",
        _draws_for_each_replica,
        why="each tower took the seeds of its layers from `np.random`",
    )
    for name in ("fit_generator", "evaluate_generator", "predict_generator"):
        make = functools.partial(_generator_method, name=name)
        patches.wrap(ParallelTrainer, name, make, why="workers and callbacks as the user's code had them")
    patches.set(devices, "how_to_simulate", _how_to_simulate, why="under `run` there is an option for it")


def _how_to_simulate(number: int) -> str:
    if environment.SETTINGS in os.environ:
        command = f"`parallel-compat run --replicas {number} ...`"
        return f"To run the script on {number} simulated devices, add `--replicas {number}`: {command}."
    return f"To try {number}-replica code on it, call `parallel_compat.install(replicas={number})` first."


def _draws_for_each_replica(original: Any) -> Any:
    @_like(original)
    def __init__(self: Any, template: Any, strategy: Any, *given: Any, **keywords: Any) -> None:
        original(self, template, strategy, *given, **keywords)
        if callers.era_of_caller() is Era.KERAS_2_2_4:
            from parallel_compat.legacy.numbers import initial_weights

            for _ in range(strategy.num_replicas_in_sync - 1):  # it was called once
                initial_weights.draw_seeds_of(template)

    return __init__


def put_on_loops(patches: Patches) -> None:
    """Let the loops over arrays and Sequences count epochs as the time of a model did."""
    from parallel_compat.batches import generator_methods
    from parallel_compat.training import in_memory

    patches.set(
        in_memory, "order_of_validation", _order_of_validation, why="tf.keras 1.15 shuffled what it validated on"
    )
    patches.set(in_memory, "epoch_logs", _epoch_logs, why="epochs are counted as in the era of the model")
    patches.set(
        in_memory, "goes_on", _goes_on, why="the first `train_on_batch` after `fit` of tf.keras goes on from it"
    )
    patches.set(
        generator_methods,
        "passes_of",
        _passes_of,
        why="`steps_per_epoch` of a Sequence: TensorFlow 2.2 began it again in each epoch, 1.15 in each validation; "
        "and when they called its `on_epoch_end`",
    )
    patches.set(
        generator_methods,
        "first_targets",
        _first_targets,
        why="TensorFlow 2.2 did not know the last axis of labels that were drawn when it chose what accuracy is",
    )


def _generator_method(original: Any, name: str) -> Any:
    @_like(original)
    def method(self: Any, *given: Any, **keywords: Any) -> Any:
        from parallel_compat.run import model_methods

        frame = callers.user_frame(sys._getframe(1))
        if frame is None:
            return original(self, *given, **keywords)
        usage.record(f"Model.{name}", f"parallel_compat.{name}", frame)
        return getattr(model_methods, name)(self, *given, **keywords)

    return method


# --- members ------------------------------------------------------------------------------------------------------


class ForUsers:
    """An attribute that is there for the user's code only.

    Args:
        row: the table's row.
        get: returns the value for an object.
        set: assigns it; None where it cannot be assigned to.
    """

    def __init__(self, row: Member, get: Callable[[Any], Any]) -> None:
        self._row = row
        self._get = get

    def __get__(self, instance: Any, owner: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        name = f"{self._row.of.rpartition('.')[2]}.{self._row.old}"
        if frame is None or instance is None:
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self._row.old!r}")
        if self._row.change is Change.GONE:
            where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            raise GoneAttributeError(f"{where}: `{name}` is gone. {self._row.note}", name=self._row.old, obj=instance)
        usage.record(name, self._row.new or "", frame)
        return self._get(instance)


class ForUsersToSet(ForUsers):
    """An attribute that is there for the user's code only, and can be assigned to by anybody."""

    def __init__(self, row: Member, get: Callable[[Any], Any], set: Callable[[Any, Any], None]) -> None:
        super().__init__(row, get)
        self._set = set

    def __set__(self, instance: Any, value: Any) -> None:
        self._set(instance, value)


# Members whose row stands for a field of a class of ours, or that have an entry of their own below.
_NOT_HERE = {("keras.callbacks.Callback", "model"), ("keras.Model", "save_weights"), ("keras.Model", "save")}


def _members(patches: Patches, keras: Any) -> None:
    owners = {
        "keras.Model": keras.Model,
        "keras.layers.Layer": keras.layers.Layer,
        "keras.optimizers.Optimizer": keras.optimizers.Optimizer,
        "keras.callbacks.Callback": keras.callbacks.Callback,
        "keras.KerasTensor": keras.KerasTensor,
        "keras.metrics.Metric": keras.metrics.Metric,
    }
    for rows in members().values():
        for row in rows:
            owner = owners.get(row.of)
            if owner is None or (row.of, row.old) in _NOT_HERE or hasattr(owner, row.old):
                continue
            patches.set(owner, row.old, _member(row), why=f"an old member, for the user's code: {row.new or 'gone'}")
    why = "a schedule, where one was given, for the user's code of tf.keras"
    patches.wrap(keras.optimizers.Optimizer, "learning_rate", _learning_rate, why=why)
    patches.set(keras.Model, "optimizer", _OptimizerBeforeCompile(), why="None before `compile`, for the user's code")
    import tensorflow as tf

    # What `call` of a layer gets: in Keras 2 a symbolic tensor, here one of TensorFlow's while the step is traced.
    (row,) = members()["_keras_shape"]
    why = "the shape that Keras 2 wrote on tensors, for the user's code"
    patches.set(tf.Tensor, row.old, ForUsers(row, _static_shape), why=why, read_in=TENSORFLOW)


class _OptimizerBeforeCompile:
    """`model.optimizer` of a model that was not compiled: None in `tf.keras`, for the user's code."""

    def __get__(self, instance: Any, owner: Any) -> None:
        frame = callers.user_frame(sys._getframe(1))
        if instance is None or frame is None or not callers.era_of(frame).is_tf_keras:
            raise AttributeError(f"{owner.__name__!r} object has no attribute 'optimizer'")


def _static_shape(tensor: Any) -> tuple[int | None, ...]:
    return tuple(tensor.shape.as_list())


def _member(row: Member) -> ForUsers:
    if (row.of, row.old) == ("keras.optimizers.Optimizer", "lr"):
        return ForUsersToSet(row, _rate, lambda optimizer, value: setattr(optimizer, "learning_rate", value))
    of_attribute = run_only.ATTRIBUTES.get((row.of, row.old))
    if of_attribute is not None:
        provided = row._replace(change=Change.PROVIDED, new=of_attribute)
        return ForUsers(provided, lambda instance: lookup.fetch(of_attribute)(instance))
    stand_in = run_only.MEMBERS.get((row.of, row.old))
    if stand_in is not None:
        provided = row._replace(change=Change.PROVIDED, new=row.new or stand_in)
        return ForUsers(provided, lambda instance: functools.partial(lookup.fetch(stand_in), instance))
    if row.change is Change.RENAMED and row.new is not None:
        new = row.new
        if row.method:
            return ForUsers(row, lambda instance: lambda: getattr(instance, new))
        return ForUsers(row, lambda instance: getattr(instance, new))
    if row.change is Change.PROVIDED and row.new is not None:
        new = row.new
        if row.method:
            return ForUsers(row, lambda instance: functools.partial(lookup.fetch(new), instance))
        return ForUsers(row, lambda instance: lookup.fetch(new)(instance))
    return ForUsers(row, lambda instance: None)


def _rate(optimizer: Any) -> Any:
    """Return what `optimizer.lr` was: the variable, in the eras of tf.keras the schedule, else the rate of now."""
    from parallel_compat.backend.keras3 import learning_rate

    variable = learning_rate.variable_of(optimizer)
    if variable is not None:
        return variable
    frame = callers.user_frame(sys._getframe(2))  # what asks the property
    schedule = learning_rate.schedule_of(optimizer) if frame and callers.era_of(frame).is_tf_keras else None
    return optimizer.learning_rate if schedule is None else schedule


def _learning_rate(original: Any) -> property:
    def get(self: Any) -> Any:
        frame = sys._getframe(1)
        return _rate(self) if callers.is_users(frame) and callers.era_of(frame).is_tf_keras else original.fget(self)

    return property(get, original.fset, doc=original.__doc__)


# --- constructors -------------------------------------------------------------------------------------------------


_OWNERS = ("keras.layers", "keras.callbacks", "keras.regularizers", "keras.losses", "keras.metrics")


def _constructors(patches: Patches, keras: Any) -> None:
    with_activation = {
        f"keras.layers.{kind.__name__}"
        for kind in vars(keras.layers).values()
        if isinstance(kind, type) and (_takes(kind, "activation") or _takes(kind, "activity_regularizer"))
    }
    others = {"keras.layers.ActivityRegularization"}
    for kind in vars(keras.layers).values():  # within what translates arguments, which looks who calls
        if isinstance(kind, type) and issubclass(kind, keras.layers.Layer) and _takes_no_others(kind):
            patches.wrap(kind, "__init__", _init_without_keywords, why="the arguments that every layer had")
    for of in sorted({*arguments(), *defaults(), *positions.callables(), *with_activation, *others}):
        owner, _, name = of.rpartition(".")
        if (owner not in _OWNERS or name in ("Layer", "Input")) and of != "keras.Sequential":
            continue
        kind = getattr(keras if owner == "keras" else getattr(keras, owner.partition(".")[2]), name, None)
        if isinstance(kind, type) and "__init__" in vars(kind):
            patches.wrap(kind, "__init__", functools.partial(_init, kind=kind, of=of), why=_ARGUMENTS)
    for kind in (keras.losses.Loss, keras.metrics.Metric):
        patches.wrap(kind, "__init__", _remembering, why="objects remember the era of who made them")
    why = "arguments that named an operation, and that spoke to other devices"
    patches.wrap(keras.optimizers.Optimizer, "apply_gradients", _apply_gradients, why=why)
    for name in dir(keras.optimizers):
        kind = getattr(keras.optimizers, name)
        if isinstance(kind, type) and issubclass(kind, keras.optimizers.Optimizer) and "__init__" in vars(kind):
            make = functools.partial(_optimizer_init, kind=kind, of=f"keras.optimizers.{name}")
            patches.wrap(kind, "__init__", make, why=_ARGUMENTS)


def _configurations(patches: Patches, keras: Any) -> None:
    """Let the user's code read configurations, and make objects of them, as its era spelled them."""
    why = "configurations as the era spelled them"
    kinds = [kind for kind in vars(keras.layers).values() if isinstance(kind, type)]
    spelled = [kind for kind in kinds if _takes(kind, "activation") or _takes(kind, "pointwise_initializer")]
    owners = {next(each for each in kind.__mro__ if "get_config" in vars(each)) for kind in spelled}
    for owner in sorted(owners - {keras.Layer}, key=lambda owner: str(owner.__name__)):
        patches.wrap(owner, "get_config", _config_as_in_era, why=why)
    patches.wrap(keras.initializers.VarianceScaling, "get_config", _config_as_in_era, why=why)
    for name in ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam", "Ftrl"):
        patches.wrap(getattr(keras.optimizers, name), "get_config", _config_of_optimizer, why=why)
    owners = {next(each for each in kind.__mro__ if "from_config" in vars(each)) for kind in kinds}
    for owner in sorted(owners, key=lambda owner: str(owner.__name__)):
        patches.wrap(owner, "from_config", _from_config_of_era, why=why)


def _config_as_in_era(original: Any) -> Any:
    @_like(original)
    def get_config(self: Any) -> Any:
        config = original(self)
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        # What a `get_config` of the user's adds to may be written to a file.
        if era is Era.TODAY or frame is None or frame.f_code.co_name == "get_config":
            return config
        from parallel_compat.legacy import config_spelling

        return config_spelling.as_in_era(type(self).__name__, config, era)

    return get_config


def _config_of_optimizer(original: Any) -> Any:
    @_like(original)
    def get_config(self: Any) -> Any:
        config = original(self)
        asking: FrameType | None = sys._getframe(1)
        while asking is not None and asking.f_code.co_name == "_config":  # what an object has instead of the method
            asking = asking.f_back
        frame = callers.user_frame(asking)
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY or frame is None or frame.f_code.co_name == "get_config":
            return config
        from parallel_compat.legacy.numbers import optimizer_steps

        return optimizer_steps.config_in_era(self, config, era)

    return get_config


def _from_config_of_era(original: Any) -> Any:
    def from_config(cls: Any, config: Any, *given: Any, **keywords: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if isinstance(config, dict) and frame is not None and callers.era_of(frame) is not Era.TODAY:
            from parallel_compat.legacy import config_spelling

            config = config_spelling.as_today(config)
        elif isinstance(config, dict) and "pointwise_initializer" in config:  # `layers.deserialize` of an old one
            config = {name: value for name, value in config.items() if name != "kernel_initializer"}
        return original.__func__(cls, config, *given, **keywords)

    return classmethod(from_config)


def _remembering(original: Any) -> Any:
    @_like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        object_eras.remember(self, callers.era_of_caller())
        original(self, *given, **keywords)

    return __init__


def _takes(kind: Any, argument: str) -> bool:
    """Say whether a class's own `__init__` has the argument."""
    code = getattr(vars(kind).get("__init__"), "__code__", None)
    return code is not None and argument in code.co_varnames


def _init(original: Any, kind: Any, of: str) -> Any:
    @_like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        frame = callers.user_frame(sys._getframe(1))
        if frame is None:
            original(self, *given, **keywords)
            _keep_regularizer(self, keywords)
            return
        era = callers.era_of(frame)
        if of == "keras.callbacks.ReduceLROnPlateau" and "epsilon" in keywords:
            _warn("`epsilon` argument is deprecated, and will be removed: use `min_delta` instead.", frame)
        length = keywords.get("input_length")
        given, keywords = translate(of, given, keywords, _note(of, frame), era=era, in_run=True)
        given, keywords = _old_hard_sigmoid(of, given, keywords, frame)
        original(self, *given, **keywords)
        _keep_regularizer(self, keywords)
        if length is not None and of == "keras.layers.Embedding":
            self.input_length = length
        if era is Era.KERAS_2_2_4 and getattr(self, "activity_regularizer", None) is not None:
            from parallel_compat.legacy.numbers.activity_regularizers import SumOverBatch

            _note(of, frame)("activity_regularizer=", "the sum over the batch, which Keras 3 divides by its samples")
            self.activity_regularizer = SumOverBatch(self.activity_regularizer)

    return __init__


def _optimizer_init(original: Any, kind: Any, of: str) -> Any:
    parameters = list(inspect.signature(original).parameters)[1:]

    @_like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        from parallel_compat.legacy import optimizers

        frame = callers.user_frame(sys._getframe(1))
        object_eras.remember(self, callers.era_of_caller())
        if type(self) is not kind:
            original(self, *given, **keywords)
        elif frame is None:  # by name or from a config, on behalf of the user's code: it steps as it did there
            keywords, era = {**dict(zip(parameters, given, strict=False)), **keywords}, callers.era_of_caller()
            if kind.__name__ == "Adagrad" and era.is_tf_keras:
                keywords.setdefault("initial_accumulator_value", 0.0)  # `Adagrad.from_config` there, a string's way
            optimizers.initialize(original, self, of, (), keywords, era=era)
        else:
            # A tensor with a value was as good as a number: `SGD(learning_rate=tf.constant(0.1))`.
            given = tuple(map(_number, given))
            keywords = {name: _number(value) for name, value in keywords.items()}
            if callers.era_of(frame).is_tf_keras:
                given, keywords = _as_tf_keras_took(given, keywords)
            era = callers.era_of(frame)
            try:
                optimizers.initialize(original, self, of, given, keywords, _note(of, frame), era)
            except ValueError as error:
                raise (error if era is Era.TODAY else _as_optimizers_told(error)) from None

    return __init__


def _as_optimizers_told(error: ValueError) -> Exception:
    """Return the error that optimizers raised then, whose kind and words a script may look at."""
    unknown = re.match(r"Argument\(s\) not recognized: \{'(\w+)'", str(error))
    if unknown:
        return TypeError(f"Unexpected keyword argument passed to optimizer: {unknown[1]}")
    if str(error).startswith("`momentum` must be a float between"):
        return ValueError("`momentum` must be between [0, 1].")
    return error


def _as_tf_keras_took(given: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Let `lr` count before `learning_rate`, as it did, and refuse what was refused."""
    for name in ("clipnorm", "clipvalue", "lr", "decay"):
        value = keywords.get(name)
        if isinstance(value, (int, float)) and value < 0:
            raise ValueError(f"Expected {name} >= 0, received: {value}")
    if "lr" in keywords and (given or "learning_rate" in keywords):
        keywords = {**keywords, "learning_rate": keywords["lr"]}
        keywords.pop("lr")
        if given:
            given = (keywords.pop("learning_rate"), *given[1:])
    return given, keywords


def _apply_gradients(original: Any) -> Any:
    @_like(original)
    def apply_gradients(self: Any, grads_and_vars: Any, *given: Any, **keywords: Any) -> Any:
        if callers.user_frame(sys._getframe(1)) is None:
            return original(self, grads_and_vars, *given, **keywords)
        for name in ("name", "experimental_aggregate_gradients"):  # an operation's; there is one process
            keywords.pop(name, None)
        if not object_eras.era_of_object(self).is_tf_keras:
            return original(self, grads_and_vars, **keywords)
        grads_and_vars = list(grads_and_vars)
        if not grads_and_vars:  # which did nothing
            return None
        from parallel_compat.backend.keras3 import optimizer_steps

        with optimizer_steps.unclipped(self):  # there `fit` and `minimize` clipped, and this did not
            return original(self, grads_and_vars, **keywords)

    return apply_gradients


def _number(value: Any) -> Any:
    import tensorflow as tf

    if isinstance(value, tf.Tensor) and not tf.is_symbolic_tensor(value) and value.shape.rank == 0:
        return value.numpy().item()
    return value


def _old_hard_sigmoid(
    of: str, given: tuple[Any, ...], keywords: dict[str, Any], frame: FrameType
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Let the name mean Keras 2's function."""

    def old(value: Any) -> Any:
        if not isinstance(value, str) or value != "hard_sigmoid":
            return value
        from parallel_compat.legacy.activations import hard_sigmoid

        _note(of, frame)('"hard_sigmoid"', "parallel_compat.legacy.activations.hard_sigmoid")
        return hard_sigmoid

    return tuple(old(value) for value in given), {key: old(value) for key, value in keywords.items()}


def _keep_regularizer(layer: Any, keywords: dict[str, Any]) -> None:
    """Keras 3.15's `SimpleRNN` takes an `activity_regularizer` and forgets it."""
    regularizer = keywords.get("activity_regularizer")
    if regularizer is not None and getattr(layer, "activity_regularizer", None) is None:
        layer.activity_regularizer = sys.modules["keras"].regularizers.get(regularizer)


_OF_EVERY_LAYER = {
    "weights",
    "batch_input_shape",
    "batch_size",
    "input_shape",
    "input_dim",
    "input_length",
    "input_dtype",
}


# --- layers -------------------------------------------------------------------------------------------------------


def _layers(patches: Patches, keras: Any) -> None:
    from parallel_compat.legacy import automatic_names

    layer, input_layer = keras.layers.Layer, keras.layers.InputLayer
    for points, why in (
        (patch_points.of_layer_names(automatic_names.in_keras_2), "layers are numbered as in Keras 2"),
        (patch_points.of_single_outputs(), "a symbolic output that is alone is no list"),
        (patch_points.of_scalar_outputs(), "a loss that the graph computed is an output without axes"),
        (patch_points.of_variables_of_losses(), "a loss that makes a model made it once"),
        (patch_points.of_initializers(), "an initializer that takes a shape alone"),
        (patch_points.of_overridden_calls(), "a layer derived from one of Keras's whose `call` gives something else"),
        (patch_points.of_undeclared_output_shapes(), "`TimeDistributed` of a layer that does not say its output shape"),
    ):
        for owner, name, wrap in points:
            patches.wrap(owner, name, _looking_alike(wrap), why=why)
    patches.wrap(layer, "__init__", _layer_init, why="the arguments that every layer had")
    patches.wrap(input_layer, "__init__", _input_layer_init, why=_ARGUMENTS)
    patches.wrap(layer, "add_weight", _add_weight, why=_ARGUMENTS)
    patches.wrap(keras.metrics.Metric, "add_weight", _add_weight_of_metric, why=_ARGUMENTS)
    patches.wrap(layer, "add_variable", _add_variable, why="tf.keras's other name of `add_weight`: its arguments")
    patches.wrap(
        keras.layers.Lambda, "__call__", _call_of_lambda, why="symbolic tensors that its function uses are inputs"
    )
    patches.set(layer, "dynamic", _Dynamic(), why="an attribute of the layers of tf.keras, which `dynamic=True` sets")
    patches.set(keras.layers.Embedding, "input_length", None, why="an attribute that `Embedding` had")
    patches.wrap(layer, "input", _input_without_mask, why="a mask is no input, for the user's code")
    for name in ("input", "output"):
        patches.wrap(patch_points.functional_class(), name, _alone, why="one tensor is no list, for the user's code")
    patches.wrap(input_layer, "input", _input_of_input_layer, why="the tensor itself, for the user's code")
    patches.set(keras.layers.RNN, "reset_states", _reset_states, why="the method is called `reset_state` today")
    _weights(patches, layer)
    for kind in (layer, patch_points.functional_class()):
        if "add_loss" in vars(kind):
            make = functools.partial(_method, name="add_loss", of="keras.layers.Layer.add_loss")
            patches.wrap(kind, "add_loss", make, why="losses that are symbolic tensors of a functional model")
    patches.wrap(
        keras.metrics.Metric, "__call__", metric_state.call_that_marks, why="`add_metric` of a metric's result"
    )
    make = functools.partial(_method, name="add_metric", of="keras.layers.Layer.add_metric")
    patches.wrap(layer, "add_metric", make, why="Keras 3 has the method no more")


class _Dynamic:
    """`layer.dynamic`: it, or a layer inside, was made with `dynamic=True`, and runs line by line, as its model does.

    What a user's class sets under that name counts instead.
    """

    FLAG = "_parallel_compat_dynamic"

    def __get__(self, layer: Any, kind: Any) -> Any:
        if layer is None:
            return self
        return any(self.FLAG in vars(each) for each in layers.all_layers(layer))


def _layer_init(original: Any) -> Any:
    @_like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        after = None
        era = callers.era_of_caller()
        object_eras.remember(self, era)
        if era.is_tf_keras and keywords.pop("dynamic", False):
            vars(self)[_Dynamic.FLAG] = True
        if keywords.keys() & _OF_EVERY_LAYER:
            from parallel_compat.legacy.layers import take_common

            after = take_common(keywords)
        original(self, *given, **keywords)
        patch_points.name_first_argument(self)
        weight_names.count_cell(self, era)
        if after is not None:
            after(self)

    return __init__


def _takes_no_others(kind: type) -> bool:
    """Say whether a class has an `__init__` of its own without `**keywords`, as `SpatialDropout1D` has."""
    of_kind = vars(kind).get("__init__")
    return of_kind is not None and all(
        each.kind is not each.VAR_KEYWORD for each in inspect.signature(of_kind).parameters.values()
    )


def _init_without_keywords(original: Any) -> Any:
    own = inspect.signature(original).parameters

    @_like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        common = {name: keywords.pop(name) for name in (_OF_EVERY_LAYER & keywords.keys()) - own.keys()}
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


def _input_layer_init(original: Any) -> Any:
    @_like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        batch = getattr(keywords.get("shape"), "batch", None)
        if batch is not None:
            keywords["batch_size"] = batch
        if keywords.get("batch_shape") is not None and not given:
            keywords["shape"] = None  # in Keras 2 the whole shape counted where both were given
        frame = callers.user_frame(sys._getframe(1))
        if frame is not None:
            of = "keras.layers.InputLayer"
            given, keywords = translate(of, given, keywords, _note(of, frame))
        tensor = keywords.get("input_tensor")
        if tensor is None or not callers.era_of_caller().has_graphs:
            original(self, *given, **keywords)
            return
        from parallel_compat.legacy import data_tensors

        data_tensors.make_input(functools.partial(original, self), self, keywords)

    return __init__


def _add_weight(original: Any) -> Any:
    @_like(original)
    def add_weight(self: Any, *given: Any, **keywords: Any) -> Any:
        given, keywords = _of_users("keras.layers.Layer.add_weight", given, keywords, sys._getframe(1))
        weight = original(self, *given, **keywords)
        weight_names.remember(weight, self, named=keywords.get("name") is not None)
        return weight

    return add_weight


def _add_weight_of_metric(original: Any) -> Any:
    @_like(original)
    def add_weight(self: Any, *given: Any, **keywords: Any) -> Any:
        given, keywords = _of_users("keras.metrics.Metric.add_weight", given, keywords, sys._getframe(1))
        return original(self, *given, **keywords)

    return add_weight


def _of_users(of: str, given: Any, keywords: dict[str, Any], asking: FrameType) -> tuple[Any, dict[str, Any]]:
    """Return today's arguments of a call of the user's; those of others as they are."""
    frame = callers.user_frame(asking)
    return (given, keywords) if frame is None else translate(of, given, keywords, _note(of, frame))


def _add_variable(original: Any) -> Any:
    """Hand on to `add_weight`, whose other name it was; today it takes the shape first, and no `dtype` by position."""

    @_like(original)
    def add_variable(self: Any, *given: Any, **keywords: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if frame is None:
            return original(self, *given, **keywords)
        of = "keras.layers.Layer.add_weight"
        given, keywords = translate(of, given, keywords, _note(of, frame))
        return self.add_weight(*given, **keywords)

    return add_variable


def _weights(patches: Patches, layer: Any) -> None:
    """Give the user's code the weights in the order of its era, and the flags that Keras 2.2.4 would show.

    `trainable_weights` and `non_trainable_weights`, which can be assigned too, are with `assigned_attributes`.
    """
    patches.wrap(layer, "weights", _ordered_weights, why="the order of the era, for the user's code")
    patches.wrap(layer, "variables", _weights_as_variables, why="the weights alone, for the user's code")
    patches.wrap(patch_points.variable_class(), "name", _name_of_weight, why="`dense_1/kernel:0`, for the user's code")
    why = "methods of TensorFlow's variables, for the user's code"
    patches.wrap(layer, "__call__", weight_names.call, why="the scopes that weights are named after")
    patches.set(patch_points.variable_class(), "__getattr__", _of_tensorflow, why=why)
    patches.wrap(layer, "get_weights", _get_weights, why="the order of the era, for the user's code")
    patches.wrap(layer, "set_weights", _set_weights, why="the order of the era, for the user's code")
    patches.wrap(layer, "count_params", _count_params, why="the weights that the era listed, for the user's code")
    patches.wrap(layer, "losses", _losses, why="symbolic losses, before anything is computed, for the user's code")
    patches.wrap(layer, "trainable", _trainable, why="each layer has a flag of its own, for the user's code")


def _of_tensorflow(self: Any, name: str) -> Any:
    """`weight.read_value()`, `weight.ref()`, `weight.scatter_update(...)`: those of the variable that it holds."""
    import tensorflow as tf

    frame = callers.user_frame(sys._getframe(1)) if not name.startswith("_") else None
    if frame is None or not hasattr(tf.Variable, name) or callers.era_of(frame) is Era.TODAY:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    return getattr(self.value, name)


def _name_of_weight(original: Any) -> property:
    def get(self: Any) -> Any:
        name = original.__get__(self, type(self))
        frame = callers.user_frame(sys._getframe(1))
        era = callers.era_of(frame) if frame is not None else Era.TODAY
        return name if era is Era.TODAY else weight_names.in_era(self, name, era)

    return property(get)


def _ordered_weights(original: Any) -> property:
    def get(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY:
            return original.__get__(self, type(self))
        from parallel_compat.legacy import weight_order

        return weight_order.weights(self, era)

    return property(get)


def _weights_as_variables(original: Any) -> property:
    """`layer.variables` were the weights; Keras 3 lists states, seeds and the variables of metrics as well."""

    def get(self: Any) -> Any:
        frame = sys._getframe(1)
        if not callers.is_users(frame) or callers.era_of(frame) is Era.TODAY:
            return original.__get__(self, type(self))
        from parallel_compat.legacy import weight_order

        return weight_order.weights(self, callers.era_of(frame))

    return property(get)


def _losses(original: Any) -> property:
    def get(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY:
            return original.__get__(self, type(self))
        from parallel_compat.legacy import layer_losses

        of_graph = layer_losses.are_symbolic(self) and not (
            era is Era.TF_KERAS_2_2 and layer_losses.were_computed(self)
        )
        return layer_losses.losses(self) if of_graph else original.__get__(self, type(self))

    return property(get)


def _get_weights(original: Any) -> Any:
    @_like(original)
    def get_weights(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY:
            return original(self)
        from parallel_compat.legacy import weight_order

        return weight_order.get_weights(self, era)

    return get_weights


def _count_params(original: Any) -> Any:
    @_like(original)
    def count_params(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if frame is None or callers.era_of(frame) is not Era.TF_KERAS_1_15 or not self.built:
            return original(self)
        from parallel_compat.legacy import weight_order

        return weight_order.count_params(self, Era.TF_KERAS_1_15)

    return count_params


def _set_weights(original: Any) -> Any:
    @_like(original)
    def set_weights(self: Any, weights: Any) -> None:
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY:
            original(self, weights)
            return
        from parallel_compat.legacy import weight_order

        weight_order.set_weights(original, self, era, weights)

    return set_weights


def _trainable(original: Any) -> property:
    compares = patch_points.code_that_compares_before_it_sets()

    def get_flag(self: Any) -> Any:
        asking = sys._getframe(1)
        if asking.f_code in compares:
            # `model.trainable = True` says it to the layers inside too, whatever the model's own flag was before.
            return None
        frame = callers.user_frame(asking)
        if frame is None or callers.era_of(frame) is not Era.KERAS_2_2_4:
            return original.fget(self)
        from parallel_compat.legacy import own_trainable

        return own_trainable.own(self, original.fget)

    def set_flag(self: Any, value: Any) -> None:
        asking: FrameType | None = sys._getframe(1)
        while asking is not None and asking.f_code.co_name == "__setattr__":  # Keras's, and what wraps it
            asking = asking.f_back
        frame = callers.user_frame(asking)
        if frame is None or callers.era_of(frame) is not Era.KERAS_2_2_4:
            original.fset(self, value)
            return
        from parallel_compat.legacy import own_trainable

        own_trainable.set_own(original.fset, self, value)

    return property(get_flag, set_flag)


def _call_of_lambda(original: Any) -> Any:
    from keras.layers import Lambda as type_of_lambda

    @_like(original)
    def __call__(self: Any, inputs: Any, *given: Any, **keywords: Any) -> Any:
        call = super(type_of_lambda, self).__call__  # with what else is put on layers, before this or after
        if not patch_points.any_symbolic(inputs):
            return call(inputs, *given, **keywords)
        from parallel_compat.backend.keras3 import counted_calls
        from parallel_compat.legacy import as_of_now, closures

        if object_eras.era_of_object(self).has_graphs:
            vars(self)["function"] = as_of_now.as_of_now(as_of_now.given(self.function))
        inputs = closures.capture(self, inputs)
        outputs = call(inputs, *given, **keywords)
        if as_of_now.given(self.function) is not self.function:
            counted_calls.begin_last_call_with(self, {"function": self.function})
        return outputs

    return __call__


def _input_without_mask(original: Any) -> property:
    def get(self: Any) -> Any:
        if callers.user_frame(sys._getframe(1)) is not None:
            from parallel_compat.legacy import nodes

            if nodes.has_mask_among_inputs(self):
                return nodes.get_input_at(self, 0)
        return original.__get__(self, type(self))

    return property(get)


def _alone(original: Any) -> property:
    """`Model([x], [y]).output` is y; Keras 3 keeps the list that was given."""

    def get(self: Any) -> Any:
        value = original.__get__(self, type(self))
        if isinstance(value, (list, tuple)) and len(value) == 1:
            frame = callers.user_frame(sys._getframe(1))
            if frame is not None and callers.era_of(frame) is not Era.TODAY:
                return value[0]
        return value

    return property(get, original.fset)


def _input_of_input_layer(original: Any) -> property:
    row = members()["input"][0]

    def get(self: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if frame is None:
            return original.__get__(self, type(self))
        usage.record("InputLayer.input", row.new or "", frame)
        return lookup.fetch(row.new or "")(self)

    return property(get)


def _reset_states(self: Any, states: Any = None) -> None:
    from parallel_compat.legacy.layers import reset_states

    reset_states(self, states)


# --- callbacks ----------------------------------------------------------------------------------------------------


def _callbacks(patches: Patches, keras: Any) -> None:
    from parallel_compat.legacy import callback_hooks
    from parallel_compat.legacy.numbers import batch_logs
    from parallel_compat.legacy.numbers.logs import logs_of

    callback = keras.callbacks.Callback
    for name in patch_points.FIELDS_OF_CALLBACKS:
        patches.set(callback, name, None, why="there without `super().__init__()` as well")
    keras3.let_callbacks_set_their_model(patches)
    patches.wrap(keras.callbacks.History, "__init__", _history_init, why="old names of logs")
    set_params = _looking_alike(lambda _: callback_params.set_params)
    patches.wrap(callback, "set_params", set_params, why="what `params` had in Keras 2")
    for hook in ("on_batch_begin", "on_batch_end"):
        make = functools.partial(_by_place, hook=hook)
        patches.wrap(callback, hook.replace("on_", "on_train_"), make, why="hooks name arguments as they like")
    for kind in (keras.callbacks.LearningRateScheduler, keras.callbacks.ReduceLROnPlateau):
        patches.wrap(kind, "on_epoch_end", _logging_lr, why="the rate is logged as `lr`")
    patches.wrap(keras.callbacks.CSVLogger, "on_epoch_end", _writing_what_is_logged, why="columns are what is logged")
    for points, why in (
        (patch_points.of_logs(logs_of), "old names of logs, and their order"),
        (patch_points.of_monitors(_old_monitor_op), 'what `mode="auto"` was'),
        (
            batch_logs.points(),
            "logs of batches and means of epochs as the era counted",
        ),
        (callback_hooks.points(), "hooks that Keras 2.2.4 did not know are not called in its era"),
    ):
        for owner, name, wrap in points:
            patches.wrap(owner, name, wrap, why=why)


def _by_place(original: Any, hook: str) -> Any:
    @functools.wraps(original)  # with the mark by which Keras knows hooks that do nothing
    def on_train_batch(self: Any, batch: Any, logs: Any = None) -> None:
        getattr(self, hook)(batch, logs)

    return on_train_batch


def _history_init(original: Any) -> Any:
    from parallel_compat.legacy.numbers.logs import Logs

    @_like(original)
    def __init__(self: Any) -> None:
        original(self)
        self.history = Logs()

    return __init__


def _logging_lr(original: Any) -> Any:
    @_like(original)
    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        with _rate_by_its_name(self.model.optimizer):
            original(self, epoch, logs)
        if logs is not None and object_eras.era_of_object(self.model) is not Era.TODAY:
            rename_rate(logs)

    return on_epoch_end


@contextlib.contextmanager
def _rate_by_its_name(optimizer: Any) -> Iterator[None]:
    """Let an optimizer of the user's own that has a variable `lr` alone have it as `learning_rate`, for a while."""
    if hasattr(optimizer, "learning_rate") or not hasattr(getattr(optimizer, "lr", None), "assign"):
        yield
        return
    optimizer.learning_rate = optimizer.lr
    try:
        yield
        optimizer.lr.assign(optimizer.learning_rate)
    finally:
        del optimizer.learning_rate


def _writing_what_is_logged(original: Any) -> Any:
    @_like(original)
    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        if self.keys is None and object_eras.era_of_object(self.model) is not Era.TODAY:
            self.keys = sorted(logs or ())  # Keras 3 adds columns for validation where there is none
        original(self, epoch, logs)

    return on_epoch_end


def _old_monitor_op(callback: Any) -> None:
    from parallel_compat.legacy.callbacks import set_old_monitor_op

    set_old_monitor_op(callback)


# --- models -------------------------------------------------------------------------------------------------------


# Those of `model_methods.METHODS` that models have.
_METHODS = (
    "compile",
    "fit",
    "evaluate",
    "predict",
    "predict_on_batch",
    "save",
    "save_weights",
    "load_weights",
    "summary",
    "to_json",
    "train_on_batch",
    "test_on_batch",
)


# Those that go past Keras's loops where they are on arrays in memory.
_IN_MEMORY = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")


def _models(patches: Patches, kind: Any, *, own: bool = False) -> None:
    if not own:
        patches.wrap(kind, "metrics_names", _metrics_names, why="the names in their old order, for the user's code")
        for name in _IN_MEMORY:
            owner = next(each for each in kind.__mro__ if name in vars(each))
            patches.wrap(owner, name, functools.partial(_in_memory, name=name), why="arrays in memory, past `tf.data`")
    for name in _METHODS:
        # Where it is defined: Keras looks whether a model's class overrides `compile`.
        owner = kind if own else next(each for each in kind.__mro__ if name in vars(each))
        if name in vars(owner):
            patches.wrap(owner, name, functools.partial(_method, name=name, of=f"keras.Model.{name}"), why=_ARGUMENTS)


@functools.cache
def _loops() -> tuple[Any, Any]:
    """Return what calls a loop over arrays in memory, and what binds its arguments; imported when they are needed."""
    from parallel_compat.backend import keras3
    from parallel_compat.training import in_memory

    return in_memory.call, keras3.bind


@functools.cache
def _methods() -> dict[str, Any]:
    from parallel_compat.run import model_methods

    return model_methods.METHODS


def _in_memory(original: Any, name: str) -> Any:
    """Of arrays in memory, the loop of `parallel_compat.training.in_memory`; a parallel model calls it itself."""

    def general(self: Any, **arguments: Any) -> Any:
        from parallel_compat.training.trainable_flags import as_compiled

        with as_compiled(self):
            return original(self, **arguments)

    @_like(original)
    def method(self: Any, *given: Any, **keywords: Any) -> Any:
        parallel_model = sys.modules.get("parallel_compat.parallel_model")
        if parallel_model is not None and isinstance(self, parallel_model.ParallelModel):
            return original(self, *given, **keywords)
        call, bind = _loops()
        return call(name, self, functools.partial(general, self), bind(name, given, keywords))

    return method


def _order_of_validation(model: Any) -> Any:
    era = object_eras.era_of_object(model)
    if era is not Era.TF_KERAS_1_15:
        return False
    from parallel_compat.legacy.numbers import sample_order

    return sample_order.drawn(era, True)


def _goes_on(model: Any) -> bool:
    from parallel_compat.legacy.numbers import batch_logs

    return batch_logs.goes_on(model)


def _passes_of(model: Any, what: str, workers: int, is_validated: bool) -> Passes:
    """Return how a Sequence was passed through in the era of a model.

    Before TensorFlow 2 it was the workers that called `on_epoch_end`, who looked ten times a second whether a pass was
    over: after the last one, training was over first, unless there was a validation.
    """
    era = object_eras.era_of_object(model)
    if era is Era.TF_KERAS_2_2:  # that of training, asked for once in all, is in `fit`
        return Passes(again=True, first_twice=what != "training", runs_out=True)
    if not era.has_graphs:
        return Passes()
    again = era is Era.TF_KERAS_1_15 and what == "validation"
    if not workers:
        return Passes(again, ends=NEVER)
    return Passes(again, ends=AT_ONCE if what == "training" and is_validated else BEFORE_THE_NEXT)


def _first_targets(model: Any, targets: Any) -> None:
    from parallel_compat.legacy import compiled_metrics

    compiled_metrics.of_drawn_targets(model, targets)


def _epoch_logs(model: Any, data: Any) -> Any:
    from parallel_compat.legacy.numbers import epoch_logs

    return epoch_logs.of_model(model, data, object_eras.era_of_object(model))


def _method(original: Any, name: str, of: str) -> Any:
    """For the user's code the function of that name in `model_methods`, which is imported when it is needed."""

    @_like(original)
    def method(self: Any, *given: Any, **keywords: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if frame is None:
            result = original(self, *given, **keywords)
            if name == "compile":  # of a loaded or copied model, on behalf of the user's code
                _weigh(self, callers.era_of_caller())
            return result
        return _methods()[name](original, of, frame, self, *given, **keywords)

    return method


def _weigh(model: Any, era: Era) -> None:
    if era is not Era.TODAY:
        from parallel_compat.legacy.numbers import weighted_losses

        weighted_losses.weighed_as_in(era, model)


def _metrics_names(original: Any) -> property:
    def get(self: Any) -> Any:
        from parallel_compat.legacy.appended_metrics import Names
        from parallel_compat.legacy.compiled_metrics import metrics_names

        if callers.user_frame(sys._getframe(1)) is None:
            return original.fget(self)
        return Names(self, metrics_names(self))

    return property(get)


def _model_constructors(patches: Patches, keras: Any) -> None:
    """`Model(input=x, output=y)`: the class is chosen by the arguments, so they are translated there as well."""

    def wrap(original: Any) -> Any:
        def __new__(cls: Any, *given: Any, **keywords: Any) -> Any:
            return original.__func__(cls, *given, **_inputs_and_outputs(keywords, None))

        return staticmethod(__new__)

    patches.wrap(keras.Model, "__new__", wrap, why=_ARGUMENTS)
    for kind in (keras.Model, patch_points.functional_class()):
        patches.wrap(kind, "__init__", _model_init, why=_ARGUMENTS)


def _wrapper_of_parallel_model(cls: Any, /, **keywords: Any) -> None:
    """Let a class that takes over a parallel model's `__dict__` have its methods as well (`ModelMGPU`).

    The class was passed around to save the template while training the parallel model: its `__init__` calls
    `multi_gpu_model` and `self.__dict__.update(parallel.__dict__)`. In Keras 2 all that a model did was in its
    `__dict__`; today the split is a method.
    """
    super(_keras_model(), cls).__init_subclass__(**keywords)
    code = getattr(vars(cls).get("__init__"), "__code__", None)
    if code is None or cls.__bases__ != (_keras_model(),) or not {"__dict__", "update"} <= set(code.co_names):
        return
    if callers.user_frame(sys._getframe(1)) is None:
        return
    from parallel_compat.parallel_model import ParallelModel

    cls.__bases__ = (ParallelModel,)


def _reads_its_regularizer(cls: Any, /, **keywords: Any) -> None:
    """Let Keras 3's constructor pass by an `activity_regularizer` that a class computes: it assigns None."""
    super(sys.modules["keras"].layers.Layer, cls).__init_subclass__(**keywords)
    found = vars(cls).get("activity_regularizer")
    if not isinstance(found, property) or found.fset is not None or not callers.is_class_of_user(cls):
        return

    def assign(self: Any, value: Any) -> None:
        if value is not None:
            raise AttributeError(f"property 'activity_regularizer' of {type(self).__name__!r} object has no setter")

    cls.activity_regularizer = found.setter(assign)


def _keras_model() -> Any:
    return sys.modules["keras"].Model


def _end_of_sequential(original: Any, name: str) -> property:
    """`Sequential.input` and `.output` before the model is called: those it is made of."""

    def get(self: Any) -> Any:
        ends = getattr(self, f"{name}s") if self.built else None
        if not ends:
            return original.__get__(self, type(self))
        return ends[0] if len(ends) == 1 else ends

    return property(get)


def _build_of_sequential(original: Any) -> Any:
    """`Sequential.build(shape)` of a model that has an input: it kept that, whatever the shape (in all eras).

    Where the input is known by the first batch alone, tf.keras called `model.layers` one after another, which lists a
    layer that was added twice once: it was called once.
    """

    @functools.wraps(original)
    def build(self: Any, input_shape: Any = None) -> None:
        era = object_eras.era_of_object(self)
        known = getattr(self, "inputs", None) if era is not Era.TODAY else None
        if era.is_tf_keras and not known:
            layers.call_each_once(self)
        original(self, tuple(known[0].shape) if known else input_shape)

    del build.__wrapped__  # by which the signature of the bound method would be read with its `self`
    return build


def _each_layer_once(original: Any) -> property:
    """`model.layers`, by which configurations, files and summaries go, too."""

    def get(self: Any) -> Any:
        found = original.__get__(self, type(self))
        if object_eras.era_of_object(self) is Era.TODAY:
            return found
        return list({id(layer): layer for layer in found}.values())

    return property(get, original.fset)


def _model_init(original: Any) -> Any:
    @_like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        if len(given) == 1 and isinstance(given[0], str):  # of a class of the user's: `super().__init__("policy")`
            keywords = {"name": given[0], **keywords}
            given = ()
        original(self, *given, **_inputs_and_outputs(keywords, callers.user_frame(sys._getframe(1))))
        names = vars(self).get("output_names")
        if names and len(set(names)) < len(names) and callers.era_of_caller() is not Era.TODAY:
            self.output_names = _told_apart(names)

    return __init__


def _told_apart(names: list[str]) -> list[str]:
    """Return the names of outputs as tf.keras told equal ones apart (`Network._set_output_names`): `a`, `a_1`.

    Keras 2.2.4 had several of one name, and told their losses apart by their places.
    """
    found: list[str] = []
    counts: dict[str, int] = {}
    for name in names:
        proposal = name
        while proposal in found:
            proposal = f"{name}_{counts.setdefault(name, 1)}"
            counts[name] += 1
        found.append(proposal)
    return found


def _inputs_and_outputs(keywords: dict[str, Any], frame: FrameType | None) -> dict[str, Any]:
    if not keywords.keys() & {"input", "output"}:
        return keywords
    note = _note("keras.Model", frame) if frame is not None else lambda given, became: None
    return translate("keras.Model", (), keywords, note)[1]


def _note(of: str, frame: FrameType) -> Callable[[str, str], None]:
    short = of.removeprefix("keras.").rpartition(".")[2]

    def note(given: str, became: str) -> None:
        usage.record(f"{short}({given})", became, frame)

    return note


def _warn(text: str, frame: FrameType) -> None:
    """Warn where the user's code is."""
    from parallel_compat.warning_category import ParallelCompatWarning

    warnings.warn_explicit(text, ParallelCompatWarning, frame.f_code.co_filename, frame.f_lineno)


def _looking_alike(wrap: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let what `wrap` returns pass for what it wraps."""
    return lambda original: _like(original)(wrap(original))


def _like(original: Any) -> Callable[[Any], Any]:
    """Let a function pass for another one: Keras reads names, docstrings and signatures of its methods."""

    def decorate(function: Any) -> Any:
        functools.update_wrapper(function, original)
        del function.__wrapped__
        function.__signature__ = inspect.signature(original)
        return function

    return decorate
