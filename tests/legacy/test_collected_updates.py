"""What is frozen in a model inside another one: moving statistics and files as Keras 2.2.4 had them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parallel_compat

_X, _Y = np.arange(60.0).reshape(12, 5) / 60, np.ones((12, 1))


def _models() -> tuple[Any, Any, Any]:
    """Return a batch normalization, a model around it, and a model around that."""
    from keras import layers, models

    normalization = layers.BatchNormalization(momentum=0.8)
    base = models.Sequential([layers.Dense(4, input_shape=(5,)), normalization, layers.Dense(3)])
    return normalization, base, models.Sequential([base, layers.Dense(1)])


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize(("frozen", "moves"), [(0, True), (1, False), (2, False), (None, True)])
def test_a_model_that_was_called_goes_on_updating_what_is_frozen_in_it(frozen, moves, around):
    """What trains lists the layers of its own that are frozen, but not those further inside."""
    with parallel_compat.legacy_names():
        from keras import layers, models

        parts = _models()
        trained = parts[2]
        if around:
            trained, moves = models.Sequential([parts[2], layers.Dense(1)]), moves or frozen == 1
        if frozen is not None:
            parts[frozen].trainable = False
        trained.compile("sgd", "mse")
        before = parts[0].get_weights()[2:]
        trained.train_on_batch(_X, _Y)
        assert any(np.any(a != b) for a, b in zip(before, parts[0].get_weights()[2:], strict=True)) is moves


def test_what_was_frozen_before_the_call_never_updates():
    with parallel_compat.legacy_names():
        from keras import layers, models

        normalization, base, _ = _models()
        normalization.trainable = False
        trained = models.Sequential([base, layers.Dense(1)])
        normalization.trainable = True
        trained.compile("sgd", "mse")
        before = normalization.get_weights()
        trained.train_on_batch(_X, _Y)
        after = normalization.get_weights()
        assert np.any(before[0] != after[0])
        np.testing.assert_array_equal(before[2:], after[2:])


@pytest.mark.parametrize("way", ["file", "clone", "json"])
def test_a_model_that_was_frozen_as_a_whole_comes_back_trainable(way, tmp_path):
    """Such as the discriminator of a GAN: no file held the flag of a model, and each layer has its own."""
    with parallel_compat.legacy_names():
        from keras import models

        _, base, outer = _models()
        base.layers[0].trainable = False
        base.trainable = False
        outer.compile("sgd", "mse")
        if way == "file":
            outer.save(str(tmp_path / "outer.h5"))
            again = models.load_model(str(tmp_path / "outer.h5"))
            np.testing.assert_allclose(again.predict(_X), outer.predict(_X), rtol=1e-6)
        else:
            again = models.clone_model(outer) if way == "clone" else models.model_from_json(outer.to_json())
        assert [each.trainable for each in (again.layers[0], *again.layers[0].layers)] == [True, False, True, True]
        assert len(again.trainable_weights) == 6


def test_the_flag_of_a_wrapper_is_that_of_what_it_wraps():
    with parallel_compat.legacy_names():
        from keras import layers

        wrapper = layers.TimeDistributed(layers.Dense(2))
        wrapper.trainable = False
        assert not wrapper.layer.trainable
        assert not wrapper.get_config()["layer"]["config"]["trainable"]
        wrapper.layer.trainable = True
        assert wrapper.trainable
