"""`K.random_normal` and its relatives as operations of a graph: each had a seed, and drew on from step to step.

Before TensorFlow 2 an operation drew its seed from `np.random` when it was made, by a call of its layer on symbolic
tensors. Today it is made in each trace of a step: these are the seeds, and streams, of the one that was made then.
TensorFlow 2.2 made one by such a call as well, and others in its functions (`draws_of_functions`).
"""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3.kept_from_calls import outermost_trace
from parallel_compat.backend.keras3.layers import is_of_graph
from parallel_compat.backend.keras3.repeated_calls import first_tensor
from parallel_compat.backend.keras3.symbolic_values import place_of_call
from parallel_compat.legacy import closures
from parallel_compat.legacy.numbers import draws_of_functions, draws_of_tensorflow
from parallel_compat.legacy.numbers.draws_of_tensorflow import Stream
from parallel_compat.legacy.numbers.initial_weights import (
    LAYERS,
    OF_OPERATIONS,
    draw_operations_of,
    draw_seed,
    draw_seed_of_variable,
    draw_seeds_of,
    draw_within,
    drawing_nothing,
    note_draws,
    place_and_seeds,
    seeds_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from parallel_compat.names.eras import Era

_graph = threading.local()
# On a layer: the streams of the operations that its calls made. On a scope: how many of them its call has come by.
_STREAMS, _COUNT = "_parallel_compat_streams_of_operations", "_parallel_compat_count_of_operations"

# On a graph: the state of `np.random` behind the seeds of the operations that its trace has made.
_STATE = "_parallel_compat_state_of_seeds"

# On a model: the tensors that it was called on.
_TENSORS = "_parallel_compat_tensors_called_on"

_NAMES = {"dropout", "random_binomial", "random_normal", "random_uniform", "truncated_normal"}

_NOT_OF_USERS = ("keras.", "parallel_compat.", "tensorflow.", "builtins")

_OPERATIONS = {
    "random_integers": draws_of_tensorflow.integers,
    "random_normal": tf.raw_ops.StatelessRandomNormalV2,
    "random_uniform": tf.raw_ops.StatelessRandomUniformV2,
    "truncated_normal": tf.raw_ops.StatelessTruncatedNormalV2,
}


class Graph:
    """What is drawn from `np.random` while a layer is called on symbolic tensors.

    Attributes:
        seeds: of operations of the backend, and which of them were given.
        masks: how many seeds the layers drew that `call` called.
        variables: how many seeds the values of variables had.
    """

    def __init__(self) -> None:
        self.seeds: list[tuple[int, bool]] = []
        self.masks = 0
        self.variables = 0
        self.run: Any = None  # that of `call` which counts: today there may be several
        self.is_by_itself = False  # within what draws for all that it calls
        self.is_of_model = False

    def add_layer(self, layer: keras.layers.Layer, era: Era) -> None:
        """Draw for a layer that is called."""
        self.masks += draw_seeds_of(layer, era)

    def add_operation(self, seed: int | None) -> None:
        """Draw for an operation, whose seed may be given."""
        self.seeds.append((draw_seed(seed), seed is not None))


@contextlib.contextmanager
def being_built(by_itself: bool = False, of_model: bool = False) -> Iterator[Graph]:
    """Say that a graph is built within the block, and note what is drawn for it.

    Args:
        by_itself: whether the layers that are called draw nothing each.
        of_model: whether it is that of a functional or Sequential model, whose operations are drawn for afterwards:
            Keras 3 does not call the layers of such a model once more, or not all of them.
    """
    before: Graph | None = getattr(_graph, "built", None)
    graph = Graph()
    graph.is_by_itself, graph.is_of_model = by_itself, of_model
    _graph.built = graph
    try:
        yield graph
    finally:
        _graph.built = before
        if before is not None:
            before.seeds += graph.seeds
            before.masks += graph.masks
            before.variables += graph.variables


def is_built() -> bool:
    """Say whether a graph is built, in which both of what the learning phase chooses from are made."""
    return getattr(_graph, "built", None) is not None and not tf.executing_eagerly()


@contextlib.contextmanager
def called_in_graph(layer: keras.layers.Layer, era: Era) -> Iterator[None]:
    """Draw for one of Keras's layers whose `call` a layer of the user's calls, where a graph is built.

    The seeds are drawn by turns with those of the weights around it, which get their values after `call`. What runs
    within the block, the layer drew for.

    Args:
        layer: the layer.
        era: that of the layer.
    """
    graph: Graph | None = getattr(_graph, "built", None)
    if graph is None or graph.is_by_itself or tf.executing_eagerly():
        yield
        return
    run = tf.compat.v1.get_default_graph()
    graph.run = graph.run or run
    if run is graph.run:
        keras3.run_with_first_values(functools.partial(graph.add_layer, layer, era))
    graph.is_by_itself = True
    try:
        yield
    finally:
        graph.is_by_itself = False


def made(name: str, seed: int | None, era: Era) -> tuple[int | None, Callable[..., Any] | None]:
    """Make an operation that draws.

    Args:
        name: a key of `_OPERATIONS`.
        seed: the user's, or None for one from `np.random`.
        era: the era of the code that makes it, before today's.

    Returns:
        Its seed; and what draws its next values, given their shape and dtype: from 0 to 1, with a deviation of 1, or
        integers between bounds that it is given.
        The latter is None where it is not known which operation of a graph it is: on several devices, for models of the
        user's that were called several times, in loops, and for what no model calls.
    """
    graph: Graph | None = getattr(_graph, "built", None)
    if graph is not None:  # nobody looks at what is drawn
        if graph.is_of_model:
            return seed or 0, None
        keras3.run_with_first_values(functools.partial(graph.add_operation, seed))
        return seed or 0, None
    if era.has_graphs:
        # Today it is made again in each trace of a step.
        with contextlib.nullcontext() if tf.executing_eagerly() else _drawing_within_trace():
            seed = draw_seed(seed)
        stream = _stream(seed)
    else:
        stream = draws_of_functions.stream_of(seed)
        seed = draw_seed(seed) if stream is None else seed
    if stream is None:
        return seed, None
    return seed, functools.partial(stream.values_of_run if era.has_graphs else stream.next_values, _OPERATIONS[name])


def seed_of_variable(seed: int | None) -> int:
    """Return the seed of the values of a `K.random_normal_variable`: the user's, or one from `np.random`."""
    graph: Graph | None = getattr(_graph, "built", None)
    if graph is not None and seed is None:
        graph.variables += 1
    return draw_seed_of_variable() if seed is None else seed


@contextlib.contextmanager
def _drawing_within_trace() -> Iterator[None]:
    """Let an operation draw its seed after those before it in the same trace, and leave `np.random` as it was."""
    graph = outermost_trace()
    with drawing_nothing():
        state = getattr(graph, _STATE, None)
        if state is not None:
            np.random.set_state(state)
        yield
        setattr(graph, _STATE, np.random.get_state())


def note_call(layer: keras.layers.Layer, graph: Graph, given: Any, era: Era) -> bool:
    """Note what a call of a layer on symbolic tensors drew.

    Args:
        layer: the layer, or a model.
        graph: what it drew; the operations of a model are added to it that is neither functional nor Sequential.
        given: the positional arguments of the call.
        era: one that had graphs.

    Returns:
        Whether the call made operations. Keras 2.2.4 made none for a model that had been called on the same tensors: it
        returned what that call had (`Network.call`).
    """
    if isinstance(layer, keras.Model):
        tensors = [first_tensor(each) for each in keras.tree.flatten(given)]
        before = vars(layer).setdefault(_TENSORS, [])
        if not era.is_tf_keras and any(_are_the_same(tensors, each) for each in before):
            return False
        before.append(tensors)
        if not graph.seeds and not is_of_graph(layer):
            graph.seeds += _seeds_of_layers(layer, era)
    note(layer, graph)
    return True


def note(layer: keras.layers.Layer, graph: Graph) -> None:
    """Note what was drawn when `call` of a layer, or of a model of the user's, was called on symbolic tensors."""
    if graph.seeds:
        vars(layer).setdefault(OF_OPERATIONS, []).append(list(graph.seeds))
    if graph.masks:
        note_draws(layer, graph.masks)


def draw_for_towers(template: keras.Model, towers: int, era: Era) -> None:
    """Draw what the calls of a template by the towers of a parallel model drew, but for the one call that there is.

    Args:
        template: the model, which was called once on its own inputs; the towers called it on parts of them.
        towers: how many there were.
        era: one that had graphs.
    """
    if vars(template).get(_TENSORS):
        vars(template)[_TENSORS].pop()
    for _ in range(towers - 1):
        if not is_of_graph(template):
            _seeds_of_layers(template, era)
        draw_seeds_of(template, era)


def _are_the_same(some: list[Any], others: list[Any]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))


def _seeds_of_layers(model: keras.Model, era: Era) -> list[tuple[int, bool]]:
    """Draw a seed for each operation of a model's layers that draws; Keras 3 does not call them again."""
    seeds = []
    for layer in getattr(model, "layers", ()):
        if is_of_graph(layer):
            within: dict[tuple[int, ...], list[int | None]] = {}
            draw_within(layer, era, within, masks=False)
            seeds += [(seed, False) for each in within.values() for seed in each if seed is not None]
        else:
            seeds += draw_operations_of(layer, era)
    return seeds


def may_draw(layer: keras.layers.Layer, era: Era) -> bool:
    """Say whether a Lambda layer, or a layer of the user's, reaches what draws: an operation or a layer."""
    if isinstance(layer, keras.layers.Lambda):
        return _reaches(layer.function, _NAMES | LAYERS)
    own = [kind for kind in type(layer).__mro__ if not kind.__module__.startswith(_NOT_OF_USERS)]
    if own and any(seeds_of(each, era) for each in keras3.held_layers(layer)):
        return True
    members = [member for kind in own for name, member in vars(kind).items() if name not in ("__init__", "build")]
    return any(_reaches(member, _NAMES | LAYERS) for member in members)


def _reaches(function: Any, names: set[str]) -> bool:
    return any(not names.isdisjoint(said) for said, _ in closures.reached(function, set()))


def _stream(seed: int) -> Stream | None:
    """Return the stream of an operation of a graph; `seed` is that of one that is evaluated by itself."""
    scopes = keras3.scopes_of_layers()
    if tf.executing_eagerly():
        return None if scopes else Stream(seed, looked_at=True)  # nothing has run yet in the graph
    # Here, as it brings in the parallel model, and with it what that sets on Keras.
    from parallel_compat.resume import Resume

    replica = tf.distribute.get_replica_context()
    if replica is None or replica.num_replicas_in_sync > 1 or Resume.is_made:
        return None
    around, node = place_of_call()
    is_evaluated = node is not None and not around and bool(scopes) and scopes[0].caller is node.operation
    if not is_evaluated and (not scopes or not isinstance(scopes[0].caller, keras.Model)):
        return None
    if any(isinstance(scope.caller, keras.layers.RNN) for scope in scopes):
        return None
    path: tuple[Any, ...] = (None,)  # that of whose `call` was called once, as a whole
    called = scopes[0]
    if is_evaluated or is_of_graph(called.caller):
        path = _to_code((*around, node))
        called = next((each for each in scopes if path[-1] is not None and each.caller is path[-1].operation), None)
        if called is None:
            return None
    layer = called.caller
    number = vars(called).setdefault(_COUNT, 0)  # which of them in this call
    vars(called)[_COUNT] += 1
    of_calls = [[each for each, _ in call] for call in vars(layer).get(OF_OPERATIONS, ())]
    place, seeds = place_and_seeds(layer, path, of_calls)
    if number >= len(seeds):
        return None
    streams: dict[Any, Stream] = vars(layer).setdefault(_STREAMS, {})
    if (place, number) not in streams:
        streams[place, number] = Stream(seeds[number])
    return streams[place, number]


def _to_code(path: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return calls up to the first of what is no functional or Sequential model: its own code calls the others."""
    for i, call in enumerate(path):
        if call is None or not is_of_graph(call.operation):
            return path[: i + 1]
    return path
