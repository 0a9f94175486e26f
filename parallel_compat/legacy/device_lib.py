"""The device listings from which old scripts compute `gpus=`: they name what `parallelize` would use.

Simulated devices are listed as GPUs, because that is what the scripts count.
"""

from __future__ import annotations

from dataclasses import dataclass

from parallel_compat.devices import available_devices


@dataclass(frozen=True)
class Device:
    """One device, with the fields of TensorFlow 1's `DeviceAttributes` that scripts read.

    Attributes:
        name: as in `"/device:GPU:0"`.
        device_type: "CPU" or "GPU".
        memory_limit: bytes; 0 where TensorFlow does not tell.
        physical_device_desc: what it stands on.
    """

    name: str
    device_type: str
    memory_limit: int = 0
    physical_device_desc: str = ""


def list_local_devices(session_config: object = None) -> list[Device]:
    """List the CPU, then the devices that `parallelize` would use.

    Args:
        session_config: not used; there are no sessions.
    """
    replicas = [
        Device(f"/device:GPU:{i}", "GPU", physical_device_desc=f"device: {i}, name: {name}")
        for i, name in enumerate(available_devices())
    ]
    return [Device("/device:CPU:0", "CPU"), *replicas]


def get_available_gpus() -> list[str]:
    """Return the names of the devices that `parallelize` would use, as Keras's backend spelled them."""
    return [device.name for device in list_local_devices() if device.device_type == "GPU"]


def get_available_devices() -> list[str]:
    """Return the names of all devices, as `keras.utils.multi_gpu_utils` spelled them: `"/cpu:0"`, `"/gpu:0"`."""
    return [normalize_device_name(device.name) for device in list_local_devices()]


def normalize_device_name(name: str) -> str:
    """Spell a device's name as `multi_gpu_utils` did.

    >>> normalize_device_name("/job:localhost/replica:0/task:0/device:GPU:1")
    '/gpu:1'
    """
    return "/" + ":".join(name.lower().replace("/", "").split("device:")[-1].split(":")[-2:])
