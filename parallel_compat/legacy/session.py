"""`tf.Session` and its configuration: the GPUs and their memory that it chose, and tensors of Keras that it ran."""

from __future__ import annotations

import functools
import threading
import warnings
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import device_options
from parallel_compat.backend.keras3.call_context import LearningPhase
from parallel_compat.devices import limit_gpu_memory, use_gpus
from parallel_compat.legacy import functions
from parallel_compat.legacy.device_lib import Device, list_local_devices
from parallel_compat.warning_category import ParallelCompatWarning

ConfigProto = tf.compat.v1.ConfigProto
GPUOptions = tf.compat.v1.GPUOptions
_current = threading.local()  # its `session`: that which was entered or set, in this thread
_NO_GRAPH = (
    "There is no TensorFlow 1 graph under Keras 3. Call the model or the function directly: `model.predict(x)`, "
    "`model(x)`."
)


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

    def __new__(cls, target: str = "", graph: Any = None, config: Any = None) -> Any:
        """Return TensorFlow's own session where there is a graph for it: one that was read from a file, say."""
        if isinstance(graph, tf.Graph) or (graph is None and not tf.executing_eagerly()):
            return tf.compat.v1.Session(target, graph, config)
        return super().__new__(cls)

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        if target:
            raise ValueError(
                f"Expected `target` to be empty. Received: target={target!r}. To train on several machines, use "
                "`tf.distribute.MultiWorkerMirroredStrategy`."
            )
        self._functions: dict[Any, Any] = {}
        if config is not None:
            _apply_options(config)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Return the values of tensors and variables, in the structure in which they are given.

        Symbolic tensors of Keras are computed from the ones that are fed, and what `K.update` returned is carried out.

        Raises:
            NotImplementedError: for anything else that is fetched or fed, or where an input is not fed.
        """
        flat, feed = tf.nest.flatten(fetches), dict(feed_dict or {})
        if not all(isinstance(key, (keras.KerasTensor, LearningPhase)) for key in feed):
            raise NotImplementedError(f"`session.run(..., feed_dict=...)`: {_NO_GRAPH}")
        updates = [each for each in flat if isinstance(each, functions.Update)]
        symbolic = [each for each in flat if isinstance(each, keras.KerasTensor)]
        computed = iter(self._computed(symbolic, updates, feed) if symbolic or updates else ())
        results = [self._result(each, computed) for each in flat]
        return tf.nest.pack_sequence_as(fetches, results)

    def _computed(self, symbolic: list[Any], updates: list[functions.Update], feed: dict[Any, Any]) -> Any:
        key = (*map(id, feed), None, *map(id, symbolic), None, *map(id, updates))
        try:
            if key not in self._functions:
                made = functions.Function(list(feed), symbolic, updates)
                self._functions[key] = made, updates  # whose ids are in the key
            return self._functions[key][0](list(feed.values()))
        except functions.MissingInputError as error:
            raise NotImplementedError(f"`session.run` of a symbolic tensor: {error} {_NO_GRAPH}") from error

    def _result(self, fetch: Any, computed: Any) -> Any:
        if fetch is None:
            return None
        if isinstance(fetch, keras.KerasTensor):
            return next(computed)
        if isinstance(fetch, functions.Update):
            return functions.as_numpy(tf.convert_to_tensor(fetch.variable))
        if isinstance(fetch, (tf.Variable, keras.Variable)) or (tf.is_tensor(fetch) and hasattr(fetch, "numpy")):
            return functions.as_numpy(fetch)
        raise NotImplementedError(f"`session.run` of {type(fetch).__name__}: {_NO_GRAPH}")

    def list_devices(self) -> list[Device]:
        """List the CPU, then the devices that `parallelize` would use."""
        return list_local_devices()

    def as_default(self) -> Session:
        """Return the session, to be entered."""
        return self

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def __enter__(self) -> Session:
        self._before = getattr(_current, "session", None)
        _current.session = self
        return self

    def __exit__(self, *_error: object) -> None:
        _current.session = self._before


InteractiveSession = Session


def get_session() -> Session:
    """Return the session that is in use, or a new one (`K.get_session()`)."""
    if getattr(_current, "session", None) is None:
        _current.session = Session()
    session: Session = _current.session
    return session


def set_session(session: Any) -> None:
    """Use a session from here on (`K.set_session(tf.Session(config=config))`)."""
    if isinstance(session, tf.compat.v1.Session):
        _apply_options(device_options.config_of(session))
        session = Session()
    _current.session = session


def _apply_options(config: Any) -> None:
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
        _unless_started(device_options.set_memory_fraction, options.per_process_gpu_memory_fraction)
    for threads in ("intra_op_parallelism_threads", "inter_op_parallelism_threads"):
        if getattr(config, threads):
            _unless_started(getattr(tf.config.threading, f"set_{threads}"), getattr(config, threads))


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
