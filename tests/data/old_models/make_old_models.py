"""Whole models as Keras 2.2.4 wrote them, with what they predicted before and after two more epochs.

    python make_old_models.py FOLDER        # Python 3.7 with tensorflow==1.15.5, keras==2.2.4, h5py<3

`siamese_outputs.template.h5` was written by the same stack, `tf22_*` by tf.keras of TensorFlow 2.2.3. Keras 2 read the
iteration before or after it was counted, as the graph's execution had it, so that what was trained after with `decay` or
Adam differs in the fourth digit from run to run.
"""

from __future__ import annotations

import sys

import keras
import numpy as np
from keras.layers import GRU, LSTM, Dense, Embedding, Lambda
from keras.models import Sequential
from keras.optimizers import SGD, Adam, RMSprop

folder = sys.argv[1]
rs = np.random.RandomState(0)
optimizers = {
    "sgd": lambda: SGD(lr=0.05, decay=0.01, momentum=0.9, nesterov=True),
    "adam": lambda: Adam(lr=0.01, decay=0.001),
    "rmsprop": lambda: RMSprop(lr=0.005),
}
for name, make in optimizers.items():
    keras.backend.clear_session()
    layers = [Dense(5, activation="tanh", input_shape=(4,)), Dense(3, activation="hard_sigmoid", name="b"), Dense(1)]
    m = Sequential(layers)
    m.set_weights([rs.randn(*w.shape) for w in m.get_weights()])
    m.compile(loss="mse", optimizer=make(), metrics=["mae", "accuracy"])
    x, y = rs.randn(40, 4), rs.randn(40, 1)
    m.fit(x[:32], y[:32], batch_size=8, epochs=2, shuffle=False, verbose=0)
    m.save("%s/%s.h5" % (folder, name))
    before = m.predict(x)
    h = m.fit(x[:32], y[:32], batch_size=8, epochs=2, shuffle=False, verbose=0)
    logs = {"loss": h.history["loss"], "mae": h.history["mean_absolute_error"]}
    np.savez("%s/%s.npz" % (folder, name), x=x, y=y, before=before, after=m.predict(x), **logs)

keras.backend.clear_session()
m = Sequential([Embedding(20, 4, input_length=6), LSTM(5, return_sequences=True), GRU(3)])
m.set_weights([rs.randn(*w.shape) for w in m.get_weights()])
x, y = rs.randint(0, 20, (7, 6)), rs.randn(7, 3)
m.compile("adadelta", "mse")
m.save("%s/rnn.h5" % folder)
before, weights = m.predict(x), {"w%d" % i: w for i, w in enumerate(m.get_weights())}
h = m.fit(x, y, epochs=3, shuffle=False, verbose=0)
np.savez("%s/rnn.npz" % folder, x=x, y=y, before=before, after=m.predict(x), loss=h.history["loss"], **weights)

keras.backend.clear_session()
m = Sequential([Lambda(lambda x: keras.backend.sqrt(x), input_shape=(3,), name="root")])
with open("%s/lambda.json" % folder, "w") as file:
    file.write(m.to_json())
