"""What is put on models: their methods, metrics and constructors."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import (
    graphs_of_programs,
    held_metrics,
    layers,
    patch_points,
    symbolic_losses,
    users_strategies,
)
from parallel_compat.legacy.call_arguments import translate
from parallel_compat.names import lookup, resnet50
from parallel_compat.names.eras import Era
from parallel_compat.names.table import Change, Member
from parallel_compat.run import (
    callers,
    object_eras,
    usage,
)
from parallel_compat.run.patches.members import ForUsers
from parallel_compat.run.patches.wrapping import ARGUMENTS, like, noting

if TYPE_CHECKING:
    from types import FrameType

    from parallel_compat.backend.patches import Patches


def _compiled_loss(original: Any) -> Any:
    @like(original)
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
        from parallel_compat.legacy.numbers import draws_of_functions

        draws_of_functions.note_metrics()
        keras3.update_compiled_metrics(self._model, y_true, y_pred, sample_weight)


def _compiled_metrics(original: property) -> property:
    def get(self: Any) -> Any:
        if not object_eras.era_of_object(self).is_tf_keras:
            return original.__get__(self, type(self))
        return _CompiledMetrics(self)

    return property(get)


def _metrics_of_era(original: property) -> property:
    def get(self: Any) -> Any:
        metrics = [*original.__get__(self, type(self)), *symbolic_losses.metrics_of_nested(self)]
        if object_eras.era_of_object(self).is_tf_keras:
            metrics = held_metrics.as_logged(self, metrics)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_name in ("__getattribute__", "__getattr__"):  # which ask for others
            frame = frame.f_back
        if frame is None or not callers.is_users(frame):
            return metrics
        from parallel_compat.legacy import compiled_metrics

        return compiled_metrics.metrics_of_era(self, metrics)

    def set(self: Any, value: Any) -> None:
        if value is not None:  # by which scripts kept them out of a file, so that it could be loaded
            raise AttributeError(
                f"Expected the metrics of a model from `compile(metrics=)`. Received: {value!r}, assigned to `metrics`."
            )

    return property(get, set)


def put_on(patches: Patches, keras: Any) -> None:
    """Put everything on models."""
    put_on_models(patches, keras.Model)
    for kind in (patch_points.functional_class(), keras.Sequential):
        of_config = functools.partial(taking_old_arguments, name="get_config", of="keras.Model.get_config")
        patches.wrap(kind, "get_config", of_config, why="a config holds no arguments of `compile`")
    _constructors(patches, keras)
    patches.set(
        keras.Model,
        "__init_subclass__",
        classmethod(_wrapper_of_parallel_model),
        why="a class that takes over a parallel model's `__dict__` gets its methods (`ModelMGPU`)",
    )
    for owner, name, wrap in users_strategies.of_symbolic_builds():
        patches.wrap(
            owner, name, wrap, why="replicas of a user's strategy may have parts of a batch that differ in size"
        )
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
    name = patch_points.CALLS
    patches.set(keras.Model, name, _CallsForUsers(name), why="a model was called first where it was defined")
    patches.wrap(keras.Sequential, "__init__", _sequential_init, why="a layer alone, not in a list")
    patches.wrap(keras.Sequential, "pop", _pop, why="nothing is called on what the last layer returned")
    patches.wrap(
        keras.Sequential, "from_config", _sequential_of_config, why="`input_shape=` was part of a layer's configuration"
    )
    for kind in (keras.Model, keras.Sequential):
        patches.wrap(kind, "from_config", _model_of_era, why="configurations as the era spelled them")
        patches.wrap(kind, "layers", _each_layer_once, why="a layer that was added twice was listed once")
    patches.wrap(
        patch_points.functional_class(),
        "layers",
        symbolic_losses.with_layers_held,
        why="layers that a loss was computed by were the model's in tf.keras",
    )
    patches.wrap(keras.Model, "get_layer", _get_layer, why="the names that ResNet50's layers had until 2018")
    patches.wrap(
        keras.Model, "compiled_loss", _compiled_loss, why="TensorFlow 2.2 counted the loss, and added what is given"
    )
    patches.wrap(
        keras.Model, "compiled_metrics", _compiled_metrics, why="Keras 3 counts outputs as if they were losses"
    )
    patches.wrap(keras.Model, "metrics", _metrics_of_era, why="those of nested models; one by one, for the user's code")
    of_output = Member("keras.Model", "output_names", Change.PROVIDED, "parallel_compat.legacy.models.output_names")
    patches.set(
        keras.Sequential,
        of_output.old,
        ForUsers(of_output, lambda model: lookup.fetch(of_output.new or "")(model)),
        why="functional models have it today, too",
    )


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


def put_on_models(patches: Patches, kind: Any, *, own: bool = False) -> None:
    if not own:
        patches.wrap(kind, "metrics_names", _metrics_names, why="the names in their old order, for the user's code")
        owner = next(each for each in kind.__mro__ if "compute_loss" in vars(each))
        patches.wrap(owner, "compute_loss", _loss_of_none, why="metrics are enough to evaluate in TensorFlow 2.2")
        for name in _IN_MEMORY:
            owner = next(each for each in kind.__mro__ if name in vars(each))
            patches.wrap(owner, name, functools.partial(_in_memory, name=name), why="arrays in memory, past `tf.data`")
    for name in _METHODS:
        # Where it is defined: Keras looks whether a model's class overrides `compile`.
        owner = kind if own else next(each for each in kind.__mro__ if name in vars(each))
        if name in vars(owner):
            patches.wrap(
                owner, name, functools.partial(taking_old_arguments, name=name, of=f"keras.Model.{name}"), why=ARGUMENTS
            )


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

    @like(original)
    def method(self: Any, *given: Any, **keywords: Any) -> Any:
        parallel_model = sys.modules.get("parallel_compat.parallel_model")
        if parallel_model is not None and isinstance(self, parallel_model.ParallelModel):
            return original(self, *given, **keywords)
        call, bind = _loops()
        return call(name, self, functools.partial(general, self), bind(name, given, keywords))

    return method


def taking_old_arguments(original: Any, name: str, of: str) -> Any:
    """For the user's code the function of that name in `model_methods`, which is imported when it is needed."""

    @like(original)
    def method(self: Any, *given: Any, **keywords: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        with graphs_of_programs.left():
            if frame is not None:
                return _methods()[name](original, of, frame, self, *given, **keywords)
            result = original(self, *given, **keywords)
            if name == "compile":  # of a loaded or copied model, on behalf of the user's code
                _weigh(self, callers.era_of_caller())
            return result

    return method


def _weigh(model: Any, era: Era) -> None:
    if era is not Era.TODAY:
        from parallel_compat.legacy.numbers import weighted_losses

        weighted_losses.weighed_as_in(object_eras.trained_as(era), model)


def _metrics_names(original: Any) -> property:
    def get(self: Any) -> Any:
        from parallel_compat.legacy.appended_metrics import Names
        from parallel_compat.legacy.compiled_metrics import metrics_names

        if callers.user_frame(sys._getframe(1)) is None:
            return original.fget(self)
        return Names(self, metrics_names(self))

    def set(self: Any, value: Any) -> None:
        from parallel_compat.legacy import appended_metrics

        appended_metrics.assign_names(self, value)

    return property(get, set)


def _loss_of_none(original: Any) -> Any:
    """`compile(metrics=[...])` is enough to evaluate in TensorFlow 2.2, where the sum of no losses is 0."""

    @functools.wraps(original)
    def compute_loss(self: Any, *given: Any, training: bool = True, **keywords: Any) -> Any:
        from parallel_compat.backend import keras3

        if not training and object_eras.era_of_object(self) is Era.TF_KERAS_2_2:
            loss, *_ = keras3.compiled_parts(self)
            if loss is None and not self.losses:
                return sys.modules["keras"].ops.zeros(())
        return original(self, *given, training=training, **keywords)

    return compute_loss


def _constructors(patches: Patches, keras: Any) -> None:
    """`Model(input=x, output=y)`: the class is chosen by the arguments, so they are translated there as well."""

    def wrap(original: Any) -> Any:
        def __new__(cls: Any, *given: Any, **keywords: Any) -> Any:
            return original.__func__(cls, *given, **_inputs_and_outputs(keywords, None))

        return staticmethod(__new__)

    patches.wrap(keras.Model, "__new__", wrap, why=ARGUMENTS)
    for kind in (keras.Model, patch_points.functional_class()):
        patches.wrap(kind, "__init__", _model_init, why=ARGUMENTS)


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
        if era is not Era.TODAY and not known:
            layers.note_build(self)
            by_data = callers.user_frame(sys._getframe(1)) is None and not layers.begins_with_input(self)
            if by_data and isinstance(input_shape, tuple) and input_shape:
                input_shape = (None, *input_shape[1:])  # the size of the first batch was not the model's
        if era.is_tf_keras and not known:
            layers.call_each_once(self)
            layers.take_data_as_it_is(self, input_shape)
        if era is Era.TODAY or not layers.build_of_calls(self):
            original(self, tuple(known[0].shape) if known else input_shape)
        if era is not Era.TODAY and layers.with_several_outputs(self):
            kind = ValueError if era is Era.TF_KERAS_2_2 else TypeError
            raise kind(
                "All layers in a Sequential model should have a single output tensor. For multi-output layers, use the "
                f"functional API. Received: {layers.with_several_outputs(self)}."
            )

    del build.__wrapped__  # by which the signature of the bound method would be read with its `self`
    return build


class _CallsForUsers:
    """`model._inbound_nodes`, which for the user's code begins with the definition of the model."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is None:
            return self
        if self._name not in vars(instance):
            raise AttributeError(self._name)
        frame = sys._getframe(1)
        if not callers.is_users(frame) or callers.era_of(frame) is Era.TODAY:
            return vars(instance)[self._name]
        from parallel_compat.legacy import nodes

        return nodes.inbound_nodes(instance)

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self._name] = value


def _sequential_init(original: Any) -> Any:
    @like(original)
    def __init__(self: Any, layers: Any = None, *given: Any, **keywords: Any) -> None:
        if isinstance(layers, sys.modules["keras"].Layer) and callers.era_of_caller().is_tf_keras:
            layers = [layers]
        original(self, layers, *given, **keywords)

    return __init__


def _pop(original: Any) -> Any:
    @like(original)
    def pop(self: Any, rebuild: bool = True) -> Any:
        layer = original(self, rebuild)
        if object_eras.era_of_object(self) is not Era.TODAY and self.layers:
            layers.forget_calls_on(self.layers[-1])
        return layer

    return pop


def _sequential_of_config(original: Any) -> Any:
    """`Sequential.from_config`, also for files: a model of its first layers has an input, and weights, at once."""

    def from_config(cls: Any, config: Any, *given: Any, **keywords: Any) -> Any:
        model = original.__func__(cls, config, *given, **keywords)
        if callers.era_of_caller() is not Era.TODAY:
            from parallel_compat.legacy import cloning

            cloning.give_shape_of_input(model)
        return model

    return classmethod(from_config)


def _model_of_era(original: Any) -> Any:
    """`Model.from_config` and `Sequential.from_config` of what `model.get_config()` of the time said."""

    def from_config(cls: Any, /, config: Any, custom_objects: Any = None, **keywords: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if frame is not None and callers.era_of(frame) is not Era.TODAY:
            from parallel_compat.legacy import old_configs

            if old_configs.is_plain_model(cls) and old_configs.is_of_old(config):
                return old_configs.make_model(cls, config, custom_objects)
        return original.__func__(cls, config, custom_objects, **keywords)

    return classmethod(from_config)


def _each_layer_once(original: Any) -> property:
    """`model.layers`, by which configurations, files and summaries go, too."""

    def get(self: Any) -> Any:
        found = original.__get__(self, type(self))
        if object_eras.era_of_object(self) is Era.TODAY:
            return found
        return list({id(layer): layer for layer in found}.values())

    return property(get, original.fset)


def _model_init(original: Any) -> Any:
    @like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        if len(given) == 1 and isinstance(given[0], str):  # of a class of the user's: `super().__init__("policy")`
            keywords = {"name": given[0], **keywords}
            given = ()
        original(self, *given, **_inputs_and_outputs(keywords, callers.user_frame(sys._getframe(1))))
        names = vars(self).get("output_names")
        era = callers.era_of_caller()
        if names and len(set(names)) < len(names) and era is not Era.TODAY:
            from parallel_compat.legacy import compiled_metrics

            self.output_names = told_apart(names)
            if era.is_standalone:
                compiled_metrics.say_of_one_name(self, dict(zip(self.output_names, names, strict=True)))

    return __init__


def _get_layer(original: Any) -> Any:
    @functools.wraps(original)
    def get_layer(self: Any, name: str | None = None, index: int | None = None) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if name is not None and index is None and frame is not None and callers.era_of(frame) is not Era.TODAY:
            names = {layer.name for layer in self.layers}
            since = resnet50.names_since().get(name) if name not in names and resnet50.is_resnet50(names) else None
            if since in names:
                usage.record(f"Model.get_layer({name!r})", f"Model.get_layer({since!r})", frame)
                return original(self, since)
        if frame is not None and callers.era_of(frame).is_tf_keras:
            from parallel_compat.legacy import weight_order

            if weight_order.metrics_among_layers(self, callers.era_of(frame)):
                listed = weight_order.layers_with_metrics(self, callers.era_of(frame))
                if index is not None and index < len(listed):
                    return listed[index]
                found = next((each for each in listed if index is None and each.name == name), None)
                if found is not None:
                    return found
        return original(self, name, index)

    return get_layer


def told_apart(names: list[str]) -> list[str]:
    """Return the names of outputs as tf.keras told equal ones apart (`Network._set_output_names`): `a`, `a_1`.

    Keras 2.2.4 had several of one name: what it logged then is told by `compiled_metrics.shown_as`.
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
    note = noting("keras.Model", frame) if frame is not None else lambda given, became: None
    return translate("keras.Model", (), keywords, note)[1]
