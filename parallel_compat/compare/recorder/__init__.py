"""The parts of `record_keras.py`, which `recorder_command` joins into the one file that runs in old environments."""

from __future__ import annotations
