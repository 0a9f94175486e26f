"""The step on replicas: forward and backward on each, one loss and one update of the weights."""

from __future__ import annotations
