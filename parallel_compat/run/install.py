"""Legacy names for the user's code: on, off, and for the length of a block."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from parallel_compat.backend.patches import RUN
from parallel_compat.names.eras import Era
from parallel_compat.run import callers, object_eras, pandas_defaults, remedies, usage
from parallel_compat.run.modules import LegacyModules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_modules: LegacyModules | None = None
_replicas: int | None = None


def install(
    *,
    also: Iterable[str] = (),
    replicas: int | None = None,
    era: str | None = None,
    resume: str | None = None,
    every: int | None = None,
    workers: bool = False,
) -> None:
    """Answer the legacy names that the user's code asks for, from here on.

    >>> import parallel_compat
    >>> parallel_compat.install()
    >>> from keras.utils import multi_gpu_model
    >>> parallel_compat.uninstall()

    Calling it again changes nothing but `also`, `replicas` and `era`.

    Args:
        also: installed packages that are answered as the user's code is (`["keras_contrib"]`).
        replicas: how many devices to simulate where there are fewer GPUs; TensorFlow must not have used its
            devices yet. None simulates none.
        era: whose defaults and arithmetic all code gets: `"keras-2.2.4"`, `"tf.keras-1.15"`, `"tf.keras-2.2"` or
            `"today"`. None leaves each file that of the Keras it imports.
        resume: a directory in which each `fit` keeps its state and from which it goes on, see `Resume`. None keeps
            nothing.
        every: with `resume`, after how many batches of an epoch the state is kept, too.
        workers: whether this process is one of several workers, by `TF_CONFIG` or Slurm. TensorFlow must not have
            used its devices yet.

    Raises:
        ValueError: `era` is another string.
        RuntimeError: devices have to be simulated, and TensorFlow has used its devices already.
    """
    global _modules, _replicas
    if era is not None:
        callers.choose_era(_era(era))
    callers.give_eras()
    callers.also_ask(also)
    _replicas = replicas if replicas is not None else _replicas
    if _modules is not None:
        if "tensorflow" in sys.modules:
            _simulate()
        return
    usage.forget()

    def with_keras() -> None:
        from parallel_compat.run.patches import classes

        classes.put_on(RUN)
        remedies.print_as_then()
        if resume is not None:
            from parallel_compat.run import resuming

            resuming.put_on(RUN, resume, every)
        if workers:
            from parallel_compat.run import workers as several

            several.put_on(RUN)
            _with_tensorflow()  # `import tensorflow` imports Keras before its own end
            several.join(_replicas)

    def with_tensorflow() -> None:
        _with_tensorflow()
        if workers:
            import keras as keras  # workers join before the first operation of the script's; Keras must be there

    def with_parallel_model() -> None:
        from parallel_compat.run.patches import parallel

        parallel.put_on(RUN)

    def with_h5py() -> None:
        from parallel_compat.run.patches import hdf5

        hdf5.put_on(RUN)

    def with_loops() -> None:
        from parallel_compat.run.patches import loops

        loops.put_on(RUN)
        if resume is not None:
            from parallel_compat.run import resuming

            resuming.put_on_loops(RUN)

    _modules = LegacyModules(
        {
            "keras": with_keras,
            "tensorflow": with_tensorflow,
            "numpy": lambda: remedies.put_on_numpy(RUN),
            "pandas": lambda: pandas_defaults.put_on(RUN),
            "h5py": with_h5py,
            "parallel_compat.parallel_model": with_parallel_model,
            "parallel_compat.training.in_memory": with_loops,
        }
    )
    _modules.install()


def _era(name: str) -> Era:
    try:
        return Era(name)
    except ValueError:
        expected = ", ".join(f'"{era}"' for era in Era)
        raise ValueError(f"Expected one of {expected} as `era`. Received: era={name!r}") from None


def is_installed() -> bool:
    """Say whether legacy names are answered."""
    return _modules is not None


_placed_softly: bool | None = None


def _with_tensorflow() -> None:
    global _placed_softly
    if _placed_softly is not None:
        return
    import tensorflow as tf

    # `with tf.device("/gpu:0")` is in many a script, and where there is no GPU it means: where it can be.
    _placed_softly = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(True)
    _simulate()


def _simulate() -> None:
    if _replicas is not None:
        from parallel_compat.legacy import device_lib

        device_lib.simulate(_replicas)


def uninstall() -> None:
    """Undo `install`: every module, class and import hook is as it was before."""
    global _modules, _replicas, _placed_softly
    if _modules is None:
        return
    if _placed_softly is not None:
        import tensorflow as tf

        tf.config.set_soft_device_placement(_placed_softly)
        _placed_softly = None
    _modules.undo()
    RUN.undo()
    remedies.print_as_before()
    pandas_defaults.put_back()
    _modules = _replicas = None
    callers.forget()
    object_eras.train_in_graphs(False)


@contextmanager
def legacy_names(*, also: Iterable[str] = (), era: str | None = None) -> Iterator[None]:
    """Answer legacy names inside a `with` block.

    >>> import parallel_compat
    >>> with parallel_compat.legacy_names():
    ...     from keras.utils import np_utils

    Args:
        also: as in `install`.
        era: as in `install`; an era that is given holds for the length of the block.
    """
    before, asked, chosen = _modules is not None, callers.asked(), callers.chosen_era()
    install(also={*asked, *also}, era=era)
    try:
        yield
    finally:
        if before:
            callers.also_ask(asked)
            callers.choose_era(chosen)
        else:
            uninstall()
