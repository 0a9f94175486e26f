"""Reads tables of facts: a row a line, tabs between the cells, `#` before what is a comment."""

from __future__ import annotations

from importlib.resources import files


def rows(name: str, columns: int, package: str = __package__) -> list[list[str]]:
    """Return the rows of a table, each with as many cells as the table has columns.

    >>> rows("tensorflow_1_signatures.tsv", 3)[0]
    ['tensorflow.argmax', '2', 'dimension']

    Args:
        columns: the number of its columns; empty cells at the end of a line may be left out.
    """
    lines = (files(package) / name).read_text("utf-8").splitlines()
    found = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [cells + [""] * (columns - len(cells)) for cells in found]


def each_name(path: str) -> list[str]:
    """Return the dotted paths that a cell stands for.

    >>> each_name("keras.layers.GRU|LSTM")
    ['keras.layers.GRU', 'keras.layers.LSTM']
    """
    module, _, names = path.rpartition(".")
    return [f"{module}.{name}" for name in names.split("|")]
