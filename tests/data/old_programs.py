"""Whole programs in the manner of their time, unmodified."""

from __future__ import annotations

# A text model under a strategy, a loop of one's own with metrics that are reset, a distributed data set.
TENSORFLOW_2 = """
import numpy as np
import tensorflow as tf
from tensorflow.keras import *

gpus = tf.config.experimental.list_physical_devices("GPU")
if gpus:
    tf.config.experimental.set_memory_growth(gpus[0], True)
rng = np.random.RandomState(0)
raw = np.empty(60, dtype=object)
for row in range(60):
    raw[row] = list(rng.randint(1, 50, rng.randint(5, 30)))
x = preprocessing.sequence.pad_sequences(raw, maxlen=20)
y = rng.randint(0, 4, 60)
words = x.max() + 1
classes = y.max() + 1
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16).prefetch(tf.data.experimental.AUTOTUNE).cache()
backend.clear_session()


def make():
    model = models.Sequential()
    model.add(layers.Embedding(words, 7, input_length=20))
    model.add(layers.Conv1D(filters=8, kernel_size=5, activation="relu"))
    model.add(layers.MaxPool1D(2))
    model.add(layers.Flatten())
    model.add(layers.Dense(classes, activation="softmax"))
    return model


strategy = tf.distribute.MirroredStrategy()
print("replicas", strategy.num_replicas_in_sync)
with strategy.scope():
    model = make()
    model.compile(
        optimizer=optimizers.Nadam(),
        loss=losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[metrics.SparseCategoricalAccuracy(), metrics.SparseTopKCategoricalAccuracy(2)],
    )
history = model.fit(data, validation_data=data, epochs=2, verbose=0)
assert "val_sparse_top_k_categorical_accuracy" in history.history, history.history
assert np.all(np.isfinite(history.history["loss"]))

with tf.device("/gpu:0"):
    tf.print(tf.reduce_sum(tf.random.uniform((10, 10)) @ tf.random.uniform((10, 10))) > 0)

assert float(tf.losses.MeanSquaredError()([[1.0]], [[2.0]])) == 1
assert tf.losses.mean_squared_error([[1.0, 1.0]], [[2.0, 3.0]]).shape == (1,)
assert float(tf.metrics.Mean()([1.0, 3.0])) == 2
assert tf.initializers.GlorotUniform is initializers.GlorotUniform



class Decay(optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return tf.cond(step >= 2.0, lambda: 0.5 * (step - 1.5), lambda: 0.1)


falling = models.Sequential([layers.Dense(1, use_bias=False, input_shape=(1,), kernel_initializer="zeros")])
falling.compile(optimizers.SGD(Decay()), "mse")
falling.fit(np.ones((3, 1)), np.ones((3, 1)), batch_size=1, verbose=0)
np.testing.assert_allclose(falling.get_weights()[0], [[1 - 0.8 * 0.8 * 0.5]], rtol=1e-5)

assert float(optimizers.SGD(learning_rate=tf.constant(0.25), momentum=0.9).learning_rate) == 0.25

model = make()
assert not model.optimizer
optimizer = optimizers.Nadam(0.01)
loss_of = losses.SparseCategoricalCrossentropy()
mean, accuracy = metrics.Mean(name="loss"), metrics.SparseCategoricalAccuracy(name="accuracy")


@tf.function
def step(features, labels):
    with tf.GradientTape() as tape:
        predictions = model(features, training=True)
        loss = loss_of(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    mean.update_state(loss)
    accuracy.update_state(labels, predictions)


means = []
for epoch in tf.range(1, 4):
    for features, labels in data:
        step(features, labels)
    means.append(float(mean.result()))
    mean.reset_states()
    accuracy.reset_states()
assert means[-1] < means[0], means
assert float(mean.result()) == 0

with strategy.scope():
    linear = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(1,))])
    sgd = tf.keras.optimizers.SGD()
numbers = tf.data.Dataset.from_tensors(([1.0], [1.0, 0.0])).repeat(16).batch(8)


@tf.function
def distributed_step(inputs):
    def replica_step(batch):
        features, labels = batch
        with tf.GradientTape() as tape:
            logits = linear(features, training=True)
            loss = tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=labels)
            total = tf.reduce_sum(loss) * (1.0 / 8)
        grads = tape.gradient(total, linear.trainable_variables)
        sgd.apply_gradients(list(zip(grads, linear.trainable_variables)))
        return loss

    each = strategy.run(replica_step, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.MEAN, each, axis=0)


with strategy.scope():
    first, second = [float(distributed_step(b)) for b in strategy.experimental_distribute_dataset(numbers)]
assert second < first
print("finished")
"""

# A parallel model whose template two kinds of callbacks save, fed by a generator with a list of targets.
KERAS_2 = """
import os

import keras
import numpy as np
from keras.callbacks import ModelCheckpoint
from keras.layers import *
from keras.utils import multi_gpu_model

inputs = Input((8, 8, 1))
hidden = Conv2D(4, 3, padding="same", activation="relu")(inputs)
hidden = BatchNormalization()(hidden)
outputs = [Conv2D(1, 1, activation="sigmoid", name=name)(hidden) for name in ("out_score", "out_final_score")]
model = keras.models.Model(inputs, outputs)
parallel = multi_gpu_model(model, gpus=2)
parallel.compile("adam", "binary_crossentropy", metrics=["accuracy"])


class OwnCheckpoint(keras.callbacks.Callback):
    def __init__(self, model):
        self.model_to_save = model

    def on_epoch_end(self, epoch, logs=None):
        self.model_to_save.save("epoch_%d.h5" % epoch)


class ParallelModelCheckpoint(ModelCheckpoint):
    def __init__(self, model, filepath, monitor="val_out_final_score", verbose=0, save_best_only=False,
                 save_weights_only=False, mode="auto", period=1):
        self.single_model = model
        super(ParallelModelCheckpoint, self).__init__(
            filepath, monitor, verbose, save_best_only, save_weights_only, mode, period)

    def set_model(self, model):
        super(ParallelModelCheckpoint, self).set_model(self.single_model)


def batches(size):
    while True:
        y = np.round(np.random.rand(size, 8, 8, 1))
        yield (np.random.rand(size, 8, 8, 1), [y, y])


best = ParallelModelCheckpoint(
    model=model, filepath="best.h5", monitor="val_loss", verbose=1, save_best_only=True, mode="min")
history = parallel.fit_generator(
    batches(4), steps_per_epoch=3, epochs=2, callbacks=[OwnCheckpoint(model), best],
    validation_data=batches(4), validation_steps=2)
x = np.random.rand(4, 8, 8, 1)
saved = keras.models.load_model("epoch_1.h5")
for mine, theirs in zip(model.predict(x), saved.predict(x)):
    np.testing.assert_allclose(mine, theirs, rtol=1e-5)
assert [layer.name for layer in keras.models.load_model("best.h5").layers][-2:] == ["out_score", "out_final_score"]
print("finished")
"""

