"""Schedules of `LearningRateScheduler`, in TensorFlow 2.2."""

from __future__ import annotations
