"""`K.learning_phase` and what depends on it, on plain Keras 3."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat.legacy import backend as K
from parallel_compat.legacy.learning_phase import learning_phase_scope
from parallel_compat.legacy.summary import print_summary


@pytest.fixture(autouse=True)
def _forget():
    yield
    K.clear_session()


def test_a_block_sets_it_and_gives_it_back():
    K.set_learning_phase(0)
    with learning_phase_scope(1):
        assert K.learning_phase() == 1
    assert K.learning_phase() == 0
    with pytest.raises(ValueError, match=r"Expected `value` to be 0 or 1\. Received: value=2"):
        K.set_learning_phase(2)


def test_a_layer_chooses_by_it():
    x = keras.Input((2,))
    model = keras.Model(x, K.in_train_phase(x * 2.0, x * 3.0))
    ones = np.ones((1, 2), "f4")
    assert model(ones, training=True).numpy().tolist() == [[2.0, 2.0]]
    assert model.predict(ones, verbose=0).tolist() == [[3.0, 3.0]]


def test_a_function_is_fed_with_it():
    x = keras.Input((1000,))
    dropped = keras.layers.Dropout(0.5)(x)
    function = K.function([x, K.learning_phase()], [dropped])
    ones = np.ones((1, 1000), "f4")
    assert (function([ones, 0])[0] == 1).all()
    assert set(np.unique(function([ones, 1])[0])) == {0.0, 2.0}


def test_a_summary_is_printed_line_by_line():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="the_layer")])
    lines = []
    print_summary(model, line_length=70, print_fn=lines.append)
    text = "\n".join(lines)
    assert "the_layer" in text
    assert max(map(len, text.splitlines())) <= 70


def test_the_phase_is_what_a_function_returns_as_well():
    x = keras.Input((2,))
    f = K.function([x, K.learning_phase()], [keras.layers.Dropout(0.5)(x), K.learning_phase()])
    assert [int(f([np.ones((1, 2)), phase])[1]) for phase in (0, 1, 0)] == [0, 1, 0]
