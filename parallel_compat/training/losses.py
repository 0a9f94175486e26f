"""Losses and metrics of the global batch: computed where the samples are where that is the same, else once.

A loss that gives each sample its own value is computed on the replicas, and only sums and counts travel; any other
(dice, focal over the number of positives) is computed once on the replicas' concatenated outputs, as the real
`multi_gpu_model` did for all. `compile` builds Keras's own containers (`CompileLoss`, `CompileMetrics`); each loss
and each output's metrics in them is replaced by one that knows its place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.context_variables import set_within
from parallel_compat.training.per_sample import is_per_sample
from parallel_compat.training.replica_pass import ReplicaPass
from parallel_compat.training.replicas import Replicas, ReplicaSlice

MERGE = ("auto", "always", "never")

# Metrics of Keras whose state is a sum over samples, so that the replicas' sums add up to the global batch's.
SUM_METRICS = (
    keras.metrics.Mean,
    keras.metrics.Sum,
    keras.metrics.MeanMetricWrapper,
    keras.metrics.RootMeanSquaredError,
    keras.metrics.AUC,
    keras.metrics.Precision,
    keras.metrics.Recall,
    keras.metrics.TruePositives,
    keras.metrics.TrueNegatives,
    keras.metrics.FalsePositives,
    keras.metrics.FalseNegatives,
    keras.metrics.SensitivityAtSpecificity,
    keras.metrics.SpecificityAtSensitivity,
    keras.metrics.PrecisionAtRecall,
    keras.metrics.RecallAtPrecision,
    keras.metrics.IoU,
    keras.metrics.FBetaScore,
    keras.metrics.R2Score,
)

# Functions of Keras that look at all labels of a batch to tell 0 and 1 from -1 and 1.
OF_ALL_LABELS = (keras.losses.hinge, keras.losses.squared_hinge)

# Which replica is computing in this thread; None outside the replicas, on the global batch.
_replica: ContextVar[int | None] = ContextVar("replica", default=None)


def on_replica(replica: int) -> contextlib.AbstractContextManager[None]:
    """Let losses and metrics called in this thread compute the samples of `replica`."""
    return set_within(_replica, replica)


def looks_at_all_labels(computed: keras.losses.Loss | keras.metrics.Metric) -> bool:
    """Whether a loss or a metric wraps one of `OF_ALL_LABELS`."""
    return keras3.compiled.function_of(computed) in OF_ALL_LABELS


class NotMerged:
    """Stands in the global batch for an output that no loss or metric needs there.

    Args:
        shape: its shape, `(samples or None, ...)`.
    """

    def __init__(self, index: int, shape: tuple[int | None, ...], dtype: Any) -> None:
        self.index = index
        self.shape = shape
        self.dtype = dtype


class SampleSums(NamedTuple):
    """What one replica contributes to a loss: sums over its samples, as scalars of the loss's dtype."""

    loss: Any  # the sum of the weighted values
    weights: Any  # the sum of the sample weights (masked), or None without weights
    mask: Any  # the number of unmasked entries, or None without a mask
    values_per_sample: Any  # how many values a sample has
    mask_per_sample: Any  # how many mask entries a sample has, or None


class PlacedLoss:
    """One loss of a compiled model, computed where its samples are or on the global batch."""

    def __init__(self, loss: keras.losses.Loss) -> None:
        self.loss = loss
        self.merged = True
        self.outputs: list[int] = []
        self.targets: Any = None
        self.predictions: Any = None
        self.sums: dict[int, SampleSums] = {}
        self.samples: Sequence[ReplicaSlice] = ()

    @property
    def name(self) -> str:
        return str(self.loss.name)

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        leaves = keras.tree.flatten(y_pred)
        replica = _replica.get()
        if replica is not None:
            if not self.merged:
                self.sums[replica] = self._sums(y_true, y_pred, sample_weight, self.samples[replica])
        elif not self.merged:
            return self._combine()
        elif not any(isinstance(leaf, NotMerged) for leaf in leaves):
            try:
                return self.loss(y_true, y_pred, sample_weight)
            except ValueError:
                self._values(y_true, y_pred)  # says so if it returns None
                raise
        else:  # the planning pass: which output is this, and what do its targets look like?
            self.outputs = [leaf.index for leaf in leaves]
            self.targets, self.predictions = y_true, y_pred
        return tf.zeros((), self.loss.dtype)

    def place(self, merge: str) -> None:
        """Decide where the loss is computed."""
        self.merged = merge == "always" or not (self._is_per_sample() or merge == "never")
        if merge == "never" and not self._can_be_taken_apart():
            raise ValueError(
                "Expected a loss with Keras's own `__call__` and a reduction for merge='never'. Received: "
                f"{self.loss}. Use merge='auto', which computes it on the global batch."
            )

    def _can_be_taken_apart(self) -> bool:
        own_call = type(self.loss).__call__ is not keras.losses.Loss.__call__
        nested = keras.tree.is_nested(self.predictions) or keras.tree.is_nested(self.targets)
        return not own_call and not nested and self.loss.reduction not in (None, "none")

    def _is_per_sample(self) -> bool:
        if not self._can_be_taken_apart():
            return False
        known = keras3.compiled.is_keras_loss(self.loss)
        return not looks_at_all_labels(self.loss) and is_per_sample(self._values, self.targets, self.predictions, known)

    def _values(self, y_true: Any, y_pred: Any) -> Any:
        """The loss before its reduction, as `Loss.__call__` computes it."""
        convert = keras.ops.convert_to_tensor
        values = self.loss.call(convert(y_true, self.loss.dtype), convert(y_pred, self.loss.dtype))
        return check_not_none(values, self.name)

    def _sums(self, y_true: Any, y_pred: Any, sample_weight: Any, samples: ReplicaSlice) -> SampleSums:
        # Follows Loss.__call__ and reduce_weighted_values of Keras 3.15, with the division left for the global batch.
        dtype = self.loss.dtype
        mask = keras3.layers.get_mask(y_pred)
        values = self._values(y_true, y_pred)
        out_mask = keras3.layers.get_mask(values)
        if out_mask is not None:
            mask = out_mask if mask is None else mask & out_mask
        values = tf.cast(values, dtype)
        padded = tf.cast(samples.padded, dtype)
        if values.shape.rank == 0:  # merge="never" for a function of the whole batch: the mean over samples' replicas
            weight = 1.0 if sample_weight is None else tf.reduce_mean(tf.cast(sample_weight, dtype))
            return SampleSums(values * weight * padded, None, None, tf.ones((), dtype), None)
        mask_count = mask_per_sample = weights = None
        if mask is not None:
            mask = tf.cast(mask, dtype)
            mask_count, mask_per_sample = tf.reduce_sum(mask), tf.cast(tf.size(mask), dtype) / padded
        if sample_weight is not None:
            sample_weight = keras3.compiled.spread(tf.cast(sample_weight, dtype), values)
        sample_weight = keras3.compiled.apply_mask(sample_weight, mask, dtype)
        if sample_weight is not None:
            values, sample_weight = keras3.compiled.squeeze_or_expand_to_same_rank(values, sample_weight)
            values = values * sample_weight
            weights = tf.reduce_sum(sample_weight)
        values_per_sample = tf.cast(tf.size(values), dtype) / padded
        return SampleSums(tf.reduce_sum(values), weights, mask_count, values_per_sample, mask_per_sample)

    def _combine(self) -> Any:
        """The loss of the global batch from the replicas' sums."""
        dtype = self.loss.dtype
        sums = [SampleSums(*self.sums[replica]) for replica in sorted(self.sums)]
        live = [tf.cast(cut.size > 0, dtype) for cut in self.samples]

        def add(values: list[Any]) -> Any:
            return tf.add_n([tf.math.multiply_no_nan(v, w) for v, w in zip(values, live, strict=True)])

        loss = add([s.loss for s in sums])
        if self.loss.reduction == "sum":
            return loss
        if self.loss.reduction == "mean_with_sample_weight" and sums[0].weights is not None:
            return tf.math.divide_no_nan(loss, add([s.weights for s in sums]))
        total = tf.cast(sum(cut.size for cut in self.samples), dtype)
        if sums[0].mask is not None and self.loss.reduction in ("mean", "sum_over_batch_size"):
            loss = loss * tf.math.divide_no_nan(sums[0].mask_per_sample * total, add([s.mask for s in sums]))
        return tf.math.divide_no_nan(loss, sums[0].values_per_sample * total)


def check_not_none(values: Any, name: str) -> Any:
    """Return the values of a loss.

    Raises:
        ValueError: they are None; TensorFlow's error would not name the loss.
    """
    if values is None:
        raise ValueError(
            f"Expected the loss `{name}` to return one value per sample, or one for the batch. Received: None. "
            "Does it end without `return`?"
        )
    return values


class PlacedMetrics(keras3.compiled.MetricsList):  # type: ignore[misc]  # Keras carries no types
    """The metrics of one output of a compiled model, each computed where its samples are or on the global batch."""

    def __init__(self, metrics: Any) -> None:
        super().__init__(metrics.metrics, name=metrics.name, output_name=metrics.output_name)
        self.output: int | None = None
        self.specs: tuple[Any, Any] = (None, None)
        self.merged_metrics: list[bool] = [True] * len(self.metrics)
        self.by_fraction: list[bool] = [False] * len(self.metrics)
        self.sums: dict[int, list[list[Any]]] = {}
        self.samples: Sequence[ReplicaSlice] = ()

    @property
    def merged(self) -> bool:
        return any(self.merged_metrics)

    def choices(self) -> dict[str, str]:
        """For each metric's name, where it is computed: "samples" or "merged"."""
        places = zip(self.metrics, self.merged_metrics, strict=True)
        return {metric.name: "merged" if merged else "samples" for metric, merged in places}

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        replica = _replica.get()
        if replica is not None:
            self.sums[replica] = [
                [] if merged else self._sums(metric, y_true, y_pred, sample_weight)
                for metric, merged in zip(self.metrics, self.merged_metrics, strict=True)
            ]
            return
        if self.output is None and isinstance(y_pred, NotMerged):  # the planning pass
            self.output, self.specs = y_pred.index, (y_true, y_pred)
            return
        for i, metric in enumerate(self.metrics):
            if self.merged_metrics[i]:
                self._update(metric, y_true, y_pred, sample_weight)
            else:
                self._add(i, metric)

    def _update(self, metric: keras.metrics.Metric, y_true: Any, y_pred: Any, sample_weight: Any) -> None:
        values = keras3.compiled.metric_values(metric)
        if values is not None and sample_weight is None and keras3.layers.get_mask(y_pred) is not None:
            value = values(y_true, y_pred)
            if value.shape.rank == 0:  # one number for the batch, which Keras 3 cannot mask
                keras.metrics.Mean.update_state(metric, value)
                return
        metric.update_state(y_true, y_pred, sample_weight=sample_weight)

    def place(self, merge: str) -> None:
        """Decide where each metric is computed; `merge` is "auto", "always" or "never"."""
        for i, metric in enumerate(self.metrics):
            per_sample = self._is_per_sample(metric)
            self.merged_metrics[i] = merge == "always" or not (per_sample or merge == "never")
            self.by_fraction[i] = not per_sample

    def _is_per_sample(self, metric: keras.metrics.Metric) -> bool:
        # A subclass may keep any state in any way: only Keras's own classes are known to add up.
        if not keras3.compiled.is_keras_metric(metric) or not isinstance(metric, SUM_METRICS):
            return False
        values = keras3.compiled.metric_values(metric)
        if values is None:
            return True
        known = keras3.compiled.is_keras_function(metric)
        return not looks_at_all_labels(metric) and is_per_sample(values, *self.specs, known)

    def _sums(self, metric: keras.metrics.Metric, y_true: Any, y_pred: Any, sample_weight: Any) -> list[Any]:
        zeros = [tf.zeros(v.shape, v.dtype) for v in metric.variables]
        sums: list[Any] = metric.stateless_update_state(zeros, y_true, y_pred, sample_weight=sample_weight)
        return sums

    def _add(self, i: int, metric: keras.metrics.Metric) -> None:
        total = sum(cut.size for cut in self.samples)
        for j, variable in enumerate(metric.variables):
            parts = []
            for replica, cut in enumerate(self.samples):
                weight = cut.size / total if self.by_fraction[i] else cut.size > 0
                parts.append(
                    tf.math.multiply_no_nan(self.sums[replica][i][j], tf.cast(weight, variable.dtype))
                    if variable.dtype.startswith("float")
                    else self.sums[replica][i][j] * tf.cast(weight, variable.dtype)
                )
            variable.assign_add(tf.add_n(parts))


class Placement:
    """Where each loss and metric of a compiled model is computed.

    Args:
        outputs: the model's symbolic outputs, in their structure.
        merge: "auto", "always" or "never", or one of them for each of some output names.
    """

    def __init__(
        self, compiled: keras3.compiled.Compiled, outputs: Any, names: Sequence[str], merge: str | Mapping[str, str]
    ) -> None:
        self._compiled = compiled
        self._outputs = outputs
        self._names = names
        self._merge = merge
        self._losses: list[PlacedLoss] = []
        self._metrics: list[PlacedMetrics] = []

    def stand_ins(self, samples: int | None = None) -> Any:
        """A `NotMerged` for each output, in the structure of the model's output."""
        leaves = enumerate(keras.tree.flatten(self._outputs))
        flat = [NotMerged(i, (samples, *leaf.shape[1:]), tf.as_dtype(leaf.dtype)) for i, leaf in leaves]
        return keras.tree.pack_sequence_as(self._outputs, flat)

    def decide(self, y: Any, sample_weight: Any) -> None:
        """Decide on the first batch, once Keras has built the losses and metrics."""
        # A step that was refused is traced again: its losses are in their places already.
        self._losses = self._compiled.replace_losses(
            lambda loss: PlacedLoss(loss.loss if isinstance(loss, PlacedLoss) else loss)
        )
        self._metrics = self._compiled.replace_metrics(PlacedMetrics)
        stand_ins = self.stand_ins()
        with keras.StatelessScope():  # the planning pass: each learns which output is its own
            self._compiled.loss(y, stand_ins, sample_weight)
            self._compiled.update_metrics(y, stand_ins, sample_weight)
        for loss in self._losses:
            loss.place(self._wanted(loss.outputs))
        for metrics in self._metrics:
            metrics.place(self._wanted([] if metrics.output is None else [metrics.output]))

    def start(self, samples: Sequence[ReplicaSlice]) -> None:
        """Start a step on a batch that is cut into `samples`."""
        for loss in self._losses:
            loss.samples = samples
        for metrics in self._metrics:
            metrics.samples = samples

    def on_samples(self, replica: int, y: Any, y_pred: Any, sample_weight: Any) -> list[Any]:
        """Compute on a replica's samples what belongs there, and return the tensors that the loss is made of."""
        here = [loss for loss in self._losses if not loss.merged]
        # What each loss adds to its own mean is counted once, on the global batch.
        with on_replica(replica), keras.StatelessScope():
            if here:
                self._compiled.loss(y, y_pred, sample_weight)
            if not all(all(metrics.merged_metrics) for metrics in self._metrics):
                self._compiled.update_metrics(y, y_pred, sample_weight)
        return [value for loss in here for value in loss.sums[replica] if value is not None]

    def gather_workers(self, replicas: Replicas) -> None:
        """Make the sums of `on_samples` those of all replicas, other workers' too."""
        if not replicas.several_workers:
            return
        here = sorted(replicas.run(lambda replica: replica))
        losses = [loss for loss in self._losses if not loss.merged]
        metrics = [each for each in self._metrics if not all(each.merged_metrics)]
        placed: list[PlacedLoss | PlacedMetrics] = [*losses, *metrics]
        structures = [[each.sums[replica] for each in placed] for replica in here]
        flat = replicas.gather_scalars_and_arrays([keras.tree.flatten(structure) for structure in structures])
        for replica, values in enumerate(flat):
            for each, sums in zip(placed, keras.tree.pack_sequence_as(structures[0], values), strict=True):
                each.sums[replica] = sums

    @property
    def outputs_needed(self) -> set[int]:
        """The numbers of the outputs that a loss or a metric needs on the global batch."""
        needed = {i for loss in self._losses if loss.merged for i in loss.outputs}
        return needed | {m.output for m in self._metrics if m.merged and m.output is not None}

    def global_outputs(self, passed: ReplicaPass) -> Any:
        """Merge the outputs that a loss or a metric needs on the global batch; the others have stand-ins."""
        needed = self.outputs_needed
        static = passed.sample_count if isinstance(passed.sample_count, int) else None
        stand_ins = enumerate(keras.tree.flatten(self.stand_ins(static)))
        flat = [passed.merged_output(i) if i in needed else stand_in for i, stand_in in stand_ins]
        return keras.tree.pack_sequence_as(passed.structure, flat)

    def choices(self) -> dict[str, dict[str, Any]]:
        """For each output name, where its loss and metrics are computed: "samples" or "merged"."""
        found: dict[str, dict[str, Any]] = {name: {"loss": None, "metrics": {}} for name in self._names}
        for loss in self._losses:
            for i in loss.outputs:
                found[self._names[i]]["loss"] = "merged" if loss.merged else "samples"
        for metrics in self._metrics:
            if metrics.output is not None:
                found[self._names[metrics.output]]["metrics"].update(metrics.choices())
        return found

    def _wanted(self, outputs: Sequence[int]) -> str:
        if isinstance(self._merge, str):
            return self._merge
        wanted = {self._merge.get(self._names[i], "auto") for i in outputs}
        return wanted.pop() if len(wanted) == 1 else "auto"


def check_merge(merge: str | Mapping[str, str], names: list[str]) -> None:
    """Refuse an argument `merge` that `parallelize` does not know."""
    by_name = dict.fromkeys(names, merge) if isinstance(merge, str) else dict(merge)
    added = by_name.pop("add_loss", "auto")
    unknown = sorted(set(by_name) - set(names))
    if unknown or not set(by_name.values()) <= set(MERGE) or added not in ("auto", "mean", "sum"):
        raise ValueError(
            f"Expected `merge` to be one of {MERGE}, or a dict of them by output name (the outputs are {names}), "
            f"with 'add_loss' as 'auto', 'mean' or 'sum'. Received: merge={merge!r}"
        )
