"""`parallel-compat run`, `install()`, the notebook extension and the pytest plugin: old code runs unmodified."""

from __future__ import annotations
