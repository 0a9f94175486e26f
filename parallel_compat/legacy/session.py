"""`tf.Session` and its configuration: the GPUs and their memory that it chose, and tensors of Keras that it ran."""

from __future__ import annotations

import functools
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from parallel_compat.backend.keras3 import counted_names, graphs_of_programs
from parallel_compat.backend.keras3 import device_options as backend_devices
from parallel_compat.backend.keras3.numbers_of_variables import as_of_now, is_noted, together_as_of_now
from parallel_compat.devices import limit_gpu_memory, use_gpus
from parallel_compat.legacy.data_tensors import Initializer, Step, read_by
from parallel_compat.legacy.device_lib import Device, list_local_devices
from parallel_compat.legacy.first_values import VariablesInitializer
from parallel_compat.legacy.numbers import initial_weights
from parallel_compat.legacy.session_in_use import current
from parallel_compat.run import callers
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


ConfigProto = tf.compat.v1.ConfigProto
GPUOptions = tf.compat.v1.GPUOptions
_NO_GRAPH = (
    "There is no TensorFlow 1 graph under Keras 3. Call the model or the function directly: `model.predict(x)`, "
    "`model(x)`."
)


class Graph:
    """What `tf.get_default_graph()` returns: something to enter that changes nothing."""

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Enter and leave without effect."""
        yield self

    def finalize(self) -> None:
        """Do nothing."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"`graph.{name}`: {_NO_GRAPH}")


class Session:
    """A session that applies the GPU options of its configuration and reads eager tensors.

    >>> import tensorflow as tf
    >>> config = tf.compat.v1.ConfigProto()
    >>> config.gpu_options.allow_growth = True
    >>> with Session(config=config) as session:
    ...     session.run(tf.constant(3))
    np.int32(3)

    Args:
        target: must be empty: there are no session servers.
        graph: not used.
        config: a `tf.compat.v1.ConfigProto`.
    """

    is_keras_own = False  # whether it is Keras's own, which it made when nobody had given it one

    def __new__(cls, target: str = "", graph: Any = None, config: Any = None) -> Any:
        """Return TensorFlow's own session where there is a graph for it: one that was read from a file, say."""
        if isinstance(graph, tf.Graph) or (graph is None and graphs_of_programs.is_in_one()):
            return tf.compat.v1.Session(target, graph, config)
        return super().__new__(cls)

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        if target:
            raise ValueError(
                f"Expected `target` to be empty. Received: target={target!r}. Training on several machines goes by "
                "`tf.distribute.MultiWorkerMirroredStrategy`."
            )
        self.graph = graph if graph is not None else Graph()
        self._config = config
        self._functions: dict[Any, Any] = {}
        if config is not None:
            apply_options(config)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Return the values of tensors and variables, in the structure in which they are given.

        Symbolic tensors of Keras are computed from the ones that are fed, and what `K.update` returned is carried out.
        What an iterator's `get_next()` returned is its next element in each run.

        Raises:
            tf.errors.OutOfRangeError: an iterator has no more elements.
            NotImplementedError: for anything else that is fetched or fed, or where an input is not fed.
        """
        flat = tf.nest.flatten(fetches)
        from parallel_compat.legacy import graph

        step = Step()

        def value(x: Any) -> Any:
            if isinstance(x, VariablesInitializer):
                return x.run(session=self)
            return _value(x) if read_by(x) is None else step.value(x)

        flat = self._as_of_now(flat)
        if not (feed_dict or any(graph.is_update(x) or graph.can_be_fed(x) for x in flat)):
            fetches = tf.nest.pack_sequence_as(fetches, flat)
            return tf.nest.map_structure(value, fetches)
        feed = dict(feed_dict or {})
        if not all(graph.can_be_fed(key) for key in feed):
            raise NotImplementedError(f"`session.run(..., feed_dict=...)`: {_NO_GRAPH}")
        here = [i for i, x in enumerate(flat) if graph.is_update(x) or graph.can_be_fed(x)]
        results = [None if i in here else value(x) for i, x in enumerate(flat)]
        try:
            for i, result in zip(here, graph.run([flat[i] for i in here], feed, self._functions), strict=True):
                results[i] = result
        except graph.MissingInputError as error:
            raise NotImplementedError(f"`session.run` of a symbolic tensor: {error} {_NO_GRAPH}") from error
        return tf.nest.pack_sequence_as(fetches, results)

    def _as_of_now(self, fetches: Sequence[Any]) -> list[Any]:
        """Compute what is of no input: numbers of variables and draws, and what layers give for them."""
        import keras

        from parallel_compat.backend.keras3.symbolic_values import Values, input_tensors_of

        symbolic = [each for each in fetches if isinstance(each, keras.KerasTensor) and not input_tensors_of([each])]
        if not symbolic:
            return together_as_of_now(fetches)
        computed = [*symbolic, *filter(is_noted, fetches)]
        key = ("of no input", *map(id, computed))
        if key not in self._functions:
            made = tf.function(lambda: [as_of_now(each) for each in Values().of(computed)], autograph=False)
            self._functions[key] = made, computed  # which must live
        values = dict(zip(map(id, computed), self._functions[key][0](), strict=True))
        return [values.get(id(each), each) for each in fetches]

    def list_devices(self) -> list[Device]:
        """List the CPU, then the devices that `parallelize` would use."""
        return list_local_devices()

    def as_default(self) -> Session:
        """Return the session, to be entered."""
        return self

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def __enter__(self) -> Session:
        self._before = getattr(current, "session", None)
        current.session = self
        return self

    def __exit__(self, *_error: object) -> None:
        current.session = self._before


InteractiveSession = Session


def get_session() -> Session:
    """Return the session that is in use, or a new one (`K.get_session()`)."""
    if getattr(current, "session", None) is None:
        current.session = Session()
        current.session.is_keras_own = True
    session: Session = current.session
    return session


def set_session(session: Any) -> None:
    """Use a session from here on (`K.set_session(tf.Session(config=config))`)."""
    if isinstance(session, tf.compat.v1.Session):
        apply_options(backend_devices.config_of(session))
        session = Session()
    current.session = session


def get_default_session() -> Session | None:
    """Return the session that was entered, or None."""
    return getattr(current, "session", None)


def get_default_graph() -> Any:
    """Return something to enter that changes nothing, or the graph that the code is in."""
    return tf.compat.v1.get_default_graph() if graphs_of_programs.is_in_one() else Graph()


def reset_default_graph() -> None:
    """Forget the seed that was set for the graph, and begin to count the names of layers anew.

    TensorFlow 2.2 made inputs and weights in another graph, Keras's own.
    """
    initial_weights.forget_seed_of_graph()
    counted_names.forget_names(inputs_and_scopes=callers.era_of_caller().has_graphs)


def tables_initializer(*_arguments: Any, **_keywords: Any) -> Any:
    """Return what a session can run without effect, or what makes the tables of the graph that the code is in."""
    return tf.compat.v1.tables_initializer() if graphs_of_programs.is_in_one() else Initializer()


def apply_options(config: Any) -> None:
    """Give the GPU options of a `ConfigProto` their effect, as far as TensorFlow has not started its devices.

    Args:
        config: `gpu_options.allow_growth`, `.per_process_gpu_memory_fraction` and `.visible_device_list`,
            `device_count["GPU"] == 0`, `intra_op_parallelism_threads`, `inter_op_parallelism_threads`.
    """
    if config is None:
        return
    gpus = tf.config.list_physical_devices("GPU")
    options = config.gpu_options
    ids = list(range(len(gpus)))
    if options.visible_device_list:
        ids = [int(i) for i in options.visible_device_list.split(",") if int(i) < len(gpus)]
    if "GPU" in config.device_count:
        ids = ids[: config.device_count["GPU"]]
    if ids != list(range(len(gpus))):
        _unless_started(use_gpus, ids)
    if options.allow_growth:
        _unless_started(functools.partial(limit_gpu_memory, growth=True))
    if options.per_process_gpu_memory_fraction and gpus:
        _unless_started(backend_devices.set_memory_fraction, options.per_process_gpu_memory_fraction)
    if config.intra_op_parallelism_threads:
        _unless_started(tf.config.threading.set_intra_op_parallelism_threads, config.intra_op_parallelism_threads)
    if config.inter_op_parallelism_threads:
        _unless_started(tf.config.threading.set_inter_op_parallelism_threads, config.inter_op_parallelism_threads)


def _unless_started(setting: Any, *arguments: Any) -> None:
    try:
        setting(*arguments)
    except RuntimeError as error:
        warnings.warn(
            "The session's configuration came after TensorFlow had started its devices and has no effect: configure "
            f"the session before the first model. {error}",
            ParallelCompatWarning,
            stacklevel=5,
        )


def _value(fetch: Any) -> Any:
    if isinstance(fetch, Initializer):
        fetch.run()
        return None
    if fetch is None:
        return None
    if isinstance(fetch, tf.Variable) or (tf.is_tensor(fetch) and hasattr(fetch, "numpy")):
        return as_of_now(fetch).numpy()
    import keras

    if isinstance(fetch, keras.Variable):
        return keras.ops.convert_to_numpy(fetch)[()]
    raise NotImplementedError(f"`session.run` of {type(fetch).__name__}: {_NO_GRAPH}")
