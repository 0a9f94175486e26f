"""What old names, arguments, defaults and strings mean today: tables of facts, which `run` and `migrate` read."""

from __future__ import annotations
