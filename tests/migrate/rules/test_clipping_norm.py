from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

RULE = "clipping-norm"
OLD = "from keras.optimizers import SGD\n"


def test_an_old_call_says_what_it_meant():
    check_transformed(f"{OLD}SGD(lr=0.1, clipnorm=1.)\n", f"{OLD}SGD(learning_rate=0.1, global_clipnorm=1.)\n")


def test_a_call_that_may_be_new_is_left_to_unsafe():
    source = f"{OLD}SGD(0.1, clipnorm=limit)\n"
    check_noop(source, unsafe=False)
    assert found(source, RULE) == [(2, "unsafe")]
    check_transformed(source, f"{OLD}SGD(0.1, global_clipnorm=limit)\n", unsafe=True)


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow as tf\ntf.keras.optimizers.SGD(0.1, clipnorm=1.)\n",
        "from tensorflow.keras.optimizers import SGD\nSGD(0.1, clipnorm=1.)\n",
        f"{OLD}SGD(0.1, global_clipnorm=1.)\n",
        f"{OLD}SGD(0.1, clipvalue=1.)\n",
    ],
)
def test_what_means_the_same_stays(source):
    check_noop(source, unsafe=True)
    assert found(source, RULE) == []


def test_zero_clips_nothing():
    check_transformed(
        f"{OLD}SGD(lr=0.1, clipnorm=0., clipvalue=0.5)\n", f"{OLD}SGD(learning_rate=0.1, clipvalue=0.5)\n"
    )


def test_both_kinds_are_refused_by_keras_3_and_named():
    assert found(f"{OLD}SGD(lr=0.1, clipnorm=1., clipvalue=0.5)\n", RULE) == [(2, "attention")]
