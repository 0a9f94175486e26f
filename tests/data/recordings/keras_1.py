"""A script for Keras 1.2 and Python 2.7."""

import numpy as np
from keras.layers import Activation, Dense, Input
from keras.models import Model, Sequential
from keras.optimizers import SGD

np.random.seed(1)
x, y = np.random.random((24, 6)), np.eye(3)[np.random.randint(0, 3, 24)]


def batches():
    while True:
        yield x[:8], y[:8]


model = Sequential()
model.add(Dense(8, input_dim=6, init='glorot_uniform', activation='relu'))
model.add(Dense(3))
model.add(Activation('softmax'))
model.compile(loss='categorical_crossentropy', metrics=['accuracy'],
              optimizer=SGD(lr=0.1, decay=1e-3, momentum=0.9, nesterov=True))
model.fit(x[:16], y[:16], batch_size=8, nb_epoch=1, verbose=0, shuffle=False)
model.fit_generator(batches(), samples_per_epoch=16, nb_epoch=1, verbose=0)
print(model.predict(x[:2]))

inputs = Input(shape=(6,))
outputs = Dense(1)(Dense(4, activation='tanh')(inputs))
second = Model(input=inputs, output=outputs)
second.compile('adam', 'mse')
second.train_on_batch(x, y[:, :1])
print(second.evaluate(x, y[:, :1], verbose=0))
