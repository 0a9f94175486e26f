"""Arguments whose default changed between an era and Keras 3: the facts of `defaults.tsv`, by callable."""

from __future__ import annotations

from functools import cache

from parallel_compat.names import tsv
from parallel_compat.names.eras import Era
from parallel_compat.names.table import Default


@cache
def defaults() -> dict[str, tuple[Default, ...]]:
    """Return the rows by callable."""
    table: dict[str, tuple[Default, ...]] = {}
    for callables, argument, *cells in tsv.rows("defaults.tsv", 11):
        before: dict[str, str] = {era: cell for era, cell in zip(Era, cells[:4], strict=False) if cell}
        today, position, old_names, modern, note = cells[4:]
        at = int(position) if position else None
        for of in tsv.each_name(callables):
            row = Default(of, argument, before, today, at, tuple(old_names.split()), tuple(modern.split()), note)
            table[of] = (*table.get(of, ()), row)
    return table


def of_era(of: str, era: Era) -> dict[str, str]:
    """Return the arguments of a callable whose default was another in an era: name -> Python source.

    >>> from parallel_compat.names.eras import Era
    >>> of_era("keras.optimizers.Adagrad", Era.KERAS_2_2_4)
    {'learning_rate': '0.01', 'initial_accumulator_value': '0.0'}
    >>> of_era("keras.optimizers.Adagrad", Era.TF_KERAS_2_2)
    {}
    """
    return {row.argument: row.before[era] for row in defaults().get(of, ()) if era in row.before}


@cache
def optimizers_by_name() -> dict[str, str]:
    """Return the classes that `compile(optimizer="adagrad")` meant and whose defaults changed, by that name."""
    names = [of.rpartition(".")[2] for of in defaults() if of.startswith("keras.optimizers.")]
    return {name.lower(): name for name in names}
