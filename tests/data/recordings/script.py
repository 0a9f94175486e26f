"""What scripts of 2018 trained, small: recorded in old environments, compared in `tests/compare`. KERAS in the
environment says which: "keras" or "tensorflow.keras"."""

import os

import numpy as np

KERAS = os.environ.get("KERAS", "keras")
if KERAS == "keras":
    from keras.layers import LSTM, BatchNormalization, Dense, Embedding, Input, LeakyReLU
    from keras.models import Model, Sequential
    from keras.optimizers import Adam
else:
    from tensorflow.keras.layers import LSTM, BatchNormalization, Dense, Embedding, Input, LeakyReLU
    from tensorflow.keras.models import Model, Sequential
    from tensorflow.keras.optimizers import Adam

rng = np.random.RandomState(1)
x = rng.rand(40, 6).astype("float32")
kinds = np.eye(3)[rng.randint(0, 3, 40)]

# several outputs, from a generator
inputs = Input((6,))
hidden = Dense(8, activation="tanh")(inputs)
model = Model(inputs, [Dense(3, activation="softmax", name="kind")(hidden), Dense(1, name="size")(hidden)])
model.compile(
    "rmsprop",
    {"kind": "categorical_crossentropy", "size": "mse"},
    loss_weights=[1.0, 0.3],
    metrics={"kind": "acc", "size": "mae"},
)


group = list if KERAS == "keras" else tuple


def batches():
    while True:
        for i in range(0, 40, 8):
            yield x[i : i + 8], group((kinds[i : i + 8], x[i : i + 8, :1]))


model.fit_generator(batches(), steps_per_epoch=5, epochs=1, verbose=0)

# text, with class weights
words, labels = rng.randint(0, 20, (40, 7)), rng.randint(0, 2, 40)
model = Sequential([Embedding(20, 5, input_length=7, mask_zero=True), LSTM(6), Dense(1, activation="sigmoid")])
model.compile(Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
held_out = (words[:9], labels[:9])
weights = {0: 1.0, 1: 3.0}
model.fit(
    words, labels, batch_size=20, epochs=2, shuffle=False, verbose=0, class_weight=weights, validation_data=held_out
)
model.evaluate(words, labels, batch_size=16, verbose=0)
model.predict(words[:5])

# a GAN
critic = Sequential([Dense(8, input_shape=(4,)), LeakyReLU(0.2), Dense(1, activation="sigmoid")])
critic.compile(Adam(0.001, 0.5), "binary_crossentropy", metrics=["accuracy"])
painter = Sequential(
    [Dense(8, input_shape=(3,)), BatchNormalization(momentum=0.8), LeakyReLU(0.2), Dense(4, activation="tanh")]
)
noise = Input((3,))
critic.trainable = False
both = Model(noise, critic(painter(noise)))
both.compile(Adam(0.001, 0.5), "binary_crossentropy")
for _ in range(3):
    drawn, real = rng.rand(8, 3), rng.rand(8, 4)
    critic.train_on_batch(real, np.ones((8, 1)))
    critic.train_on_batch(painter.predict(drawn), np.zeros((8, 1)))
    both.train_on_batch(drawn, np.ones((8, 1)))
