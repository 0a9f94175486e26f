"""What a bug report needs: the versions of this package and of what it stands on, and the devices."""

from __future__ import annotations

import os
import platform
import sys

from parallel_compat import __version__, startup_log
from parallel_compat.missing_keras import installed_version

_PACKAGES = ("tensorflow", "keras", "tf_keras", "numpy", "h5py")


def versions() -> list[str]:
    """Return a line each for this package, Python, the packages below it, and the devices that TensorFlow sees."""
    lines = [f"parallel-compat {__version__}", f"Python {platform.python_version()} on {platform.platform()}"]
    for name in _PACKAGES:
        found = installed_version(name)
        if found is not None:
            lines.append(f"{name} {found}")
        elif name != "tf_keras":  # few have it; it matters where it is there
            lines.append(f"{name} is not installed")
    lines.append(f"devices {_devices()}")
    return lines


def _devices() -> str:
    startup_log.leave_out()
    try:
        import tensorflow as tf
    except Exception as error:  # a broken installation is what many reports are about
        return f"unknown: importing tensorflow ended in {type(error).__name__}: {str(error).splitlines()[0][:200]}"
    names = [device.name.removeprefix("/physical_device:") for device in tf.config.list_physical_devices()]
    return f"{', '.join(names)} ({os.cpu_count()} cores{'' if sys.platform != 'darwin' else ', macOS'})"
