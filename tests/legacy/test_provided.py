"""What the table says this package provides is there, and takes what the table says it takes."""

from __future__ import annotations

import pytest

from parallel_compat.names import table
from parallel_compat.names.arguments import arguments
from parallel_compat.names.members import members
from parallel_compat.names.table import Change, Status
from tests.legacy.test_table import resolve


def _targets() -> list[str]:
    found = set()
    for path in table.paths():
        entry = table.lookup(path)
        if entry is not None and entry.status is Status.PROVIDED and entry.target:
            found.add(entry.target)
    for rows in members().values():
        found |= {row.new for row in rows if row.change is Change.PROVIDED and row.new}
    for of, rows_of_call in arguments().items():
        for row in rows_of_call.values():
            if row.change is Change.PROVIDED and row.new:
                every = row.new == "parallel_compat.legacy.layers"
                found.add(f"{row.new}.{'LSTM' if of == 'keras.layers.Layer' else 'Dense'}" if every else row.new)
    return sorted(found)


@pytest.mark.parametrize("target", _targets())
def test_it_is_there(target):
    assert resolve(target) is not None


def test_the_old_layers_take_the_old_arguments():
    from parallel_compat.legacy import layers

    assert layers.Dense(output_dim=3, init="uniform").units == 3
    assert layers.LSTM(3, batch_input_shape=(2, 3, 4)).units == 3
    assert layers.Conv2D(4, nb_row=3, nb_col=5, dim_ordering="tf").kernel_size == (3, 5)


def test_the_old_optimizers_take_lr_and_decay():
    from parallel_compat.legacy import optimizers

    optimizer = optimizers.SGD(lr=0.5, decay=1e-3, nesterov=True)
    assert float(optimizer.learning_rate) == 0.5
