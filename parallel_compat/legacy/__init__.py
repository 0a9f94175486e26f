"""What migrated sources import: stand-ins, on plain Keras 3, for what Keras 3 has no counterpart of."""

from __future__ import annotations
