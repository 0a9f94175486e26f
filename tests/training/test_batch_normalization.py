"""Batch statistics are each replica's; moving statistics are one, and never NaN."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat import parallelize
from tests.one_device import classes, train_both


def normalized(**arguments):
    inputs = keras.Input((8,))
    hidden = keras.layers.BatchNormalization(momentum=0.5, name="bn", **arguments)(inputs)
    return keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(hidden))


def trained(rows, replicas, steps=1, **arguments):
    template = normalized(**arguments)
    parallel = parallelize(template, replicas)
    parallel.compile("sgd", "categorical_crossentropy")
    x, y = classes(rows)
    for _ in range(steps):
        parallel.train_on_batch(x, y)
    return template, parallel, x


def test_moving_statistics_are_the_mean_over_replicas():
    template, _, x = trained(32, 4)
    mean, variance = (np.asarray(v) for v in template.get_layer("bn").non_trainable_variables)
    parts = np.split(x, 4)
    np.testing.assert_allclose(mean, 0.5 * np.mean([p.mean(0) for p in parts], 0), atol=1e-6)
    np.testing.assert_allclose(variance, 0.5 + 0.5 * np.mean([p.var(0) for p in parts], 0), atol=1e-6)


def test_moving_statistics_weigh_replicas_by_their_rows():
    template, _, x = trained(11, 4)  # 2, 2, 2 and 5 rows
    mean = np.asarray(template.get_layer("bn").moving_mean)
    np.testing.assert_allclose(mean, 0.5 * x.mean(0), atol=1e-6)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_replica_without_rows_changes_nothing(rows):
    template, parallel, x = trained(rows, 4, steps=3)
    assert all(np.isfinite(w).all() for w in template.get_weights())
    # Only the last replica has rows, so its statistics are the ones kept.
    expected = np.zeros(8)
    for _ in range(3):
        expected = 0.5 * expected + 0.5 * x.mean(0)
    np.testing.assert_allclose(np.asarray(template.get_layer("bn").moving_mean), expected, atol=1e-5)
    assert np.isfinite(parallel.predict(x, verbose=0)).all()


def test_saved_template_predicts_as_the_parallel_model(tmp_path):
    template, parallel, x = trained(30, 4, steps=5)
    template.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded.predict(x, verbose=0), parallel.predict(x, verbose=0), atol=1e-6)


@pytest.mark.parametrize("rows", [96, 101, 97])
def test_synchronized_statistics_are_those_of_the_merged_batch(rows):
    arguments = {"optimizer": keras.optimizers.SGD(0.1), "loss": "categorical_crossentropy"}
    train_both(lambda: normalized(synchronized=True), lambda: arguments | {"optimizer": keras.optimizers.SGD(0.1)},
               *classes(rows), replicas=4)  # fmt: skip


@pytest.mark.parametrize("rows", [96, 97])
def test_gradients_of_layers_before_synchronized_statistics_are_those_of_the_merged_batch(rows):
    def behind_a_layer():
        normal = keras.layers.BatchNormalization(momentum=0.5, synchronized=True)
        return keras.Sequential([keras.Input((8,)), keras.layers.Dense(5), normal, keras.layers.Dense(3)])

    train_both(behind_a_layer, lambda: {"optimizer": keras.optimizers.SGD(0.1), "loss": "mse"}, *classes(rows),
               replicas=4)  # fmt: skip


def test_synchronized_statistics_behind_a_mask_are_those_of_the_merged_batch():
    def masked():
        normal = keras.layers.BatchNormalization(momentum=0.5, synchronized=True)
        return keras.Sequential([keras.Input((5, 8)), keras.layers.Masking(), normal, keras.layers.Dense(3)])

    x = np.random.default_rng(0).normal(size=(33, 5, 8)).astype("float32")
    x[np.arange(5) > np.arange(33)[:, None] % 5] = 0
    train_both(masked, lambda: {"optimizer": keras.optimizers.SGD(0.1), "loss": "mse"}, x, x[..., :3], replicas=4)


def test_frozen_statistics_do_not_move():
    template = normalized()
    template.get_layer("bn").trainable = False
    parallel = parallelize(template, 2)
    parallel.compile("sgd", "categorical_crossentropy")
    parallel.fit(*classes(32), verbose=0)
    np.testing.assert_array_equal(np.asarray(template.get_layer("bn").moving_mean), np.zeros(8))


def test_evaluation_does_not_move_statistics():
    template, parallel, x = trained(32, 2)
    before = template.get_weights()
    parallel.evaluate(*classes(32), verbose=0)
    parallel.predict(x, verbose=0)
    for a, b in zip(before, template.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_counter_of_a_layer_counts_batches():
    class Counts(keras.layers.Layer):
        def build(self, _):
            self.calls = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False)

        def call(self, inputs, training=False):
            if training:
                self.calls.assign(self.calls + 1)
            return inputs

    inputs = keras.Input((8,))
    counter = Counts()
    template = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(counter(inputs)))
    parallel = parallelize(template, 4)
    parallel.compile("sgd", "categorical_crossentropy")
    parallel.fit(*classes(35), batch_size=16, verbose=0)  # batches of 16, 16 and 3 rows
    assert int(counter.calls.numpy()) == 3
