"""What each name of this package is in plain Keras 3 and TensorFlow: for `migrate --to native` (`native.tsv`)."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from parallel_compat.names import tsv

BACKEND = "parallel_compat.legacy.backend"
NUMERICS = "legacy_numerics"
PARALLEL_MODELS = ("parallel_compat.multi_gpu_model", "parallel_compat.parallelize")

# Classes that are another one today, with the arguments that say what they were.
CLASSES = {
    "parallel_compat.legacy.layers.CuDNNGRU": ("keras.layers.GRU", 'recurrent_activation="sigmoid", reset_after=True'),
    "parallel_compat.legacy.layers.CuDNNLSTM": ("keras.layers.LSTM", 'recurrent_activation="sigmoid"'),
}

# What is said of a name beside its new place, and of one that has none.
NOTES, QUESTIONS = (
    {name: text for name, of, text in tsv.rows("native_advice.tsv", 3) if of == kind} for kind in ("note", "question")
)


# How the names begin that are seen to by a rule of their own where they are called.
OF_OTHER_RULES = tuple(name for name, of, _ in tsv.rows("native_advice.tsv", 3) if of == "rule")


class Native(NamedTuple):
    """What a function of this package is in plain Keras."""

    old: str  # its dotted path
    # Its arguments in order: the name, today's name, the value to write out where it is not given.
    arguments: tuple[tuple[str, str, str | None], ...]
    new: str  # a dotted path that takes the same arguments, or an expression with `{argument}` in it

    @property
    def is_expression(self) -> bool:
        """Whether `new` is an expression rather than a path."""
        return not self.new.replace(".", "").replace("_", "").isalnum()


@cache
def functions() -> dict[str, tuple[Native, ...]]:
    """Return the rows of functions, by path.

    >>> functions()["parallel_compat.legacy.backend.argmax"][0].arguments
    (('x', 'x', None), ('axis', 'axis', '-1'))
    """
    found: dict[str, tuple[Native, ...]] = {}
    for signature, new in tsv.rows("native.tsv", 2):
        old, opening, listed = signature.rstrip(")").partition("(")
        if not opening:
            continue
        arguments = []
        for argument in listed.split(", ") if listed else ():
            names, _, value = argument.partition("=")
            name, _, today = names.partition(">")
            arguments.append((name, today or name, value or None))
        found[old] = (*found.get(old, ()), Native(old, tuple(arguments), new))
    return found


@cache
def renamed() -> dict[str, str]:
    """Return the names that are another name today wherever they stand."""
    return {name: new for name, new in tsv.rows("native.tsv", 2) if "(" not in name}
