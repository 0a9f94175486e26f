"""Custom training loops on the replicas train the one set of weights."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat import parallelize
from tests.one_device import classes, difference, mlp

ROWS, BATCH = 101, 32


def dataset(x, y):
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH)


def loss_of(model, x, y):
    return keras.losses.categorical_crossentropy(y, model(x, training=True))


def train_on_one_device(model, optimizer, x, y):
    for bx, by in dataset(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(loss_of(model, bx, by)) / len(bx)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))


def train_with_run(parallel, called, optimizer, x, y, in_scope=False, function=True):
    def step(bx, by, rows):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(loss_of(called, bx, by)) / rows
        variables = called.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    def on_replicas(bx, by, rows):
        return parallel.reduce("sum", parallel.run(step, args=(bx, by, rows)))

    if function:
        on_replicas = tf.function(on_replicas)
    losses = []
    for (bx, by), start in zip(parallel.distribute(dataset(x, y)), range(0, ROWS, BATCH), strict=True):
        losses.append(float(on_replicas(bx, by, tf.constant(float(min(BATCH, ROWS - start))))))
    return losses


OPTIMIZERS = {
    "SGD": lambda: keras.optimizers.SGD(0.5),
    "Adam": lambda: keras.optimizers.Adam(0.05),
    "clipnorm": lambda: keras.optimizers.SGD(0.5, clipnorm=0.1),
    "ema": lambda: keras.optimizers.SGD(0.5, use_ema=True, ema_overwrite_frequency=2),
    "accumulation": lambda: keras.optimizers.SGD(0.5, gradient_accumulation_steps=2),
    "loss scale": lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.5), initial_scale=1.0),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("called", ["template", "parallel"])
def test_run(optimizer, called):
    x, y = classes(ROWS)
    template = mlp()
    alone = keras.models.clone_model(template)
    alone.set_weights(template.get_weights())
    parallel = parallelize(template, 3)
    losses = train_with_run(
        parallel, {"template": template, "parallel": parallel}[called], OPTIMIZERS[optimizer](), x, y
    )
    train_on_one_device(alone, OPTIMIZERS[optimizer](), x, y)
    assert len(losses) == 4
    assert difference(alone.get_weights(), template.get_weights()) < 1e-5
    assert difference(parallel.predict(x, verbose=0), alone.predict(x, verbose=0)) < 1e-5


def test_run_eagerly():
    x, y = classes(ROWS)
    template = mlp()
    alone = keras.models.clone_model(template)
    alone.set_weights(template.get_weights())
    train_with_run(parallelize(template, 2), template, keras.optimizers.Adam(0.05), x, y, function=False)
    train_on_one_device(alone, keras.optimizers.Adam(0.05), x, y)
    assert difference(alone.get_weights(), template.get_weights()) < 1e-5


def test_optimizer_made_in_the_scope_and_plain_strategy_calls():
    """As TensorFlow's guide has it, with `strategy.run`, `experimental_distribute_dataset` and `strategy.reduce`."""
    x, y = classes(ROWS)
    template = mlp()
    alone = keras.models.clone_model(template)
    alone.set_weights(template.get_weights())
    strategy = parallelize(template, 4).strategy
    with strategy.scope():
        optimizer = keras.optimizers.Adam(0.05)

    @tf.function
    def step(inputs):
        def on_replica(bx, by):
            with tf.GradientTape() as tape:
                loss = tf.nn.compute_average_loss(loss_of(template, bx, by), global_batch_size=BATCH)
            variables = template.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(on_replica, args=inputs), axis=None)

    full = dataset(x[:96], y[:96])
    losses = [float(step(batch)) for batch in strategy.experimental_distribute_dataset(full)]
    train_on_one_device(alone, keras.optimizers.Adam(0.05), x[:96], y[:96])
    assert len(losses) == 3
    assert difference(alone.get_weights(), template.get_weights()) < 1e-5


def test_model_made_in_a_scope_trains_as_keras_does():
    """Mirrored variables are left to Keras."""
    strategy = parallelize(mlp(), 2).strategy
    with strategy.scope():
        model, optimizer = mlp(), keras.optimizers.SGD(0.5)
    before = model.get_weights()

    @tf.function
    def step():
        def on_replica():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(tf.ones((4, 8))) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

        strategy.run(on_replica)

    step()
    assert difference(before, model.get_weights()) > 1e-4


def test_reduce():
    parallel = parallelize(mlp(), 4)
    values = parallel.run(lambda: tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32))
    assert float(parallel.reduce("sum", values)) == 6
    assert float(parallel.reduce("MEAN", values)) == 1.5


def with_state():
    inputs = keras.Input((8,))
    hidden = keras.layers.BatchNormalization(momentum=0.5)(inputs)
    return keras.Model(inputs, keras.layers.Dropout(0.5)(hidden))


def test_layer_state_of_the_parallel_model():
    """Moving statistics are averaged, and each replica draws its own dropout mask."""
    template = with_state()
    parallel = parallelize(template, 4)
    x = np.random.default_rng(0).normal(size=(16, 8)).astype("float32") + 1
    outputs = tf.function(lambda batch: parallel.run(lambda rows: parallel(rows, training=True), args=(batch,)))
    (batch,) = parallel.distribute(tf.data.Dataset.from_tensor_slices(x).batch(16))
    drawn = [value.numpy() == 0 for value in parallel.strategy.experimental_local_results(outputs(batch))]
    assert not all((drawn[0] == other).all() for other in drawn[1:])
    np.testing.assert_allclose(np.asarray(template.layers[1].moving_mean), 0.5 * x.mean(0), atol=1e-6)


def test_added_losses_in_a_custom_loop():
    inputs = keras.Input((8,))
    template = keras.Model(inputs, keras.layers.Dense(3, activity_regularizer="l2")(inputs))
    parallel = parallelize(template, 2)
    x = np.random.default_rng(0).normal(size=(8, 8)).astype("float32")

    def step(rows):
        parallel(rows, training=True)
        return tf.add_n(parallel.losses)

    (batch,) = parallel.distribute(tf.data.Dataset.from_tensor_slices(x).batch(8))
    losses = parallel.strategy.experimental_local_results(tf.function(lambda b: parallel.run(step, args=(b,)))(batch))
    for rows, loss in zip(np.split(x, 2), losses, strict=True):
        template(rows)
        assert float(loss) == pytest.approx(float(sum(template.losses)), rel=1e-5)
