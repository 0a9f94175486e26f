"""What drew in the steps of TensorFlow 2.2: Dropout, and with a seed from `np.random` noise layers, `K.random_normal`.

`fit`, `evaluate`, `predict` and their relatives ran functions, which were traced for each kind of batches. Each trace
made the operations anew, which began with the seeds of `tf.random.set_seed` or with one from `np.random` each, and a
function that made variables was traced twice: the first one that trained (`def_function.Function._call` of TensorFlow
2.2.3). Today's steps are traced at other times, so that these operations have their seeds, and how far they drew, in
variables.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.legacy.numbers.draws_of_tensorflow import Stream
from parallel_compat.legacy.numbers.initial_weights import draw_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# On a model: its functions, "train", "test" and "predict", since it was compiled.
_FUNCTIONS = "_parallel_compat_functions_that_draw"
_traced = threading.local()


class _Function:
    """The operations that draw in a function of a model.

    Attributes:
        is_traced: whether the operations are known.
        makes_weights: whether the model had none before the function's first trace.
        counts: whether metrics of `compile` count in it, which the first of these functions made.
        place: how many operations the trace in progress has made.
    """

    def __init__(self) -> None:
        self.is_traced = self.makes_weights = self.counts = False
        self.place = 0
        self._streams: list[Stream] = []
        self._seeds: list[Callable[[], int]] = []  # what each takes its seed from in another trace
        self._batches: Any = None
        self._seeding = keras3.seeding()
        self._states: dict[Any, list[Any]] = {}

    @property
    def draws(self) -> bool:
        """Whether anything in it draws, as far as is known."""
        return bool(self._streams) or not self.is_traced

    def run_on(self, batches: Any) -> None:
        """Let the function of this kind of batches be the one that runs.

        `tf.random.set_seed` let all operations begin anew, with the seeds that they had.
        """
        if self._seeding is not (seeding := keras3.seeding()):
            self._seeding = seeding
            for stream in self._streams:
                stream.go_on_from((stream.state()[0], 0))
            self._states = {key: [(seeds, 0) for seeds, _ in states] for key, states in self._states.items()}
        if batches == self._batches:
            return
        if self._streams:
            self._states[self._batches] = [stream.state() for stream in self._streams]
        self._batches = batches
        if batches in self._states:
            for stream, state in zip(self._streams, self._states[batches], strict=False):
                stream.go_on_from(state)
        else:
            self.begin()

    def begin(self) -> None:
        """Draw seeds as another trace did."""
        for stream, seed in zip(self._streams, self._seeds, strict=True):
            stream.begin(seed())

    def next_stream(self, seed: Callable[[], int]) -> Stream:
        """Return the stream of the operation that the trace makes next.

        Args:
            seed: returns the operation's own seed in a trace.
        """
        if self.place == len(self._streams):
            self._streams.append(Stream(seed()))
            self._seeds.append(seed)
        self.place += 1
        return self._streams[self.place - 1]


def forget(model: keras.Model) -> None:
    """Let all functions be made anew, as by `compile`."""
    vars(model).pop(_FUNCTIONS, None)


def run_on(model: keras.Model, kind: str, data: tuple[Any, ...], batch_size: int | None = None) -> None:
    """Say what a function of a model is to run on.

    Args:
        model: the model.
        kind: "train", "test" or "predict".
        data: `(x, y, sample_weight)`, or fewer.
        batch_size: of how many samples each batch of arrays is to be; None for all of them.
    """
    is_first = not vars(model).get(_FUNCTIONS)
    function = _function_of(model, kind)
    if function.draws:
        function.makes_weights = function.makes_weights or (is_first and not model.built)
        function.run_on(_batches_of(data, batch_size))


def trace_own_steps(model: keras.Model) -> None:
    """Let the steps that a model of the user's has of its own be known when they are traced."""
    for kind in ("train", "test", "predict"):
        if f"{kind}_step" not in vars(model) and keras3.has_own_step(model, kind):
            step = getattr(type(model), f"{kind}_step")
            vars(model)[f"{kind}_step"] = functools.partial(_run_own_step, model, kind, step)


def _run_own_step(model: keras.Model, kind: str, step: Any, data: Any) -> Any:
    with traced(model, kind):
        return step(model, data)


def _function_of(model: keras.Model, kind: str) -> _Function:
    functions: dict[str, _Function] = vars(model).setdefault(_FUNCTIONS, {})
    return functions.setdefault(kind, _Function())


def _batches_of(data: tuple[Any, ...], batch_size: int | None) -> Any:
    """Return what a function was traced for: the shapes and kinds of arrays; one for all generators."""
    if isinstance(data[0], tf.data.Dataset):
        leaves = tf.nest.flatten(data[0].element_spec)
        return tuple((_sizes(leaf.shape), leaf.dtype.is_floating) for leaf in leaves if isinstance(leaf, tf.TensorSpec))
    leaves = [leaf for leaf in keras.tree.flatten(data) if leaf is not None]
    if not all(hasattr(leaf, "shape") and len(leaf.shape) for leaf in leaves):
        return "generator"
    samples = leaves[0].shape[0] if leaves else 0
    size = samples if batch_size is None else None if samples % batch_size else batch_size
    # A DataFrame has no `dtype`.
    return tuple(((size, *leaf.shape[1:]), "float" in str(getattr(leaf, "dtype", "float"))) for leaf in leaves)


def _sizes(shape: tf.TensorShape) -> tuple[int | None, ...] | None:
    return None if shape.rank is None else tuple(shape.as_list())


@contextlib.contextmanager
def traced(model: keras.Model, kind: str) -> Iterator[None]:
    """Say that a step of a model is traced within the block.

    Args:
        model: the model.
        kind: "train", "test" or "predict".
    """
    if tf.executing_eagerly():
        yield
        return
    function, before = _function_of(model, kind), getattr(_traced, "function", None)
    if function is before:  # a step of the user's calls that of its class
        yield
        return
    has_metrics = any(each.counts for each in vars(model)[_FUNCTIONS].values())
    function.counts = function.counts or (kind != "predict" and not keras3.has_own_step(model, kind))
    _traced.function, function.place = function, 0
    try:
        yield
    finally:
        _traced.function = before
    if not function.is_traced:
        function.is_traced = True
        makes_metrics = function.counts and not has_metrics and _is_counted(model)
        if kind == "train" or function.makes_weights or makes_metrics:
            function.begin()


def note_metrics() -> None:
    """Say that a step of the user's that is traced lets the metrics of `compile` count."""
    function: _Function | None = getattr(_traced, "function", None)
    if function is not None:
        function.counts = True


def _is_counted(model: keras.Model) -> bool:
    """Whether a model that is compiled has metrics, or losses of several outputs, which were counted by metrics."""
    return len(model.metrics) > 1 or len(keras.tree.flatten(getattr(model, "outputs", None) or [])) > 1


def stream_of(seed: int | None) -> Stream | None:
    """Return what an operation of the backend draws from in the trace in progress, or None outside of one.

    Args:
        seed: the user's, or None for one from `np.random`.
    """
    return _next_stream(functools.partial(draw_seed, seed))


def stream_of_tensorflow(seed: int | None) -> Stream | None:
    """Return what an operation of TensorFlow draws from in the trace in progress.

    Args:
        seed: the user's, or None for that of the graph and of how many operations without a seed were in it.

    Returns:
        None outside of a trace, on several replicas, and without any seed.
    """
    replica = tf.distribute.get_replica_context()
    # The graph counts whenever it is asked, and what draws by itself in a `tf.function` of the user's asks, too.
    if _traced_function() is None or replica is None or replica.num_replicas_in_sync > 1:
        return None
    number = tf.compat.v1.get_seed(seed)[1]
    return None if number is None else _next_stream(lambda: number)


def _traced_function() -> _Function | None:
    return None if tf.executing_eagerly() else getattr(_traced, "function", None)


def _next_stream(seed: Callable[[], int]) -> Stream | None:
    if (function := _traced_function()) is None:
        return None
    is_in_loop = any(isinstance(scope.caller, keras.layers.RNN) for scope in keras3.scopes_of_layers())
    return None if is_in_loop else function.next_stream(seed)


def drawn(layer: keras.layers.Layer, shape: Any, dtype: Any, draw: Any = tf.raw_ops.StatelessRandomUniformV2) -> Any:
    """Return the next values that a noise layer draws, in a step of a model or by itself.

    Args:
        layer: the layer.
        shape: their shape.
        dtype: their dtype.
        draw: the stateless operation of their distribution, uniform or normal.
    """
    seed = layer.seed if isinstance(layer, keras3.alpha_dropouts()) else None  # the others took none
    stream = stream_of(seed)
    if stream is not None:
        return stream.next_values(draw, shape, dtype)
    by_itself = tf.random.uniform if draw is tf.raw_ops.StatelessRandomUniformV2 else tf.random.normal
    return by_itself(shape, dtype=dtype, seed=draw_seed(seed))
