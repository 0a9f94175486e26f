"""The replicas: one `tf.distribute` strategy per set of devices, and how a batch is cut for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import keras
import tensorflow as tf

from parallel_compat.training.weight_exchange import WeightExchange, check_weights, is_dense_gradient

T = TypeVar("T")
_strategies: dict[tuple[str, ...], tf.distribute.Strategy] = {}
_of_workers: tf.distribute.Strategy | None = None


def strategy_on(devices: Sequence[str]) -> tf.distribute.Strategy:
    """Return the one `MirroredStrategy` of this process on `devices`.

    Models on the same devices share it, so that a GAN's discriminator and combined model can be trained in
    turn. On CPU devices and on parts of one GPU values are reduced to one device, which needs no collective
    operation: after a failed step a collective one refuses every later step ("Collective ops is aborted ...
    Restart your program", TensorFlow 2.21), and NCCL takes a physical GPU only once.

    Returns:
        The strategy; in one of several workers that of all of them.

    Raises:
        ValueError: in one of several workers, other devices than those of each worker.
    """
    key = tuple(devices)
    if _of_workers is not None:
        here = [name.rpartition("device:")[2] for name in _of_workers.extended.worker_devices]
        if sorted(key) != sorted(here):
            raise ValueError(
                f"Expected {len(here)} device(s), {', '.join(here)}, in a model on several workers: all devices of "
                f"each. Received: {', '.join(key)}."
            )
        return _of_workers
    if key not in _strategies:
        split_gpu = len(tf.config.list_physical_devices("GPU")) < len(key)
        one_device = split_gpu or any(name.startswith("CPU") for name in key)
        operations = tf.distribute.ReductionToOneDevice() if one_device else tf.distribute.NcclAllReduce()
        _strategies[key] = tf.distribute.MirroredStrategy(list(key), cross_device_ops=operations)
    return _strategies[key]


def devices_in_use() -> list[tuple[str, ...]]:
    """Return the sets of devices on which models were made parallel in this process."""
    return list(_strategies)


def train_on_workers(strategy: tf.distribute.Strategy) -> None:
    """Let all parallel models of this process use the strategy of several workers."""
    global _of_workers
    _of_workers = strategy


def strategy_of_workers() -> tf.distribute.Strategy | None:
    """Return the strategy that `train_on_workers` was given; None in a process that trains alone."""
    return _of_workers


def check_strategy(strategy: Any) -> None:
    """Raise an error if a strategy does not have several replicas."""
    replicas = getattr(strategy, "num_replicas_in_sync", 0)
    if not isinstance(strategy, tf.distribute.Strategy) or replicas < 2:
        raise ValueError(
            "Expected `strategy` to be a `tf.distribute` strategy with two or more replicas. Received: "
            f"strategy={strategy!r}{f' with {replicas} replica' if replicas else ''}."
        )


class ReplicaSlice(NamedTuple):
    """The samples of the global batch that one replica computes."""

    start: Any  # int32 scalar, the first sample
    size: Any  # int32 scalar, how many of the samples are this replica's own; 0 if the batch is too small
    # Int32 scalar, `max(size, 1)`: a replica without samples computes a copy of the first sample, which then counts
    # nowhere, because layers and kernels do not all survive an empty batch (the mean of no samples is NaN).
    padded: Any


class Replicas:
    """The replicas of a parallel model."""

    def __init__(self, strategy: tf.distribute.Strategy, weights: str = "one device") -> None:
        self.strategy = strategy
        self.count: int = strategy.num_replicas_in_sync
        self._here = len(strategy.extended.worker_devices)
        self.weights = check_weights(weights, strategy)
        self._exchange = WeightExchange(strategy.extended.worker_devices) if self.weights == "mirrored" else None

    @property
    def several_workers(self) -> bool:
        """Whether some of the replicas are other processes' (MultiWorkerMirroredStrategy)."""
        return self._here < self.count

    @property
    def is_chief(self) -> bool:
        """Whether this process is the one that writes files: the chief, or worker 0 where there is none."""
        resolver = self.strategy.cluster_resolver
        if not self.several_workers or resolver is None or resolver.task_type is None:
            return True
        if "chief" in resolver.cluster_spec().jobs:
            return bool(resolver.task_type == "chief")
        return bool(resolver.task_id == 0)

    def here(self, replica: int) -> int:
        """The position of `replica` among the replicas of this process."""
        return replica % self._here

    def gather(self, parts: list[Any], sizes: Sequence[Any]) -> list[Any]:
        """Make a value of each of this process's replicas one of all replicas, by collecting it from other workers.

        Args:
            parts: a tensor of shape `(size, ...)` for each replica of this process.
            sizes: the size of every replica's tensor, ints or int32 scalars.

        Returns:
            A tensor for each replica. Those of this process are the ones given, so that gradients flow to them.
        """
        if not self.several_workers:
            return parts
        dtype = parts[0].dtype
        sendable = [tf.cast(part, tf.int32) if dtype == tf.bool else part for part in parts]

        def on_replica(replica: int) -> Any:
            # A copy on the replica's device, because the strategy sends from where a value is.
            own = tf.identity(sendable[self.here(replica)])
            return tf.distribute.get_replica_context().all_gather(own, axis=0)

        gathered = self.run(on_replica)
        pieces = tf.split(tf.cast(gathered[0], dtype), tf.stack([tf.cast(size, tf.int32) for size in sizes]))
        return self._with_own(pieces, parts)

    def gather_values(self, parts: list[Any]) -> list[Any]:
        """Like `gather`, for one value of the same shape, scalars too, on each replica."""
        if not self.several_workers:
            return parts
        pieces = self.gather([tf.expand_dims(part, 0) for part in parts], [1] * self.count)
        return self._with_own([tf.squeeze(piece, 0) for piece in pieces], parts)

    def gather_scalars_and_arrays(self, parts: list[list[Any]]) -> list[list[Any]]:
        """Like `gather_values`, for many values of each replica, which are sent together.

        Args:
            parts: for each replica of this process, tensors of fully known shapes, or None. They have the same shapes
                and dtypes on all replicas.
        """
        if not self.several_workers:
            return parts
        found: list[list[Any]] = [[None] * len(parts[0]) for _ in range(self.count)]
        for dtype in {value.dtype for value in parts[0] if value is not None}:
            chosen = [i for i, value in enumerate(parts[0]) if value is not None and value.dtype == dtype]
            sizes = [parts[0][i].shape.num_elements() for i in chosen]
            vectors = [tf.concat([tf.reshape(values[i], [-1]) for i in chosen], 0) for values in parts]
            for replica, vector in enumerate(self.gather_values(vectors)):
                for i, value in zip(chosen, tf.split(vector, sizes), strict=True):
                    found[replica][i] = tf.reshape(value, parts[0][i].shape)
        return self._with_own(found, parts)

    def _with_own(self, pieces: Sequence[Any], parts: Sequence[Any]) -> list[Any]:
        own = set(self.run(lambda replica: replica))
        return [parts[self.here(i)] if i in own else piece for i, piece in enumerate(pieces)]

    def sum(self, parts: Sequence[Sequence[Any]]) -> list[Any]:
        """Add up values over all replicas, those of other workers too.

        Args:
            parts: for each replica of this process, its tensors, `tf.IndexedSlices` or None.

        Returns:
            The sum of each, `tf.IndexedSlices` only if all its parts are, and None if all are None.
        """
        sums = [add(values) for values in zip(*parts, strict=True)]
        present = [i for i, value in enumerate(sums) if value is not None]
        if self.several_workers and present:
            dense = [tf.convert_to_tensor(sums[i]) for i in present]

            def on_replica(replica: int) -> list[Any]:
                copy = tf.identity if self.here(replica) == 0 else tf.zeros_like
                own = [copy(value) for value in dense]
                reduced: list[Any] = tf.distribute.get_replica_context().all_reduce("SUM", own)
                return reduced

            for i, value in zip(present, self.run(on_replica)[0], strict=True):
                sums[i] = value
        return sums

    def send(self, variables: Sequence[keras.Variable], back: bool) -> list[dict[int, Any]]:
        """Send values of variables to the replicas of this process, by way of each other.

        Args:
            back: whether gradients will come back.

        Returns:
            For each of them the values by the variables' ids; it reads the others itself.
        """
        return [{} for _ in range(self._here)] if self._exchange is None else self._exchange.send(variables, back)

    def sum_gradients(self, parts: Sequence[Sequence[Any]], variables: Sequence[keras.Variable]) -> list[Any]:
        """Add up gradients as `sum`; those of variables that `send` sends take the same way back."""
        if self._exchange is None:
            return self.sum(parts)
        routes = self._exchange.routes(variables)
        return [
            self._exchange.sum(values, routes[id(variable)])
            if is_dense_gradient(values, routes[id(variable)])
            else add(values)
            for values, variable in zip(zip(*parts, strict=True), variables, strict=True)
        ]

    def check_same(self, batch: Any) -> None:
        """Fail where the workers were fed different batches: each computes its own samples of what all have.

        Their numbers of samples and the sum of each tensor are compared.
        """
        if not self.several_workers:
            return
        leaves = [leaf for leaf in keras.tree.flatten(batch) if isinstance(leaf, tf.Tensor)]
        known = [leaf for leaf in leaves if leaf.dtype.is_floating or leaf.dtype.is_integer or leaf.dtype.is_bool]
        sums = [tf.reduce_sum(tf.cast(leaf, tf.float64)) for leaf in known]
        if not sums:
            return
        own = tf.stack([tf.cast(sample_count(batch), tf.float64), *sums])
        for other in self.gather_values([own] * self._here):
            tf.debugging.assert_equal(
                own,
                other,
                "Expected the same global batch on all workers, each of which computes its part of it. Received "
                "different ones: seed what the script draws, and let each worker read the same files in the same "
                "order. (number of samples, sum of each tensor)",
            )

    def take_from_chief(self, variables: Sequence[keras.Variable]) -> None:
        """Give every worker the first worker's values, as `MultiWorkerMirroredStrategy` does for variables it makes."""
        if not self.several_workers:
            return

        def of_chief() -> list[Any]:
            return [self.gather_values([variable.value] * self._here)[0] for variable in variables]

        for variable, value in zip(variables, tf.function(of_chief)(), strict=True):
            variable.assign(value)

    def run(self, function: Callable[[int], T]) -> list[T]:
        """Call `function(replica)` once on each replica's device and return what each returned, in order."""
        results: dict[int, T] = {}

        def on_replica() -> None:
            replica = replica_number()
            results[replica] = function(replica)

        self.strategy.run(on_replica)
        return [results[replica] for replica in sorted(results)]

    def samples(self, batch: Any) -> list[ReplicaSlice]:
        """Cut the samples of a batch as the real `multi_gpu_model` did.

        Each replica gets `samples // replicas` samples in order, the last one also the rest
        (`get_slice` in Keras 2.2.4's `multi_gpu_utils.py`).
        """
        total = sample_count(batch)
        step = total // self.count
        cuts = []
        for replica in range(self.count):
            start = replica * step
            size = step if replica < self.count - 1 else total - start
            cuts.append(ReplicaSlice(start, size, max(size, 1) if isinstance(size, int) else tf.maximum(size, 1)))
        return cuts


def add(parts: Sequence[Any]) -> Any:
    """Add up tensors, `tf.IndexedSlices` (an embedding's gradient) and None.

    Returns:
        The sum, `tf.IndexedSlices` only if all parts are; None if all parts are.
    """
    present = [part for part in parts if part is not None]
    if not present:
        return None
    if all(isinstance(part, tf.IndexedSlices) for part in present):
        return tf.IndexedSlices(
            tf.concat([part.values for part in present], 0),
            tf.concat([part.indices for part in present], 0),
            present[0].dense_shape,
        )
    return tf.add_n([tf.convert_to_tensor(part) for part in present])


def replica_number() -> int:
    """The number of the replica that this thread computes."""
    return int(tf.get_static_value(tf.distribute.get_replica_context().replica_id_in_sync_group))


def sample_count(batch: Any) -> Any:
    """Count the samples of a batch: an int where the shape is static, else an int32 scalar tensor."""
    leaves = [leaf for leaf in keras.tree.flatten(batch) if leaf is not None]
    static = {leaf.shape[0] for leaf in leaves} - {None}
    if len(static) > 1:
        shapes = [tuple(leaf.shape) for leaf in leaves]
        raise ValueError(f"Expected inputs with the same number of samples. Received inputs of shapes {shapes}.")
    if static:
        return int(static.pop())
    first = leaves[0]
    if isinstance(first, tf.RaggedTensor):
        return tf.cast(first.nrows(), tf.int32)
    if isinstance(first, tf.SparseTensor):
        return tf.cast(first.dense_shape[0], tf.int32)
    return tf.shape(first)[0]


def take_samples(batch: Any, start: Any, size: Any) -> Any:
    """Take `size` samples from `start` on of every tensor of a batch, on the host where the batch is.

    Only a replica's own samples then travel to its device.
    """

    def take(leaf: Any) -> Any:
        if leaf is None:
            return None
        if isinstance(leaf, tf.SparseTensor):
            begin = tf.one_hot(0, leaf.shape.rank, on_value=tf.cast(start, tf.int64), dtype=tf.int64)
            extent = tf.concat([[tf.cast(size, tf.int64)], leaf.dense_shape[1:]], 0)
            return tf.sparse.slice(leaf, begin, extent)
        return leaf[start : start + size]

    with tf.device("/CPU:0"):
        return keras.tree.map_structure(take, batch)


def concatenate_samples(parts: list[Any]) -> Any:
    """Concatenate the replicas' tensors along the samples; their mean where they have none (scalars)."""
    first = parts[0]
    if isinstance(first, tf.SparseTensor):
        return tf.sparse.concat(0, parts)
    return tf.concat(parts, 0)
