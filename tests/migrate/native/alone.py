"""`python alone.py REPLICAS SCRIPT ARGS...`: run a script where there is no parallel_compat, on simulated devices.

A machine with that many GPUs needs nothing of this: the script asks for them by itself.
"""

from __future__ import annotations

import os
import runpy
import sys


class Absent:
    """An import finder by which this package is not installed."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] == "parallel_compat":
            raise ModuleNotFoundError(f"No module named {name!r}")


sys.meta_path.insert(0, Absent())  # type: ignore[arg-type]

import tensorflow as tf  # noqa: E402

replicas = int(sys.argv[1])
configurations = [tf.config.LogicalDeviceConfiguration()] * replicas
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], configurations)
Strategy = tf.distribute.MirroredStrategy
devices = [f"CPU:{i}" for i in range(replicas)]
tf.distribute.MirroredStrategy = lambda *_: Strategy(devices, cross_device_ops=tf.distribute.ReductionToOneDevice())
sys.path.insert(0, os.getcwd())
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
assert "parallel_compat" not in sys.modules
