"""Strings that name things: losses, initializers, constraints, and the fields of logs and history."""

from __future__ import annotations

from functools import cache

from parallel_compat.names.table import Identifier

_IDENTIFIERS = {
    "loss": "kullback_leibler_divergence>kl_divergence cosine_proximity>cosine_similarity cosine>cosine_similarity "
    "logcosh>log_cosh",
    "metric": "kld>kl_divergence KLD>kl_divergence kullback_leibler_divergence>kl_divergence logcosh>log_cosh",
    "constraint": "maxnorm>max_norm nonneg>non_neg unitnorm>unit_norm",
    # `metrics=["accuracy"]` was logged as `acc`, and is logged as `accuracy`.
    "log": "acc>accuracy val_acc>val_accuracy",
}

# The metric of these names had the sign of the loss, which none of Keras 3 has; `COSINE_PROXIMITY` has it.
COSINE_METRICS = ("cosine_proximity", "cosine")
COSINE_PROXIMITY = "parallel_compat.legacy.losses.cosine_proximity"


@cache
def identifiers() -> dict[str, dict[str, Identifier]]:
    """Return the rows by kind and old string."""
    table: dict[str, dict[str, Identifier]] = {}
    for kind, pairs in _IDENTIFIERS.items():
        for pair in pairs.split():
            old, _, new = pair.partition(">")
            table.setdefault(kind, {})[old] = Identifier(kind, old, new)
    return table
