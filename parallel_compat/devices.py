"""Which devices the replicas stand on: GPU ids to device names, and simulated devices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TypeGuard

# Megabytes of a simulated device on a GPU where the caller names none: TensorFlow cannot tell a GPU's memory
# before it starts, and a part without a limit would take all of it.
GPU_PART_MEGABYTES = 1024


def simulate_devices(n: int, memory_limit: int | None = None) -> list[str]:
    """Split the only GPU, or the CPU, into `n` logical devices, so that code for n GPUs runs on any machine.

    `gpus=n` then means these devices. Batches are split as for n GPUs; the speed is not that of GPUs. See
    https://www.tensorflow.org/guide/gpu#using_multiple_gpus for logical devices.

    Examples:
        >>> import parallel_compat
        >>> parallel_compat.simulate_devices(4)
        ['CPU:0', 'CPU:1', 'CPU:2', 'CPU:3']

    Args:
        n: number of devices, an int >= 2.
        memory_limit: megabytes of each device of a split GPU. Default: 1024. A CPU has no such limit.

    Returns:
        The names of the `n` devices.

    Raises:
        ValueError: if `n` is not an int >= 2, if `memory_limit` is not an int > 0 or is given for a CPU, or if the
            machine has several GPUs (use them instead).
        RuntimeError: if TensorFlow has started already. Devices can be split only before the first operation, model
            or variable.
    """
    import tensorflow as tf

    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise ValueError(f"Expected `n` to be an int >= 2. Received: n={n!r}")
    gpus = tf.config.get_visible_devices("GPU")
    if len(gpus) > 1:
        raise ValueError(
            f"Expected at most one visible GPU to split. This machine has {len(gpus)}: call "
            f"`multi_gpu_model(model, gpus={len(gpus)})` without simulating, or hide them with "
            "`tf.config.set_visible_devices([], 'GPU')` first."
        )
    if memory_limit is not None and (not _is_int(memory_limit) or memory_limit <= 0 or not gpus):
        raise ValueError(
            "Expected `memory_limit` to be an int > 0 (megabytes), and a GPU to split. "
            f"Received: memory_limit={memory_limit!r}, with {len(gpus)} visible GPUs."
        )
    kind = "GPU" if gpus else "CPU"
    names = [f"{kind}:{i}" for i in range(n)]
    physical = gpus[0] if gpus else tf.config.get_visible_devices("CPU")[0]
    already = tf.config.get_logical_device_configuration(physical)
    if already is not None and len(already) == n:
        return names
    limit = (memory_limit or GPU_PART_MEGABYTES) if gpus else None
    parts = [tf.config.LogicalDeviceConfiguration(memory_limit=limit) for _ in range(n)]
    with _before_tensorflow_starts("simulate_devices"):
        tf.config.set_logical_device_configuration(physical, parts)
    return names


def use_gpus(ids: Sequence[int]) -> list[str]:
    """Make only these GPUs of a shared machine visible to TensorFlow; they then count from 0.

    From outside the script, `CUDA_VISIBLE_DEVICES` does the same. In TensorFlow 1 it was
    `config.gpu_options.visible_device_list`.

    Examples:
        >>> import parallel_compat
        >>> parallel_compat.use_gpus([])  # none: the CPU is used
        []

    Args:
        ids: GPU numbers, as TensorFlow lists them before any are hidden.

    Returns:
        The new names of the GPUs. `"GPU:0"` is the first of `ids`.

    Raises:
        ValueError: if a number has no GPU, or is given twice.
        RuntimeError: if TensorFlow has started already.
    """
    import tensorflow as tf

    physical = tf.config.list_physical_devices("GPU")
    if not all(_is_int(i) and 0 <= i < len(physical) for i in ids) or len(set(ids)) != len(ids):
        raise ValueError(
            f"Expected `ids` to be different numbers of GPUs of this machine, which has {len(physical)}. "
            f"Received: ids={ids!r}"
        )
    with _before_tensorflow_starts("use_gpus"):
        tf.config.set_visible_devices([physical[i] for i in ids], "GPU")
    return [f"GPU:{i}" for i in range(len(ids))]


def limit_gpu_memory(megabytes: int | None = None, *, growth: bool = False) -> list[str]:
    """Limit the memory that TensorFlow takes on each visible GPU.

    It replaces `config.gpu_options.per_process_gpu_memory_fraction` and `allow_growth` of TensorFlow 1.

    Examples:
        >>> import parallel_compat
        >>> parallel_compat.limit_gpu_memory(growth=True)  # without a GPU there is nothing to limit
        []

    Args:
        megabytes: the limit for each GPU, an int > 0.
        growth: instead of a limit, start with little memory and take more as needed.

    Returns:
        The names of the limited GPUs.

    Raises:
        ValueError: if both or none of the arguments are given.
        RuntimeError: if TensorFlow has started already.
    """
    import tensorflow as tf

    limited = megabytes is not None
    if limited == growth or (limited and (not _is_int(megabytes) or megabytes <= 0)):
        raise ValueError(
            "Expected either `megabytes`, an int > 0, or `growth=True`. "
            f"Received: megabytes={megabytes!r}, growth={growth!r}"
        )
    gpus = tf.config.get_visible_devices("GPU")
    with _before_tensorflow_starts("limit_gpu_memory"):
        for gpu in gpus:
            if growth:
                tf.config.experimental.set_memory_growth(gpu, True)
            else:
                limit = tf.config.LogicalDeviceConfiguration(memory_limit=megabytes)
                tf.config.set_logical_device_configuration(gpu, [limit])
    return [f"GPU:{i}" for i in range(len(gpus))]


@contextlib.contextmanager
def _before_tensorflow_starts(function: str) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise RuntimeError(
            f"Expected `{function}` before TensorFlow starts, but it has started: an operation, a variable or a "
            f"model was made before. Call `{function}` directly after the imports."
        ) from error


_fewest = 2  # devices of a parallel model in this process


def accept_one_device() -> None:
    """Let one device be enough for a parallel model: this process is one of several workers."""
    global _fewest
    _fewest = 1


def available_devices() -> list[str]:
    """Return the names of the devices that `gpus=` counts: the visible GPUs, or else the simulated devices.

    Examples:
        >>> import parallel_compat
        >>> _ = parallel_compat.simulate_devices(4)
        >>> parallel_compat.available_devices()
        ['CPU:0', 'CPU:1', 'CPU:2', 'CPU:3']

    Returns:
        Names such as `"GPU:0"`. Empty on a machine without GPUs and without simulated devices.
    """
    gpus = _short_names("GPU")
    if gpus:
        return gpus
    cpus = _short_names("CPU")
    return cpus if len(cpus) > 1 else []


def _short_names(kind: str) -> list[str]:
    """Name the devices of a kind; one of several workers lists those of the others, too, which have the same names."""
    import tensorflow as tf

    return list(dict.fromkeys(short_name(device.name) for device in tf.config.list_logical_devices(kind)))


def devices_of_gpus(gpus: int | Sequence[int] | None) -> list[str]:
    """Turn the argument `gpus` of `multi_gpu_model` into device names.

    Args:
        gpus: an int >= 2 (the first so many), a list or tuple of ids, or None or 0 for all.

    Returns:
        Two or more device names; one or more in one of several workers.

    Raises:
        ValueError: fewer than two devices, a device that is not there, a duplicate, or no number at all.
            The old function raised the same class, and old scripts fall back to one device on it.
    """
    available = available_devices() or (_short_names("CPU") if _fewest == 1 else [])
    if isinstance(gpus, (bool, str)) or not (gpus is None or _is_int(gpus) or isinstance(gpus, (list, tuple))):
        raise ValueError(
            f"Expected `gpus` to be an int >= 2, a list of ids such as [0, 1], or None. Received: gpus={gpus!r} of "
            f"type {type(gpus).__name__}."
        )
    if gpus is None or (len(gpus) if isinstance(gpus, (list, tuple)) else gpus) == 0:
        ids = list(range(len(available)))
    elif isinstance(gpus, (list, tuple)):
        if not all(_is_int(i) for i in gpus):
            raise ValueError(f"Expected the ids in `gpus` to be ints. Received: gpus={gpus!r}")
        ids = [int(i) for i in gpus]
    else:
        ids = list(range(int(gpus)))
    if len(set(ids)) != len(ids):
        raise ValueError(f"Expected each device once in `gpus`. Received: gpus={gpus!r}")
    missing = [i for i in ids if not 0 <= i < len(available)]
    if len(ids) < _fewest or missing:
        wanted = "at least 2 devices" if len(ids) < _fewest else f"the devices {ids}"
        raise ValueError(f"Expected {wanted} for `gpus`. Received: gpus={gpus!r}. {_devices_text(available, len(ids))}")
    kind = available[0].split(":")[0]
    return [f"{kind}:{i}" for i in ids]


def check_devices(devices: Sequence[str]) -> list[str]:
    """Check the argument `devices`: two or more different names of devices that exist.

    Args:
        devices: names such as `"GPU:0"`, `"/gpu:0"` or `"/device:CPU:1"`.

    Returns:
        The names in their short form.

    Raises:
        ValueError: fewer than two (than one in one of several workers), a duplicate, or a device that is not there.
    """
    import tensorflow as tf

    if isinstance(devices, str) or not all(isinstance(name, str) for name in devices):
        raise ValueError(
            f'Expected `devices` to be a list of names such as ["GPU:0", "GPU:1"]. Received: devices={devices!r}'
        )
    names = [short_name(name) for name in devices]
    existing = [short_name(device.name) for device in tf.config.list_logical_devices()]
    if len(names) < _fewest or len(set(names)) != len(names) or not set(names) <= set(existing):
        raise ValueError(
            f"Expected `devices` to name two or more different devices of this machine, which has {existing}. "
            f"Received: devices={list(devices)!r}"
        )
    return names


def short_name(name: str) -> str:
    """The last two parts of a device's name, `"GPU:0"` for `"/job:localhost/replica:0/task:0/device:GPU:0"`."""
    return ":".join(name.upper().replace("/", "").split(":")[-2:])


def _is_int(value: object) -> TypeGuard[int]:
    import numpy as np

    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def how_to_simulate(number: int) -> str:
    """Say how code finds so many devices on a machine without GPUs; `parallel-compat run` says it in its own way."""
    return (
        f"Try: `parallel-compat run --replicas {number} SCRIPT`, or `parallel_compat.simulate_devices({number})` "
        "directly after the imports."
    )


def _devices_text(available: list[str], wanted: int) -> str:
    if not available:
        return f"TensorFlow sees no GPU. {how_to_simulate(max(wanted, 2))}"
    if wanted < 2:
        return f"TensorFlow sees {available}. On one device train the model itself, without a parallel model."
    if available[0].startswith("CPU"):
        return f"TensorFlow sees {available}. {how_to_simulate(wanted)}"
    return f"TensorFlow sees {available}. Reduce `gpus`, or name devices with `parallelize(model, devices=[...])`."
