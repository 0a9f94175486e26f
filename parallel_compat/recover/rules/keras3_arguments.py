"""The arguments that Keras 3's layers take, for the classes that Keras 2 had too (`keras3_arguments.tsv`).

`tests/recover/test_keras3_tables.py` holds each against the real signature, so that a new Keras release which takes one
away is noticed.
"""

from __future__ import annotations

from parallel_compat.names import tsv

COMMON = frozenset({"name", "trainable", "dtype"})
_PARTS = ("initializer", "regularizer", "constraint")


def _expand(arguments: str) -> frozenset[str]:
    words: list[str] = []
    for word in arguments.split():
        words += [f"{word[1:]}_{part}" for part in _PARTS] if word.startswith("@") else [word]
    return frozenset(words)


KERAS3_ARGUMENTS = {
    name: _expand(arguments)
    for names, arguments in tsv.rows("keras3_arguments.tsv", 2, __package__)
    for name in names.split()
}
