"""Sequences of several lengths and causal convolutions of tf.keras; the numbers are those of TensorFlow 2.2.3."""

from __future__ import annotations
