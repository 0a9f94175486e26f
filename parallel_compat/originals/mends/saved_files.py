"""Model files: written whole or not at all; a parallel model saves the single template.

What `multi_gpu_model` returned could not be loaded on one device: its file had the towers. Here `save`, `save_weights`,
`to_json` and `to_yaml` of it, also through any callback, write the template with the optimizer's state, in the old
format, and `load_weights` takes files of both. The file says for which GPUs it was:
`load_model` makes it parallel again.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from parallel_compat.atomic_file import replacing
from parallel_compat.originals.mends.register import Register

_TEMPLATE = "_parallel_compat_template"
# On a parallel model, and in its file: the ids of its GPUs, or how many there were.
_GPUS = "_parallel_compat_gpus"
_MOST_GPUS = 1000
# What `compile` sets on a model and saving reads: Keras 2.2.4, 2.3.1, tf.keras 1.15, 2.2.
_COMPILED = (
    *("optimizer", "loss", "loss_weights", "sample_weight_mode", "weighted_metrics", "metrics"),
    *("_compile_metrics", "_compile_weighted_metrics", "_compile_time_distribution_strategy", "_is_compiled"),
    *("compiled_loss", "compiled_metrics", "_compiled_trainable_state", "_training_endpoints", "_run_eagerly"),
)


def apply(mends: Register) -> None:
    def functions(save: str, load: str, module: ModuleType) -> None:
        mends.around(module, save, functools.partial(_save_model, module), shown=True)
        mends.around(module, load, functools.partial(_load_model, module.__name__.rpartition(".")[0]), shown=True)

    def methods(module: ModuleType) -> None:
        mends.around(module.Network, "save_weights", functools.partial(_save_weights, module), shown=True)

    for root in ("keras", "tensorflow.python.keras"):
        mends.around(f"{root}.utils.multi_gpu_utils", "multi_gpu_model", _remember_template, shown=True)
        network = f"{root}.engine.network"
        mends.after(network, methods)
        mends.around(network, "Network.load_weights", _load_weights, shown=True)
        for name in ("to_json", "to_yaml"):  # which are kept beside a file of weights
            mends.around(network, f"Network.{name}", _of_template, shown=True)
    saving = "tensorflow.python.keras.saving"
    mends.after("keras.engine.saving", functools.partial(functions, "save_model", "load_model"))
    in_hdf5 = functools.partial(functions, "save_model_to_hdf5", "load_model_from_hdf5")
    mends.after(f"{saving}.hdf5_format", in_hdf5)
    mends.around(f"{saving}.save", "save_model", _save_template, shown=True)
    if not mends.is_tensorflow_1:
        # The original asks the first argument, which was a sentence of h5py, and says no other error of h5py.
        callbacks = "tensorflow.python.keras.callbacks"
        mends.edit(callbacks, "'is a directory' in six.ensure_str(e.args[0])", "_is_of_a_folder(e)")
        mends.after(callbacks, lambda module: vars(module).update(_is_of_a_folder=_is_of_a_folder))


def _is_of_a_folder(error: OSError) -> bool:
    if error.errno is not None and not isinstance(error, IsADirectoryError):
        raise error  # a full disk, which is no error of h5py here
    return error.errno is not None


def _remember_template(make: Any, model: Any, gpus: Any = None, *args: Any, **options: Any) -> Any:
    parallel = make(model, gpus, *args, **options)
    if parallel is not model:
        # With `cpu_relocation` it is a copy of what was passed.
        template = next(layer for layer in parallel.layers if layer.name == model.name)
        towers = next(layer.arguments["parts"] for layer in parallel.layers if hasattr(layer, "arguments"))
        vars(parallel)[_TEMPLATE] = template
        vars(parallel)[_GPUS] = list(gpus) if isinstance(gpus, (list, tuple)) else towers
    return parallel


def template_of(model: Any) -> Any:
    """Return the template of a parallel model; any other model is its own."""
    return vars(model).get(_TEMPLATE, model)


@contextlib.contextmanager
def _saved_in_place_of(model: Any) -> Iterator[Any]:
    """Yield the model to save: of a parallel model the template, compiled as the parallel model is."""
    template = template_of(model)
    if template is model:
        yield model
        return
    attributes, compiled = vars(template), vars(model)
    names = (*_COMPILED, _GPUS)
    before = {name: attributes[name] for name in names if name in attributes}
    attributes.update({name: compiled[name] for name in names if name in compiled})
    try:
        yield template
    finally:
        for name in names:
            attributes.pop(name, None)
        attributes.update(before)


@contextlib.contextmanager
def _written_whole(module: ModuleType, path: Any, overwrite: bool) -> Iterator[Any]:
    """Yield the path to write to; None if the user does not want the file overwritten."""
    if not isinstance(path, (str, os.PathLike)) or str(path).startswith("gs://"):
        yield path
        return
    if not overwrite and os.path.isfile(path) and not module.ask_to_proceed_with_overwrite(path):
        yield None
        return
    with replacing(path) as temporary:
        yield str(temporary)


def _save_model(
    module: ModuleType, save: Any, model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True
) -> None:
    import h5py

    with _written_whole(module, filepath, overwrite) as path, _saved_in_place_of(model) as saved:
        if path is not None:
            save(saved, path, overwrite or path is not filepath, include_optimizer)
            if _GPUS in vars(saved) and isinstance(path, str):
                with h5py.File(path, "r+") as file:
                    file.attrs[_GPUS] = json.dumps(vars(saved)[_GPUS])


def _load_model(package: str, load: Any, filepath: Any, custom_objects: Any = None, compile: Any = True) -> Any:
    model = load(filepath, custom_objects, compile)
    gpus = _noted_gpus(filepath)
    return model if gpus is None else _parallel_again(model, gpus, filepath, package)


def _noted_gpus(path: Any) -> Any:
    import h5py

    if not _is_hdf5_file(path):
        return None
    with h5py.File(path, "r") as file:
        if _GPUS not in file.attrs:
            return None
        noted = file.attrs[_GPUS]
    try:
        gpus = json.loads(noted)
        ids = gpus if isinstance(gpus, list) else range(gpus)
        if 0 < len(ids) <= _MOST_GPUS and all(type(each) is int for each in ids):
            return gpus
    except (ValueError, TypeError, OverflowError, RecursionError):
        pass
    raise ValueError(
        f"Expected the ids of GPUs, or how many there were, in the attribute {_GPUS} of {os.fspath(path)}. Received: "
        f"{noted!r:.80}. The file is damaged: `load_weights` does without the attribute."
    )


def _parallel_again(template: Any, gpus: Any, path: Any, package: str) -> Any:
    """Return the parallel model that a file was saved of; the template where there are not as many GPUs."""
    root = package.rpartition(".")[0]
    utils = importlib.import_module(f"{root}.utils.multi_gpu_utils")
    there = {utils._normalize_device_name(name) for name in utils._get_available_devices()}
    wanted = {f"/gpu:{i}" for i in (gpus if isinstance(gpus, list) else range(gpus))}
    if not wanted <= there:
        print(
            f"{os.fspath(path)} was saved from a parallel model on {len(wanted)} GPUs, and this machine has fewer: "
            f"load_model returns the single model. For the parallel one: parallel-compat run --replicas {len(wanted)}",
            file=sys.stderr,
        )
        return template
    parallel = utils.multi_gpu_model(template, gpus)
    if getattr(template, "optimizer", None) is not None:
        _compile_as(parallel, template)
    return parallel


def _compile_as(parallel: Any, template: Any) -> None:
    """Compile a parallel model as its template is, with the state of its optimizer."""
    state = template.optimizer.get_weights()
    if hasattr(template, "_get_compile_args"):  # tf.keras 2.2
        parallel.compile(**template._get_compile_args())
        return
    metrics, weighted_metrics = (
        getattr(template, name if hasattr(template, name) else name.removeprefix("_compile_"))
        for name in ("_compile_metrics", "_compile_weighted_metrics")
    )
    parallel.compile(
        template.optimizer,
        template.loss,
        metrics=metrics,
        loss_weights=template.loss_weights,
        sample_weight_mode=template.sample_weight_mode,
        weighted_metrics=weighted_metrics,
    )
    if state and hasattr(parallel, "_make_train_function"):  # standalone Keras makes the optimizer's variables anew
        parallel._make_train_function()
        template.optimizer.set_weights(state)


def _save_template(save: Any, model: Any, *args: Any, **options: Any) -> None:
    """Let a SavedModel hold the template, too."""
    with _saved_in_place_of(model) as saved:
        save(saved, *args, **options)


def _save_weights(
    module: ModuleType, save: Any, self: Any, filepath: Any, overwrite: bool = True, save_format: Any = None
) -> Any:
    template = template_of(self)
    more = {} if save_format is None else {"save_format": save_format}
    if save_format not in (None, "h5", "hdf5", "keras") or not _is_hdf5(module, filepath, save_format):
        return save(template, filepath, overwrite, **more)
    with _written_whole(module, filepath, overwrite) as path:
        return save(template, path, True, **more) if path is not None else None


def _load_weights(load: Any, self: Any, filepath: Any, *args: Any, **options: Any) -> Any:
    template = template_of(self)
    has_towers = template is not self and _names_layer(filepath, template.name)
    return load(self if has_towers else template, filepath, *args, **options)


def _of_template(method: Any, self: Any, **options: Any) -> Any:
    return method(template_of(self), **options)


def _is_hdf5(module: ModuleType, path: Any, save_format: Any) -> bool:
    """Say whether weights are written as HDF5: always by standalone Keras, by the ending by tf.keras."""
    is_standalone = module.__name__.startswith("keras.")
    return is_standalone or save_format is not None or str(path).endswith((".h5", ".keras", ".hdf5"))


def _is_hdf5_file(path: Any) -> bool:
    import h5py

    return isinstance(path, (str, os.PathLike)) and os.path.isfile(path) and bool(h5py.is_hdf5(path))


def _names_layer(path: Any, name: str) -> bool:
    """Say whether a file of weights has a layer of this name, as that of a parallel model has its template."""
    import h5py

    if not _is_hdf5_file(path):
        return False
    with h5py.File(path, "r") as file:
        group = file["model_weights"] if "layer_names" not in file.attrs and "model_weights" in file else file
        names = group.attrs.get("layer_names", ())
        return name in {each.decode() if isinstance(each, bytes) else str(each) for each in names}
