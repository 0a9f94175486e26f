"""What migrated sources import: stand-ins, on plain Keras 3, for what Keras 3 has no counterpart of."""

from __future__ import annotations

import parallel_compat.backend.keras3  # noqa: F401  # what it mends in Keras holds in each migrated script
