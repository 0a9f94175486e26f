"""Save the single template model while the parallel model trains.

A file appears whole or not at all, see `parallel_compat.atomic_file`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parallel_compat.atomic_file import replacing
from parallel_compat.backend import keras3
from parallel_compat.monitor_checkpoint import MonitorCheckpoint
from parallel_compat.names.identifiers import larger_is_better, value_of, with_both_names
from parallel_compat.parallelize_model import template_of

if TYPE_CHECKING:
    import keras


class ParallelModelCheckpoint(MonitorCheckpoint):
    """Save the template after epochs, with the arguments of Keras 2's `ModelCheckpoint` after the model.

    Examples:
        >>> import keras, numpy as np, parallel_compat, tempfile
        >>> _ = parallel_compat.simulate_devices(4)
        >>> model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
        >>> parallel = parallel_compat.multi_gpu_model(model, gpus=2)
        >>> parallel.compile("sgd", "mse")
        >>> path = tempfile.mkdtemp() + "/{epoch:02d}.hdf5"
        >>> checkpoint = parallel_compat.ParallelModelCheckpoint(model, path, monitor="loss", save_best_only=True)
        >>> history = parallel.fit(np.ones((8, 8)), np.ones((8, 1)), verbose=0, callbacks=[checkpoint])
        >>> single = keras.saving.load_model(path.format(epoch=1), compile=False)

    Args:
        model: the template, or a parallel model, whose template is then saved.
        filepath: file name, with fields such as `{epoch:02d}` and `{val_loss:.2f}`. It ends in `.keras`, `.h5` or
            `.hdf5`. Any other name is written as HDF5, as in Keras 2. With `save_weights_only`, `.weights.h5` is
            Keras 3's weights format. Missing folders are created.
        monitor: the logged quantity to watch. `acc` and `accuracy` mean the same.
        verbose: 1 prints what is saved.
        save_best_only: save only if the monitored quantity improved.
        save_weights_only: save the weights, not the model. A whole model is saved compiled, with the optimizer's state,
            so that training can continue. `.weights.h5` files have that state, too. A `.keras` file always holds the
            model; `load_weights` reads the weights from it.
        mode: "min", "max" or "auto". "auto" is "max" for accuracies, AUC and names that begin with `fmeasure`.
        period: save after this number of epochs.
        save_freq: "epoch", or save after this number of batches, as in Keras 3's `ModelCheckpoint`.
        initial_value_threshold: the value that the first epoch has to improve on.

    Raises:
        ValueError: for an unknown mode, period or save_freq. At the end of the first epoch, for a monitor or a field
            of `filepath` that is not logged.
    """

    def __init__(
        self,
        model: keras.Model,
        filepath: str | os.PathLike[str],
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        period: int = 1,
        save_freq: str | int = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        if mode not in ("auto", "min", "max"):
            raise ValueError(f"Expected `mode` to be 'auto', 'min' or 'max'. Received: mode={mode!r}")
        if isinstance(period, bool) or not isinstance(period, int) or period < 1:
            raise ValueError(f"Expected `period` to be an int >= 1. Received: period={period!r}")
        if save_freq != "epoch" and (isinstance(save_freq, bool) or not isinstance(save_freq, int) or save_freq < 1):
            raise ValueError(f"Expected `save_freq` to be 'epoch' or an int >= 1. Received: save_freq={save_freq!r}")
        super().__init__(
            monitor=monitor,
            larger_is_better=larger_is_better(monitor, mode, auc=True),
            verbose=verbose,
            save_best_only=save_best_only,
            period=period,
            save_freq=save_freq,
            threshold=initial_value_threshold,
        )
        self.template = template_of(model)
        self._trained: keras.Model = self.template
        self.filepath = os.fspath(filepath)
        self.save_weights_only = save_weights_only

    def set_model(self, model: keras.Model) -> None:
        super().set_model(model)
        # With a `callback_model`, the callbacks get the parallel model first, and then that one.
        if template_of(model) is self.template and (template_of(model) is not model or not self._trained.compiled):
            self._trained = model

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if self.save_freq == "epoch":
            # A name that is not logged is an error at the first epoch's end, not when the period is over.
            self.path_of(epoch, logs or {})
            self.monitored(logs or {})
        super().on_epoch_end(epoch, logs)

    def monitored(self, logs: dict[str, Any]) -> Any:
        value = value_of(logs, self.monitor)
        if value is None and self.save_best_only and not self._comes_with_another_epoch():
            raise ValueError(
                f"Expected `monitor` to be one of the logged quantities {sorted(logs)}. Received: "
                f"monitor={self.monitor!r}"
            )
        return value

    def _comes_with_another_epoch(self) -> bool:
        """Whether validation is done, but not after this epoch (`validation_freq`)."""
        return self.monitor.startswith("val_") and keras3.callbacks.validates_seldom(self.model)

    def path_of(self, epoch: int, logs: dict[str, Any]) -> Path | None:
        try:
            return Path(self.filepath.format(**{"epoch": epoch + 1, **with_both_names(logs)}))
        except KeyError as error:
            if str(error.args[0]).startswith("val_") and self.save_best_only and self._comes_with_another_epoch():
                return None
            raise ValueError(
                f"Expected the fields of `filepath` to be 'epoch' or logged quantities {sorted(logs)}. Received: "
                f"filepath={self.filepath!r} with the field {error}"
            ) from error

    def write_file(self, path: Path) -> None:
        if not getattr(self.model, "is_chief", True):
            return
        with replacing(path, make_folders=True) as temporary:
            if self.save_weights_only and path.suffix != ".keras":
                keras3.model_saving.save_weights(self._trained, temporary)
            else:
                keras3.model_saving.save_model(self._trained, temporary)
