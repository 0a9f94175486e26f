"""The second target of `migrate`: plain Keras 3 and `tf.distribute`, without this package.

The rules of `migrate/rules/` bring every old spelling to one name of this package. The rules here begin with what those
wrote, and know those names alone. What plain Keras has no spelling of is in `legacy_numerics.py`, which is copied.
"""

from __future__ import annotations

# The rule whose findings are said once, where something is rewritten that is computed otherwise from then on.
DIFFERENCES = "native-differences"
# Those that `--keep parallel` leaves out.
OF_PARALLEL_MODELS = frozenset(("native-replicas",))
# Names of this package that it leaves.
PARALLEL_NAMES = frozenset(
    ("parallel_compat.multi_gpu_model", "parallel_compat.parallelize", "parallel_compat.simulate_devices")
)
