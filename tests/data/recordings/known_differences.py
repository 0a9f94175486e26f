"""One small model for each row of the guide's table of differences, named after it: recorded in Keras 2.2.4, and compared
with plain Keras 3, which computes otherwise. All names are in both."""

import numpy as np
from keras import layers as L
from keras import models, optimizers, regularizers

rng = np.random.RandomState(0)
x = rng.rand(12, 4).astype("float32")
images = rng.rand(12, 3, 3, 2).astype("float32")
steps = rng.rand(12, 3, 2).astype("float32")
y = rng.rand(12, 1).astype("float32")
bits = rng.randint(0, 2, (12, 3)).astype("float32")
classes = np.eye(3)[rng.randint(0, 3, 12)].astype("float32")


def train(name, layers, inputs, targets, optimizer="sgd", loss="mse", batch=6, compiled=None, **fitted):
    model = models.Sequential(layers, name=name)
    model.compile(optimizer, loss, **(compiled or {}))
    model.fit(inputs, targets, batch_size=batch, epochs=1, shuffle=False, verbose=0, **fitted)
    return model


def dense(units=1, **given):
    return L.Dense(units, input_shape=(4,), **given)


def product(y_true, y_pred):
    return y_true * y_pred


a = L.Input((4,))
several = models.Model(a, [L.Dense(1, name="one")(a), L.Dense(1, name="two")(a)], name="small_last_batch")
several.compile("sgd", "mse")
several.fit(x, [y, y * y], batch_size=9, epochs=1, shuffle=False, verbose=0)
half = steps * (np.arange(3) < rng.randint(1, 4, (12, 1)))[:, :, None].astype("float32")
masked = [L.Masking(input_shape=(3, 2)), L.TimeDistributed(L.Dense(1))]
train("metric_under_a_mask", masked, half, half[:, :, :1] + 1, compiled={"metrics": ["mae"]})
clipped = [dense(3, activation="tanh"), L.Dense(1)]
train("clipnorm", clipped, x, y + 5, optimizers.SGD(0.1, clipnorm=0.5))
weights = np.array([0.0, 1.0, 2.0] * 4)
train("sample_weights_of_zero", [dense()], x, y, sample_weight=weights)
train("metric_of_flat_targets", [dense()], x, y[:, 0], compiled={"metrics": [product]})
train("activity_regularizer", [dense(3, activity_regularizer=regularizers.l2(0.1)), L.Dense(1)], x, y)
sigmoids = [dense(3, activation="sigmoid")]
train("accuracy_of_several_labels", sigmoids, x, bits, "sgd", "binary_crossentropy", compiled={"metrics": ["accuracy"]})
train("hinge_of_zero_and_one", [dense(3)], x, bits, "sgd", "hinge")
train("weighted_metrics", [dense()], x, y, compiled={"weighted_metrics": ["mae"]}, sample_weight=weights + 0.5)
of_classes = {"class_weight": {0: 0.5, 1: 2.0, 2: 3.0}, "validation_split": 0.5}
softmax = [dense(3, activation="softmax")]
train("held_out_classes", softmax, x, classes, "sgd", "categorical_crossentropy", batch=3, **of_classes)
critic = models.Sequential([dense(3), L.Dense(1)], name="frozen_after_compile")
critic.compile("sgd", "mse")
critic.trainable = False
critic.train_on_batch(x, y)
frozen = L.Dense(2, input_shape=(4,), kernel_regularizer=regularizers.l2(0.5), trainable=False)
train("frozen_regularizer", [frozen, L.Dense(1)], x, y)
train("frozen_batch_normalization", [dense(3), L.BatchNormalization(trainable=False), L.Dense(1)], x, y)
train("moving_statistics", [dense(3), L.BatchNormalization(), L.Dense(1)], x, y)
for optimizer in ("Adadelta", "Adagrad", "Adamax", "Nadam"):
    train(optimizer, [dense()], x, y, optimizer.lower())
train("RMSprop", [dense()], x / 100, y / 100, "rmsprop")  # small gradients
train("LSTM", [L.LSTM(2, input_shape=(3, 2))], steps, x[:, :2])
train("GRU", [L.GRU(2, input_shape=(3, 2))], steps, x[:, :2])
train("hard_sigmoid", [dense(2, activation="hard_sigmoid")], x, x[:, :2])
wider = [L.UpSampling2D(interpolation="bilinear", input_shape=(3, 3, 2)), L.Flatten(), L.Dense(1)]
train("bilinear", wider, images, y)
words = np.array([[0, 1, 0], [2, 0, 0], [1, 1, 1]] * 4)
rows = [L.Embedding(5, 2, input_shape=(3,)), L.Flatten(), L.Dense(1)]
train("rows_looked_up_twice", rows, words, y, "adam")
both_ways = L.Bidirectional(L.SimpleRNN(2, return_sequences=True))
parts = [L.Masking(input_shape=(3, 2)), both_ways, L.TimeDistributed(L.Dense(1))]
train("masked_steps", parts, half, half[:, :, :1] + 1)
b = L.Input((3, 2))
sums = models.Model(b, L.TimeDistributed(L.Dense(1))(L.Add()([L.Masking()(b), b])), name="sum_of_one_masked")
sums.compile("sgd", "mse")
sums.fit(half, half[:, :, :1] + 1, batch_size=6, epochs=1, shuffle=False, verbose=0)
