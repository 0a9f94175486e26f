"""Simulated GPUs for TensorFlow 1: code that lists devices finds as many as `--replicas` says.

Soft placement puts what is meant for a simulated GPU on a device that is there, so towers compute what they would.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
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

    def placed_softly(init: Any, self: Any, target: str = "", graph: Any = None, config: Any = None) -> None:
        soft = config_pb2.ConfigProto()
        soft.CopyFrom(config or context.context().config)
        soft.allow_soft_placement = True
        init(self, target, graph, soft)

    def of_session(i: int) -> Any:
        return session._DeviceAttributes(f"{_NAME}{i}", "GPU", _MEMORY, i)

    def of_machine(i: int) -> Any:
        return device_attributes_pb2.DeviceAttributes(name=f"{_NAME}{i}", device_type="GPU", memory_limit=_MEMORY)

    def all_of_them(all_local_devices: Any, num_gpus: int | None = None) -> list[Any]:
        """Replicas of a strategy are fed by their devices: these need to be of a kind that is there."""
        real: list[Any] = all_local_devices(num_gpus)
        return real if len(real) >= count else [f"/device:CPU:{i}" for i in range(count)][:num_gpus]

    mends.around(session.BaseSession, "__init__", placed_softly)
    mends.around(session.BaseSession, "list_devices", functools.partial(_with, count, of_session))
    mends.around(device_lib, "list_local_devices", functools.partial(_with, count, of_machine))
    mends.around(mirrored_strategy, "all_local_devices", all_of_them)
    compute_channels_last(mends)


def compute_channels_last(mends: Register) -> None:
    """Let convolutions of channels first look at real devices: CPUs refuse them, whatever they are called."""
    from tensorflow.python.eager import context

    def looks_at_real_devices(has: Any) -> bool:
        return has() and bool(context.context().list_physical_devices("GPU"))

    for backend in ("tensorflow.python.keras.backend", "keras.backend.tensorflow_backend"):
        mends.around(backend, "_has_nchw_support", looks_at_real_devices)


def _with(count: int, make: Callable[[int], Any], listed: Callable[..., Any], *args: Any, **options: Any) -> list[Any]:
    """List as many GPUs as there are, and simulated ones up to a number."""
    devices: list[Any] = listed(*args, **options)
    real = sum(device.device_type == "GPU" for device in devices)
    return devices + [make(i) for i in range(real, count)]
