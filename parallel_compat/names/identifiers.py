"""Strings that name things: losses, initializers, constraints, and the fields of logs and history."""

from __future__ import annotations

from functools import cache
from typing import Any

from parallel_compat.names.table import Identifier

_IDENTIFIERS = {
    "loss": "kullback_leibler_divergence>kl_divergence cosine_proximity>cosine_similarity cosine>cosine_similarity "
    "logcosh>log_cosh huber_loss>huber",
    "metric": "kld>kl_divergence KLD>kl_divergence kullback_leibler_divergence>kl_divergence logcosh>log_cosh",
    "constraint": "maxnorm>max_norm nonneg>non_neg unitnorm>unit_norm",
    # `metrics=["accuracy"]` was logged as `acc`, and is logged as `accuracy` (`LOGS_TODAY`).
    "log": "acc>accuracy val_acc>val_accuracy",
}

# Strings that hardly anything but old Keras reads, wherever they stand: what each is, and what to say today.
TELLING = {
    "kullback_leibler_divergence": ("loss or metric", "`kl_divergence`"),
    "cosine_proximity": ("loss or metric", "`cosine_similarity`"),
    "logcosh": ("loss or metric", "`log_cosh`"),
    "huber_loss": ("loss", "`huber`"),
    "maxnorm": ("constraint", "`max_norm`"),
    "nonneg": ("constraint", "`non_neg`"),
    "unitnorm": ("constraint", "`unit_norm`"),
    "l1_l2": ("regularizer", "`keras.regularizers.L1L2(0.01, 0.01)`, no string"),
    "hard_sigmoid": ("activation", "another one; `parallel_compat.legacy.activations.hard_sigmoid` is the old one"),
}
# Those of them that code of today says, too.
ALSO_TODAY = ("huber_loss", "hard_sigmoid")

# Metric functions that Keras 3 computes otherwise, or refuses, where targets have no axis for each number.
NEED_TARGETS_OF_RANK = frozenset(
    (
        *("binary_crossentropy", "hinge", "squared_hinge", "poisson"),
        *("kl_divergence", "kullback_leibler_divergence", "kld", "KLD"),
    )
)
# The metric of these names had the sign of the loss, which none of Keras 3 has; `COSINE_PROXIMITY` has it.
COSINE_METRICS = ("cosine_proximity", "cosine")
COSINE_PROXIMITY = "parallel_compat.legacy.losses.cosine_proximity"

# Keras 2's names of loss and metric functions that have another one today.
FUNCTIONS_TODAY = {
    "kullback_leibler_divergence": "kl_divergence",
    "logcosh": "log_cosh",
    "cosine_proximity": "cosine_similarity",
}

# Short names of losses and metrics, which Keras takes under any of its versions, and the names that files hold.
SHORT_NAMES = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "kld": "kl_divergence",
}


# The same as Keras 2 logged them: under the name that the function had then.
SHORT_FUNCTIONS = {**SHORT_NAMES, "kld": "kullback_leibler_divergence", "cosine": "cosine_proximity"}

# Functions that Keras 3 has under these names, whatever `get_custom_objects()` says: activations, constraints, losses,
# metrics, regularizers.
_FUNCTIONS = (
    "celu elu exponential gelu glu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu linear "
    "log_sigmoid log_softmax mish relu relu6 selu sigmoid silu soft_shrink softmax softplus softsign sparse_plus "
    "sparse_sigmoid sparsemax squareplus swish tanh tanh_shrink threshold max_norm min_max_norm non_neg unit_norm bce "
    "binary_crossentropy binary_focal_crossentropy categorical_crossentropy categorical_focal_crossentropy "
    "categorical_hinge circle cosine_similarity ctc dice hinge huber kl_divergence kld log_cosh mae mape "
    "mean_absolute_error mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error mse msle "
    "poisson sparse_categorical_crossentropy squared_hinge tversky accuracy auc binary_accuracy categorical_accuracy "
    "f1_score f_beta_score mean precision recall r2_score sparse_categorical_accuracy "
    "sparse_top_k_categorical_accuracy sum top_k_categorical_accuracy l1 l1l2 l2 orthogonal_regularizer"
)
FUNCTIONS_OF_TODAY = frozenset(_FUNCTIONS.split())

# What was logged under another name than today: Keras 2 logged a metric that was given by a short string under the
# name that the function had then, Keras 3 under the string.
LOGS_TODAY = {
    "acc": "accuracy",
    **{full: short for short, full in SHORT_NAMES.items() if full not in FUNCTIONS_TODAY.values()},
    **FUNCTIONS_TODAY,
    "lr": "learning_rate",
}


def log_today(log: str) -> str:
    """Return the name of a log as Keras 3 spells it.

    >>> log_today("val_acc"), log_today("size_mean_absolute_error"), log_today("loss")
    ('val_accuracy', 'size_mae', 'loss')
    """
    for then, today in LOGS_TODAY.items():
        if log == then or log.endswith(f"_{then}"):
            return log[: len(log) - len(then)] + today
    return log


def larger_is_better(log: str, mode: str = "auto", *, auc: bool = False) -> bool:
    """Return whether a callback takes the larger value of a log for the better one.

    >>> larger_is_better("val_acc"), larger_is_better("val_loss"), larger_is_better("val_loss", "max")
    (True, False, True)

    Args:
        mode: "min", "max", or "auto", which goes by the name as Keras 2's callbacks did.
        auc: whether "auto" takes the larger AUC as well, as Keras 3 does and Keras 2 did not.
    """
    if mode != "auto":
        return mode == "max"
    return "acc" in log or log.startswith("fmeasure") or (auc and "auc" in log.lower())


def _spellings(log: str) -> list[str]:
    """Return the other spellings of a log's name: Keras 2's of today's, and the other way round."""
    pairs = [pair for names in LOGS_TODAY.items() for pair in (names, names[::-1])]
    return [log.removesuffix(this) + other for this, other in pairs if log == this or log.endswith(f"_{this}")][:1]


def value_of(logs: dict[str, Any], name: str) -> Any:
    """Return the log of a name in either spelling, or None.

    >>> value_of({"val_acc": 0.5, "val_out_mae": 2.0}, "val_out_mean_absolute_error")
    2.0
    """
    return next((logs[each] for each in (name, *_spellings(name)) if each in logs), None)


def with_both_names(logs: dict[str, Any]) -> dict[str, Any]:
    """Return a dict that has every log under today's name and under the old one.

    >>> with_both_names({"val_acc": 0.5})
    {'val_accuracy': 0.5, 'val_acc': 0.5}
    """
    return {**{other: value for name, value in logs.items() for other in _spellings(name)}, **logs}


@cache
def identifiers() -> dict[str, dict[str, Identifier]]:
    """Return the rows by kind and old string."""
    table: dict[str, dict[str, Identifier]] = {}
    for kind, pairs in _IDENTIFIERS.items():
        for pair in pairs.split():
            old, _, new = pair.partition(">")
            table.setdefault(kind, {})[old] = Identifier(kind, old, new)
    return table
