"""`Model.compile` with its old arguments: names of losses and metrics, optimizers by name, tensors for targets."""

from __future__ import annotations

import contextlib
import functools
import warnings
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3.assigned import derives_from_layer_alone
from parallel_compat.batches import epochs
from parallel_compat.legacy import (
    appended_metrics,
    as_of_now,
    closures,
    compile_checks,
    compiled_metrics,
    compiled_weights,
    data_tensors,
    first_outputs,
    kept_numbers,
    listed_weights,
    losses,
    metrics_updates,
    own_trainable,
    total_loss,
    trainable_paths,
)
from parallel_compat.legacy.numbers import (
    batch_logs,
    collected_updates,
    draws_of_functions,
    made_functions,
    metric_functions,
    weighted_losses,
)
from parallel_compat.names.defaults import of_era, optimizers_by_name
from parallel_compat.names.eras import Era
from parallel_compat.names.identifiers import COSINE_METRICS, COSINE_PROXIMITY, identifiers
from parallel_compat.run import callers, data_forms, object_eras, usage
from parallel_compat.run.method_arguments import flatten, is_parallel, note_of_method, translated
from parallel_compat.training.trainable_flags import keep_flags
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    Method = Callable[..., Any]


# In the order of Keras 2.
_ARGUMENTS = ("optimizer", "loss", "metrics", "loss_weights", "sample_weight_mode", "weighted_metrics")
_FITS_ARRAYS = "_parallel_compat_fits_arrays"


@contextlib.contextmanager
def trained_on_arrays(model: Any, era: Era) -> Iterator[None]:
    """Let `compile` say within the block that it does at once what it did with the next `fit` then.

    A `fit` on arrays of Keras 2.2.4 and TensorFlow 1.15 ended with the function that it had begun with
    (`training_arrays.py`); `fit_generator` called `train_on_batch`, which looks for the model's.

    Args:
        model: the model that is trained.
        era: in whose loop.
    """
    if not era.has_graphs:
        yield
        return
    vars(model)[_FITS_ARRAYS] = True
    try:
        yield
    finally:
        vars(model).pop(_FITS_ARRAYS, None)


def _say_at_once(model: Any) -> None:
    if vars(model).get(_FITS_ARRAYS):
        warnings.warn(
            f"`compile` of '{model.name}' while `fit` trains it on arrays counts from the next batch on. Before "
            "TensorFlow 2 it counted from the next `fit` on: for the results of then call `fit` once for the epochs "
            "before, compile, and call it again for those behind, with `initial_epoch`.",
            ParallelCompatWarning,
            stacklevel=4,
        )


def compile(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.compile` with metrics in third place, and the old names and defaults of strings."""
    era = callers.era_of(frame)
    _say_at_once(self)
    trains = getattr(self, "train_function", None) is not None
    object_eras.remember(self, era)
    made_functions.forget(self)
    draws_of_functions.forget(self)
    collected_updates.forget(self)
    if era is Era.TF_KERAS_2_2:
        draws_of_functions.trace_own_steps(self)
    as_given = {**dict(zip(_ARGUMENTS, given, strict=False)), **keywords}
    tensors: list[Any] = []
    if era.has_graphs or _only_stand_for_targets(keywords.get("target_tensors")):
        tensors = data_tensors.set_targets(self, targets := keywords.pop("target_tensors", None))
        if targets is not None:
            note_of_method(of, frame)(
                "target_tensors=", "variables are read in each step; placeholders' targets come as data"
            )
    if era.is_standalone:
        named = {**dict(zip(("optimizer", "loss"), given, strict=False)), **keywords}
        compile_checks.check(self, data_forms.output_names(self), named)
    if era.is_tf_keras and not isinstance(getattr(self, "output", None), dict):
        compile_checks.check_metrics(data_forms.output_names(self), keywords)
    given, keywords = translated(of, given, keywords, frame)
    keywords = {**dict(zip(("optimizer", "loss"), given, strict=False)), **keywords}
    if tensors:
        keywords["loss"] = _of_targets_like(tensors, keywords.get("loss"))
    keywords["loss"] = _without_tensors_left(keywords.get("loss"))
    if era.is_standalone and isinstance(keywords.get("optimizer"), str):
        keywords["optimizer"] = _optimizer(keywords["optimizer"], frame, era)
    if isinstance(keywords.get("optimizer"), keras.optimizers.Optimizer):
        keywords["optimizer"] = _for_one_compile(keywords["optimizer"], self if era.is_tf_keras else None, frame)
    if era is Era.TF_KERAS_2_2 and self.dtype_policy.name == "mixed_float16":
        from parallel_compat.legacy import mixed_precision

        keywords["optimizer"] = mixed_precision.with_loss_scale(keywords.get("optimizer", "rmsprop"))
    given_names = [keywords.get(name) for name in ("loss", "metrics", "weighted_metrics")]
    for name, kind in (("loss", "loss"), ("metrics", "metric"), ("weighted_metrics", "metric")):
        if name in keywords:
            keywords[name] = _renamed(keywords[name], kind, frame)
    count = len(getattr(self, "output_names", None) or ())
    for name in ("metrics", "weighted_metrics"):
        keywords[name] = _for_each_output(self, keywords.get(name))
    if era.is_standalone or keywords.get("loss") is not None:
        keywords = data_forms.for_outputs_with_loss(self, keywords, note_of_method(of, frame))
    if count > 1 and (isinstance(keywords.get("loss"), str) or callable(keywords.get("loss"))):
        keywords["loss"] = [keywords["loss"]] * count  # Keras 3 would give it one weight
    if era is not Era.TODAY:
        _weigh_by_name(self, keywords)
    if era.is_tf_keras and self.dynamic is True:
        keywords = {"run_eagerly": True, **keywords}
    appended_metrics.forget(self)
    metrics_updates.forget(self)
    total_loss.forget(self, targets=tensors, arguments=as_given)
    if callers.era_of(frame).is_standalone:
        own_trainable.settle(keras.Layer.trainable.fset, self)
        if callers.era_of(frame) is Era.KERAS_2_2_4:
            _tell_of_layers_in_layers(self)
    if era is not Era.TODAY:
        trainable_paths.settle(self, era)

    def in_pass(given: Any) -> Any:
        if era.has_graphs:
            given = keras.tree.map_structure(as_of_now.as_of_now, given)
        return keras.tree.map_structure(lambda each: closures.in_pass(each, self), given)

    for name in ("loss", "metrics", "weighted_metrics"):
        if keywords.get(name) is not None:
            keywords[name] = in_pass(keywords[name])
    given_names = [each if each is None else in_pass(each) for each in given_names]
    if era is Era.TODAY:
        result = original(self, **keywords)
    else:
        # Layers trained in any model that trained; Keras 3 tells a model alone whose `call` takes `training`.
        keras3.let_take(self, "training", True)
        of_era = compiled_metrics.of_compile(self, era, *given_names)
        keras3.forget_losses_and_metrics(self)
        result = original(self, **{**keywords, "metrics": of_era.metrics, "weighted_metrics": of_era.weighted_metrics})
        # What is written to files is what Keras can read.
        keras3.say_compiled_with(self, **{name: keywords[name] for name in ("metrics", "weighted_metrics")})
        compiled_metrics.remember(self, of_era)
    if isinstance(self, keras.Sequential):
        keras3.name_outputs(self, data_forms.output_names(self))
    if trains and epochs.of_training(self) is not None:  # in `fit_generator`, whose next batch it is for
        self.make_train_function()
    keras3.settle_losses(self, era.has_graphs)
    kept_numbers.settle_losses(self, era.has_graphs)
    batch_logs.begin(self)  # what was counted before is not gone on from
    weighted_losses.weighed_as_in(object_eras.trained_as(era), self)
    if era is not Era.TODAY and first_outputs.are_unknown(self):
        first_outputs.compile_with_first(self, era, keywords, given_names)
    if not is_parallel(self):  # which keeps its own
        keep_flags(self)
    if era is not Era.TODAY and self.built:
        compiled_weights.keep(self)
    return result


def _tell_of_layers_in_layers(model: Any) -> None:
    """Say which layers of the user's hold layers whose weights Keras 2.2.4 passed over: Keras 2.3 does not.

    Of those in lists and dicts neither had the weights.
    """
    for layer in keras3.all_layers(model):
        listed = [each.name for each in keras3.listed_and_left_out(layer) if each.weights or not each.built]
        if listed:
            warnings.warn(
                f"`{type(layer).__name__}` holds layers in a list, tuple or dict ({', '.join(listed)}). They are "
                "neither trained nor saved with it: Keras up to 2.3 passed over them. To train them set each as an "
                "attribute of its own, `setattr(self, name, layer)`, or use `tensorflow.keras`.",
                ParallelCompatWarning,
                stacklevel=5,
            )
        if type(layer).__module__.startswith(("keras.", "parallel_compat.")) or isinstance(layer, keras.Model):
            continue
        held = [each.name for each in keras3.layers_of(layer) if each.weights]
        if not held or not derives_from_layer_alone(layer) or listed_weights.lists_its_own(type(layer)):
            continue
        warnings.warn(
            f"`{type(layer).__name__}` holds layers ({', '.join(held)}) and lists none of their weights. They are "
            "trained and saved, as since Keras 2.3; Keras 2.2.4 passed over them. For its results freeze them before "
            "`compile`: set `trainable = False` on each.",
            ParallelCompatWarning,
            stacklevel=5,
        )


def _weigh_by_name(model: Any, keywords: dict[str, Any]) -> None:
    """Give each output the loss weight of its name, or 1: Keras 3 takes those of a dict by the alphabet."""
    weights, names = keywords.get("loss_weights"), data_forms.output_names(model)
    if not isinstance(weights, dict) or not names:
        return
    unknown = [name for name in weights if name not in names]
    if unknown:
        raise ValueError(f"Expected names of outputs in `loss_weights`: {names}. Received: {unknown}")
    loss = keywords.get("loss")
    if isinstance(loss, dict):
        keywords["loss_weights"] = {name: weights.get(name, 1.0) for name in loss}
    elif isinstance(loss, (list, tuple)):
        keywords["loss_weights"] = [weights.get(name, 1.0) for name in names]


def _of_targets_like(tensors: list[Any], loss: Any) -> Any:
    """Return losses that get targets of the dtypes of `target_tensors`: whole numbers for `tf.nn.ctc_loss`."""
    if isinstance(loss, (list, tuple)) and len(loss) == len(tensors):
        return [_of_targets_like([tensor], each) for tensor, each in zip(tensors, loss, strict=True)]
    if len(tensors) != 1 or tensors[0] is None or not isinstance(loss, FunctionType):
        return loss
    if "float" in (dtype := tensors[0].dtype):
        return loss

    @functools.wraps(loss)
    def of_whole_numbers(y_true: Any, y_pred: Any, *rest: Any, **named: Any) -> Any:
        return loss(keras.ops.cast(y_true, dtype), y_pred, *rest, **named)

    return of_whole_numbers


def _without_tensors_left(loss: Any) -> Any:
    """Return losses after which their objects hold no tensors of a step.

    `self.ratio = tf.constant(self.ratio)` in a loss was done once, for the one graph. Here a loss is called for each
    step that is traced, and the tensors of one are of no use in another.
    """
    if isinstance(loss, (list, tuple)):
        return [_without_tensors_left(each) for each in loss]
    if isinstance(loss, dict):
        return {name: _without_tensors_left(each) for name, each in loss.items()}
    if not isinstance(loss, MethodType) or isinstance(loss.__self__, (keras.losses.Loss, keras.Layer, type)):
        return loss

    @functools.wraps(loss)
    def of_one_step(*given: Any, **named: Any) -> Any:
        held = vars(loss.__self__)
        before = dict(held)
        try:
            return loss(*given, **named)
        finally:
            left = [name for name, value in held.items() if tf.is_symbolic_tensor(value)]
            for name in left:
                held.pop(name)
                if name in before:
                    held[name] = before[name]

    return of_one_step


def _only_stand_for_targets(tensors: Any) -> bool:
    """Say whether `target_tensors` holds nothing but placeholders, in whose place `fit` put the targets."""
    flat = flatten(tensors)
    return all(each is None or keras3.is_input(each) for each in flat)


def get_config(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.get_config`, of the layers alone, as the era spelled it."""
    with keras3.not_compiled(self):
        config = original(self, *given, **keywords)
    if frame.f_code.co_name == "get_config" or not isinstance(config, dict):  # of a class of the user's
        return config
    from parallel_compat.legacy import model_configs

    return model_configs.as_in_era(self, config, callers.era_of(frame)) or config


def to_json(original: Method, of: str, frame: FrameType, self: Any, /, **keywords: Any) -> Any:
    """`model.to_json`, of the layers alone, as the era wrote it."""
    from parallel_compat.legacy import model_configs

    model = self.template if is_parallel(self) else self
    with keras3.not_compiled(model):
        if model_configs.is_plain(model):
            text = model_configs.to_json(model, model.get_config(), callers.era_of(frame), **keywords)
            if text is not None:
                return text
        return original(self, **keywords)


def _optimizer(name: str, frame: FrameType, era: Era) -> Any:
    from parallel_compat.legacy import optimizers

    kind = {**optimizers_by_name(), "rmsprop": "RMSprop"}.get(name.lower())
    if kind is None:
        return name
    today = getattr(keras.optimizers, kind)
    made = today.__new__(today)
    of = f"keras.optimizers.{kind}"
    rows = ", ".join(f"{argument}={value}" for argument, value in of_era(of, era).items())
    usage.record(f"Model.compile(optimizer={name!r})", f"{of}({rows})", frame)
    optimizers.initialize(today.__init__, made, of, (), {}, era=era)
    return made


def _for_one_compile(optimizer: Any, model: Any, frame: FrameType) -> Any:
    """Return the optimizer, or a copy of one that was compiled before (in a GAN: one `Adam` for both models)."""
    from parallel_compat.legacy import optimizers

    given = optimizers.for_one_compile(optimizer, model)
    if given is not optimizer:
        usage.record(
            "Model.compile with an optimizer that was compiled before", "a copy with the same learning rate", frame
        )
    return given


def _for_each_output(model: Any, metrics: Any) -> Any:
    """Give a flat list of metrics to every output, as Keras 2 did; Keras 3 wants a list per output."""
    count = len(getattr(model, "output_names", None) or ())
    is_flat = isinstance(metrics, (list, tuple)) and not any(isinstance(m, (list, tuple, dict)) for m in metrics)
    return [list(metrics) for _ in range(count)] if count > 1 and is_flat and metrics else metrics


def _renamed(given: Any, kind: str, frame: FrameType) -> Any:
    if kind == "loss" and given is metric_functions.COSINE_LOSS:
        return keras.losses.cosine_similarity  # whose sign is the compiled model's
    if callers.era_of(frame) is Era.KERAS_2_2_4:
        old = losses.of_keras_2(given)
        if old is not None:
            usage.record(f"{kind} {old.__name__!r}", f"{old.__module__}.{old.__name__}", frame)
            return old
    if isinstance(given, str):
        if kind == "metric" and given in COSINE_METRICS:
            usage.record(f"{kind} {given!r}", COSINE_PROXIMITY, frame)
            return losses.cosine_proximity
        row = identifiers()[kind].get(given)
        if row is None:
            return given
        usage.record(f"{kind} {given!r}", repr(row.new), frame)
        return row.new
    if isinstance(given, dict):
        return {key: _renamed(value, kind, frame) for key, value in given.items()}
    if isinstance(given, (list, tuple)):
        return [_renamed(value, kind, frame) for value in given]
    return given
