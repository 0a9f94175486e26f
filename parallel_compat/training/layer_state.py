"""What a forward pass changes in the layers (moving statistics, counters, random seeds), merged over replicas.

Each replica runs the template inside a `keras.StatelessScope`: it reads the one set of variables, and what it
would write is caught. After the pass the replicas' values are merged and written once:

- floats that declare no other aggregation (BatchNormalization's moving statistics): the mean over replicas,
  weighted by samples, so that a replica without samples changes nothing;
- variables that declare `aggregation="sum"` (the state of metrics): the sum of the replicas' changes;
- integers and bools, and `aggregation="only_first_replica"`: the value of the last replica, the one that has
  samples in any batch;
- trainable variables (SpectralNormalization writes its kernel): as other floats, and the loss is differentiated with
  respect to what was read and what was written;
- random seeds: each replica starts from its own offset, so that replicas draw different numbers; what is kept
  is the first replica's state, the one that one device would have.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import call_context
from parallel_compat.training.replicas import ReplicaSlice

# Added to a seed, times the replica: a large prime, so that no replica meets another layer's small seed.
SEED_STRIDE = 1_327_217_909


class ReplicaScope(keras.StatelessScope):  # type: ignore[misc]  # Keras carries no types
    """Catches what a replica's layers write.

    Args:
        values: `(variable, value)` for each variable that is read from here.
        trainable: variables that are read as they are, and may be written.
    """

    def __init__(self, values: Sequence[tuple[keras.Variable, Any]], trainable: Sequence[keras.Variable]) -> None:
        super().__init__(values, collect_losses=True)
        self._trainable = {id(variable) for variable in trainable}
        self._known = {*self._trainable, *(id(variable) for variable, _ in values)}
        self.watch: Callable[[Any], None] | None = None
        self.written: dict[int, list[Any]] = {}
        self.as_they_are: dict[int, Any] = {}
        self._graph: Any = None

    def __enter__(self) -> ReplicaScope:
        self._graph = call_context.traced_graph()
        super().__enter__()
        return self

    def takes_rows(self, variable: keras.Variable) -> bool:
        """Whether rows of a variable can be taken from itself: it was not written, and no other value stands for it.

        Not within a function of the layer's own: XLA may compile it, for this replica's device alone.
        """
        value = self.as_they_are.get(id(variable))
        is_here = call_context.traced_graph() is self._graph
        return value is not None and value is self.state_mapping.get(id(variable)) and is_here

    def add_update(self, update: tuple[keras.Variable, Any]) -> None:
        variable, value = update
        if id(variable) not in self._known:
            raise ValueError(
                "Expected the layers to write only variables of the model, whose values are merged over the replicas. "
                f"Received: a value for {variable.path!r}. Keep the layer or variable that it belongs to as an "
                "attribute of a layer of the model."
            )
        if id(variable) in self._trainable:
            # On one device what is read afterwards is the variable, not what its new value was computed from.
            value = tf.stop_gradient(value)
            if self.watch is not None:
                self.watch(value)
            self.written.setdefault(id(variable), []).append(value)
        super().add_update((variable, value))


class ReplicaState:
    """The layer state that one replica reads and would write in a forward pass.

    Args:
        variables: the variables, in the order of `before`.
        before: the value that the replica starts from, for each.
        trainable: the variables that the model trains.
        global_seeds: the generator that layers without seeds of their own draw from.
        arrived: values that other devices sent here, by the variables' ids.
    """

    def __init__(
        self,
        variables: Sequence[keras.Variable],
        before: Sequence[Any],
        trainable: Sequence[keras.Variable],
        global_seeds: keras.random.SeedGenerator,
        arrived: Mapping[int, Any],
    ) -> None:
        self._global_seeds = global_seeds
        self._trainable = trainable
        self._arrived = arrived
        self.scope = ReplicaScope(list(zip(variables, before, strict=True)), trainable)
        self._before = {id(v): self.scope.get_current_value(v) for v in variables}

    @contextlib.contextmanager
    def used(self, tape: tf.GradientTape | None = None) -> Iterator[keras.StatelessScope]:
        """Run a forward pass on this state; what the layers write and the losses they add are in the scope.

        Args:
            tape: records the pass, if it is to be differentiated.
        """
        self.scope.watch = None if tape is None else tape.watch
        for variable in self._trainable:
            # The layers get the value, not the variable: what XLA compiles on this replica's device (Keras does so for
            # grouped convolutions, users for functions of their own) may not read a variable of another device.
            value = self._arrived.get(id(variable))
            if value is None:
                # A copy on the replica's device: a loop (LSTM) would be sent a value of another device in each turn.
                value = tf.identity(tf.convert_to_tensor(variable.value))
            elif tape is not None:
                tape.watch(value)
            self.scope.state_mapping.setdefault(id(variable), value)
            self.scope.as_they_are[id(variable)] = value
        taking = keras3.table_rows.on_replica(self.scope.takes_rows)
        with self.scope, taking, keras3.layers.global_seeds_from(self._global_seeds):
            yield self.scope

    def pretend(self, variable: keras.Variable, value: Any) -> None:
        """Let the layers read another value of a variable."""
        self.scope.state_mapping[id(variable)] = value

    def before(self, variable: keras.Variable) -> Any:
        return self._before[id(variable)]

    def after(self, variable: keras.Variable) -> Any:
        return self.scope.get_current_value(variable)

    def written(self, variable: keras.Variable) -> list[Any]:
        """The values that a trainable variable was given, one after the other."""
        return self.scope.written.get(id(variable), [])

    def read(self, variable: keras.Variable) -> list[Any]:
        """What stands for a trainable variable in the pass: itself, its value that was sent here, what was written."""
        sent = [self._arrived[id(variable)]] if id(variable) in self._arrived else []
        return [variable, *sent, *self.written(variable)]

    def changed(self, variable: keras.Variable) -> bool:
        return self.after(variable) is not self._before.get(id(variable))


class LayerState:
    """The variables of a model that its forward pass may write."""

    def __init__(self, model: keras.Model, global_seeds: keras.random.SeedGenerator) -> None:
        self._global_seeds = global_seeds
        states = [*keras3.layers.seed_states(model), global_seeds.state]
        self.random_seeds = list({id(state): state for state in states}.values())
        seeds = {id(variable) for variable in self.random_seeds}
        others = [*model.non_trainable_variables, *keras3.layers.layer_metric_variables(model)]
        self.others = list({id(v): v for v in others if id(v) not in seeds}.values())
        self.trainable = list(model.trainable_variables)

    def of_replica(self, replica: int, arrived: Mapping[int, Any] = MappingProxyType({})) -> ReplicaState:
        """Make the state that `replica` starts a forward pass from.

        Args:
            arrived: values that other devices sent to it, by the variables' ids.
        """
        seeds = [v.value + tf.constant([replica * SEED_STRIDE, 0], v.dtype) for v in self.random_seeds]
        others = [arrived[id(v)] if id(v) in arrived else tf.convert_to_tensor(v.value) for v in self.others]
        known = [*self.random_seeds, *self.others]
        state = ReplicaState(known, [*seeds, *others], self.trainable, self._global_seeds, arrived)
        state.scope.as_they_are.update({id(v): state.before(v) for v in self.others})
        return state

    def merge(
        self,
        states: Sequence[ReplicaState],
        samples: Sequence[ReplicaSlice],
        gather: Callable[[list[Any]], list[Any]] = lambda values: values,
    ) -> None:
        """Write the merged state after the replicas' forward passes.

        Args:
            gather: makes a value of each replica of this process one of all replicas.
        """
        for variable in (*self.random_seeds, *self.others):
            if any(state.changed(variable) for state in states):
                after = gather([state.after(variable) for state in states])
                seed = any(variable is state for state in self.random_seeds)
                variable.assign(after[0] if seed else _merged(variable, states[0].before(variable), after, samples))
        for variable in self.trainable:
            if any(state.written(variable) for state in states):
                after = gather([state.after(variable) for state in states])
                variable.assign(_merged(variable, variable.value, after, samples))


def _merged(variable: keras.Variable, before: Any, after: Sequence[Any], samples: Sequence[ReplicaSlice]) -> Any:
    if variable.aggregation == "sum":
        changes = [
            tf.where(cut.size > 0, value - before, tf.zeros_like(value))
            for value, cut in zip(after, samples, strict=True)
        ]
        return variable.value + tf.add_n(changes)
    if variable.aggregation == "only_first_replica" or not keras.backend.is_float_dtype(variable.dtype):
        return after[-1]
    total = tf.cast(sum(cut.size for cut in samples), variable.dtype)
    # multiply_no_nan: what a replica without samples computed must not count, not even as NaN.
    return tf.add_n(
        [
            tf.math.multiply_no_nan(value, tf.cast(cut.size, variable.dtype) / total)
            for value, cut in zip(after, samples, strict=True)
        ]
    )
