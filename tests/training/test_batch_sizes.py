"""Any batch size on any number of replicas trains as on one device."""

from __future__ import annotations

import keras
import pytest

from tests.one_device import classes, mlp, train_both


def sgd():
    return {"optimizer": keras.optimizers.SGD(0.5), "loss": "categorical_crossentropy", "metrics": ["accuracy"]}


@pytest.mark.one_in(2)
@pytest.mark.one_in(4)
@pytest.mark.parametrize("replicas", [2, 3, 4])
@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(96, id="even"),
        pytest.param(103, id="uneven"),
        pytest.param(97, id="a last batch of one row"),
        pytest.param(3, id="one batch, about as small as the replicas are many"),
        pytest.param(1, id="one row"),
    ],
)
def test_rows(rows, replicas):
    train_both(mlp, sgd, *classes(rows), replicas=replicas)
