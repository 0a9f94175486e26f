"""Simulated GPUs for TensorFlow 1: code that lists devices finds as many as `--replicas` says.

Soft placement puts what is meant for a simulated GPU on a device that is there, so towers compute what they would.

Seen in TensorFlow 2.18 to 2.21.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from parallel_compat.originals.mends.register import Register

_NAME = "/job:localhost/replica:0/task:0/device:GPU:"
_MEMORY = 16 << 30  # bytes


def simulate(mends: Register, count: int) -> None:
    """Let TensorFlow 1 say that there are some GPUs."""
    from tensorflow.core.framework import device_attributes_pb2
    from tensorflow.core.protobuf import config_pb2
    from tensorflow.python.client import device_lib, session
    from tensorflow.python.distribute import mirrored_strategy
    from tensorflow.python.eager import context

    def placed_softly(init: Any) -> Any:
        def __init__(self: Any, target: str = "", graph: Any = None, config: Any = None) -> None:
            soft = config_pb2.ConfigProto()
            soft.CopyFrom(config or context.context().config)
            soft.allow_soft_placement = True
            init(self, target, graph, soft)

        return __init__

    def of_session(i: int) -> Any:
        return session._DeviceAttributes(f"{_NAME}{i}", "GPU", _MEMORY, i)

    def of_machine(i: int) -> Any:
        return device_attributes_pb2.DeviceAttributes(name=f"{_NAME}{i}", device_type="GPU", memory_limit=_MEMORY)

    mends.replace(session.BaseSession, "__init__", placed_softly)
    mends.replace(session.BaseSession, "list_devices", lambda listed: _with(count, listed, of_session))
    mends.replace(device_lib, "list_local_devices", lambda listed: _with(count, listed, of_machine))

    def all_of_them(all_local_devices: Any) -> Any:
        """Replicas of a strategy are fed by their devices: these need to be of a kind that is there."""

        def lists(num_gpus: int | None = None) -> list[Any]:
            real = all_local_devices(num_gpus)
            return real if len(real) >= count else [f"/device:CPU:{i}" for i in range(count)][:num_gpus]

        return lists

    mends.replace(mirrored_strategy, "all_local_devices", all_of_them)

    compute_channels_last(mends)


def compute_channels_last(mends: Register) -> None:
    """Let convolutions of channels first look at real devices: CPUs refuse them, whatever they are called."""
    from tensorflow.python.eager import context

    def looks_at_real_devices(module: ModuleType) -> None:
        mends.replace(
            module,
            "_has_nchw_support",
            lambda has: lambda: has() and bool(context.context().list_physical_devices("GPU")),
        )

    mends.after("tensorflow.python.keras.backend", looks_at_real_devices)
    mends.after("keras.backend.tensorflow_backend", looks_at_real_devices)


def _with(count: int, listed: Callable[..., list[Any]], make: Callable[[int], Any]) -> Callable[..., list[Any]]:
    """Return a function that lists as many GPUs as there are, and simulated ones up to a number."""

    def lists(*args: Any, **options: Any) -> list[Any]:
        devices = listed(*args, **options)
        real = sum(device.device_type == "GPU" for device in devices)
        return devices + [make(i) for i in range(real, count)]

    return lists
