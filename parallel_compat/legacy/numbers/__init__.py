"""What is computed as it was in its time: logs, parameters of callbacks, regularizers."""

from __future__ import annotations
