"""The seam to the Keras underneath: what is private to Keras and TensorFlow is used here and nowhere else."""

from __future__ import annotations
