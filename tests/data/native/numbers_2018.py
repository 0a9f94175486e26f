"""A script of 2018 whose batches the replicas divide: what it trains is the same under `run` and as native code."""

from __future__ import annotations

import sys

import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.callbacks import Callback, LearningRateScheduler, ModelCheckpoint
from keras.layers import LSTM, Activation, Conv2D, Dense, Embedding, Flatten, Input, Lambda, MaxPooling2D, concatenate
from keras.models import Model, Sequential
from keras.optimizers import SGD, Adam
from keras.utils import Sequence, multi_gpu_model

gpus = int(sys.argv[1])
config = tf.ConfigProto(allow_soft_placement=True)
config.gpu_options.allow_growth = True
K.set_session(tf.Session(config=config))
draw = np.random.RandomState(0)
results = {}


def start(model):
    draw = np.random.RandomState(1)
    model.set_weights([draw.normal(0, 0.3, w.shape) for w in model.get_weights()])


def note(name, model):
    for number, weight in enumerate(model.get_weights()):
        results["%s %d" % (name, number)] = weight


# A picture and its size in, two outputs, from a generator that yields lists; a decay and a rate that is set.
def distance(y_true, y_pred):
    return K.sqrt(K.sum(K.square(y_true - y_pred), axis=-1) + K.epsilon())


def pictures_in():
    picture, size = Input((6, 6, 1)), Input((2,))
    x = Conv2D(4, (3, 3), activation="relu")(picture)
    x = Flatten()(MaxPooling2D()(x))
    x = concatenate([x, Lambda(lambda s: K.l2_normalize(s, axis=-1))(size)])
    return Model([picture, size], [Dense(3, activation="softmax", name="kind")(x), Dense(2, name="place")(x)])


class Rates(Callback):
    def on_epoch_end(self, epoch, logs=None):
        K.set_value(self.model.optimizer.lr, K.get_value(self.model.optimizer.lr) * 0.5)


pictures, sizes = draw.rand(32, 6, 6, 1), draw.rand(32, 2)
kinds, places = np.eye(3)[draw.randint(0, 3, 32)], draw.rand(32, 2)


def batches():
    while True:
        for i in range(0, 32, 8):
            yield [pictures[i : i + 8], sizes[i : i + 8]], [kinds[i : i + 8], places[i : i + 8]]


with tf.device("/cpu:0"):
    template = pictures_in()
start(template)
if gpus > 1:
    parallel = multi_gpu_model(template, gpus=gpus)
else:
    parallel = template
parallel.compile(
    SGD(lr=0.1, momentum=0.9, decay=1e-2, nesterov=True),
    {"kind": "categorical_crossentropy", "place": distance},
    loss_weights=[1.0, 0.5],
)
parallel.fit_generator(batches(), steps_per_epoch=4, nb_epoch=3, verbose=0, callbacks=[Rates()], workers=2)
note("pictures", template)
template.save_weights("pictures.weights")


# Words, from a Sequence; gates that were a hard sigmoid.
class Words(Sequence):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x) // 8

    def __getitem__(self, i):
        return self.x[i * 8 : i * 8 + 8], self.y[i * 8 : i * 8 + 8]


def texts_in():
    model = Sequential()
    model.add(Embedding(20, 4, input_length=5))
    model.add(LSTM(6, recurrent_activation="hard_sigmoid"))
    model.add(Dense(1))
    model.add(Activation("sigmoid"))
    start(model)
    return model


words, labels = draw.randint(0, 20, (32, 5)), draw.randint(0, 2, (32, 1))
model = texts_in()
single = model
if gpus > 1:
    model = multi_gpu_model(model, gpus=gpus)
model.compile(optimizer=SGD(0.2), loss="binary_crossentropy")
model.fit_generator(
    Words(words, labels), epochs=2, shuffle=False, verbose=0, validation_data=Words(words[:8], labels[:8])
)
results["texts evaluated"] = np.array(model.evaluate_generator(Words(words, labels), steps=4))
results["texts predicted"] = model.predict_generator(Words(words, labels), steps=4)
note("texts", single)


# Arrays, a schedule, a checkpoint every second epoch, features by a function.
def numbers_in():
    x = Input((4,))
    return Model(x, Dense(2)(Dense(8, activation="tanh")(x)))


x, y = draw.rand(32, 4), draw.rand(32, 2)
net = numbers_in()
start(net)
trained = multi_gpu_model(net, gpus) if gpus > 1 else net
trained.compile(Adam(lr=0.05), "mse", metrics=["mae"])
history = trained.fit(
    x,
    y,
    batch_size=16,
    epochs=4,
    shuffle=False,
    verbose=0,
    callbacks=[
        LearningRateScheduler(lambda epoch: 0.05 / (epoch + 1)),
        ModelCheckpoint("net.{epoch}.h5", period=2, save_weights_only=True),
    ],
)
results["loss"] = np.array(history.history["loss"])
note("numbers", net)
features = K.function([net.input], [net.layers[1].output])
results["features"] = np.array(features([x[:4].astype("float32")])[0])
again = numbers_in()
again.load_weights("net.4.h5")
note("loaded", again)
np.savez(sys.argv[2], **results)
