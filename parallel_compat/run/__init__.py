"""`parallel-compat run` and its other doors: old code runs unmodified, answered by the table of names."""

from __future__ import annotations
