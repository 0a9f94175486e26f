"""Simulated GPUs for TensorFlow 2: code that lists GPUs finds as many as `--replicas` says, and strategies use them.

A machine without a GPU gets logical CPUs, which stand for the GPUs; the one GPU of a machine is split. What a script
then sets on a GPU (growth of its memory, logical GPUs, which are visible) is accepted.
"""

from __future__ import annotations

import re
from typing import Any

from parallel_compat.originals.mends import devices
from parallel_compat.originals.mends.register import Register

_MEGABYTES = 1024  # of a part of a GPU: TensorFlow cannot tell a GPU's memory before it starts
_GPU = re.compile(r"(?i)(?<=device:)gpu|(?<=/)gpu")


def simulate(mends: Register, count: int) -> None:
    """Let TensorFlow 2 say that there are some GPUs; where there are as many, nothing is simulated."""
    from tensorflow.python.framework import config

    real = len(config.list_physical_devices("GPU"))
    if real < count:
        _Simulated(mends, count, real > 0)


class _Simulated:
    """The functions of `tf.config` where some GPUs are simulated."""

    def __init__(self, mends: Register, count: int, on_gpu: bool) -> None:
        import tensorflow as tf
        from tensorflow.python.distribute import device_util
        from tensorflow.python.eager import context
        from tensorflow.python.framework import config

        self.config = config
        self.kind = "GPU" if on_gpu else "CPU"
        self.gpus = [context.PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(count)]
        self.visible = list(self.gpus)
        self.parts = dict.fromkeys(self.gpus, 1)
        self.today = {name: getattr(config, name) for name in self.functions()}
        for owner in (config, tf.config, tf.config.experimental, tf.compat.v1.config, tf.compat.v1.config.experimental):
            for name, value in list(vars(owner).items()):
                for known, function in self.functions().items():
                    if value is self.today[known]:
                        setattr(owner, name, function)
        mends.around(device_util, "canonicalize", self.canonicalize)
        mends.replace(device_util, "local_devices_from_num_gpus", lambda today: self.local_devices)
        mends.after("tensorflow.python.keras.utils.multi_gpu_utils", self.list_for_towers)
        devices.compute_channels_last(mends)
        self.split()

    def list_for_towers(self, multi_gpu_utils: Any) -> None:
        """`multi_gpu_model` asks a session for its devices."""
        multi_gpu_utils._get_available_devices = lambda: [
            "/device:CPU:0",
            *(device.name for device in self.list_logical_devices("GPU")),
        ]

    def functions(self) -> dict[str, Any]:
        names = ("list_physical_devices", "list_logical_devices", "get_visible_devices", "set_visible_devices")
        of_one = ("set_memory_growth", "get_memory_growth", "set_logical_device_configuration")
        return {name: getattr(self, name) for name in (*names, *of_one, "get_logical_device_configuration")}

    def split(self) -> None:
        """Make as many logical devices as the visible GPUs have parts."""
        limit = _MEGABYTES if self.kind == "GPU" else None
        device = self.today["list_physical_devices"](self.kind)[0]
        part = self.config.context.LogicalDeviceConfiguration(memory_limit=limit)
        self.today["set_logical_device_configuration"](device, [part] * max(1, self.count()))

    def count(self) -> int:
        return sum(self.parts[gpu] for gpu in self.visible)

    def canonicalize(self, today: Any, d: Any, default: Any = None) -> Any:
        """Strategies ask for the full name of a device: that of the logical device that stands for a GPU."""
        full = today(d, default)
        return full if self.kind == "GPU" else _GPU.sub("CPU", full)

    def local_devices(self, num_gpus: int) -> tuple[str, ...]:
        return tuple(f"/device:{self.kind}:{i}" for i in range(num_gpus or self.count())) or ("/device:CPU:0",)

    def list_physical_devices(self, device_type: str | None = None) -> list[Any]:
        if device_type == "GPU":
            return list(self.gpus)
        listed = self.today["list_physical_devices"](device_type)
        return [d for d in listed if d.device_type != "GPU"] + (self.gpus if device_type is None else [])

    def list_logical_devices(self, device_type: str | None = None) -> list[Any]:
        if device_type not in ("GPU", None):
            return self.today["list_logical_devices"](device_type)  # type: ignore[no-any-return]
        logical = self.config.context.LogicalDevice
        gpus = [logical(f"/device:GPU:{i}", "GPU") for i in range(self.count())]
        others = self.today["list_logical_devices"]() if device_type is None else []
        return [d for d in others if d.device_type != "GPU"] + gpus

    def get_visible_devices(self, device_type: str | None = None) -> list[Any]:
        if device_type == "GPU":
            return list(self.visible)
        listed = self.today["get_visible_devices"](device_type)
        return [d for d in listed if d.device_type != "GPU"] + (self.visible if device_type is None else [])

    def set_visible_devices(self, devices: Any, device_type: str | None = None) -> None:
        listed = list(devices) if isinstance(devices, (list, tuple)) else [devices]
        others = [device for device in listed if device not in self.parts]
        if device_type != "GPU":
            self.today["set_visible_devices"](others, device_type if device_type else "CPU")
        if device_type != "CPU":
            self.visible = [device for device in listed if device in self.parts]
            self.split()

    def set_memory_growth(self, device: Any, enable: bool) -> None:
        if device not in self.parts:
            self.today["set_memory_growth"](device, enable)

    def get_memory_growth(self, device: Any) -> Any:
        return True if device in self.parts else self.today["get_memory_growth"](device)

    def set_logical_device_configuration(self, device: Any, logical_devices: Any) -> None:
        if device in self.parts:
            self.parts[device] = len(logical_devices)
            self.split()
        else:
            self.today["set_logical_device_configuration"](device, logical_devices)

    def get_logical_device_configuration(self, device: Any) -> Any:
        if device in self.parts:
            return [self.config.context.LogicalDeviceConfiguration()] * self.parts[device]
        return self.today["get_logical_device_configuration"](device)
