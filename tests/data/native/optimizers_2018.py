"""Each optimizer that Keras 3 computes otherwise, on an Embedding and on plain layers: python optimizers_2018.py GPUS OUT."""
import sys

import numpy as np
from keras.layers import Dense, Embedding, Flatten
from keras.models import Sequential
from keras.optimizers import Adadelta, Adagrad, Adam, Adamax, Nadam, RMSprop
from keras.utils import multi_gpu_model

random = np.random.RandomState(0)
rows = [random.normal(size=shape).astype('float32') for shape in [(10, 4), (12, 1), (1,)]]
plain = [random.normal(size=shape).astype('float32') for shape in [(12, 4), (4,), (4, 1), (1,)]]
words = random.randint(0, 5, (64, 3))
words[:, 0] = 0
numbers = random.normal(size=(64, 12)).astype('float32')
y = random.normal(size=(64, 1)).astype('float32')


def train(name, optimizer, with_rows):
    if with_rows:
        model = Sequential([Embedding(10, 4, input_length=3), Flatten(), Dense(1)])
    else:
        model = Sequential([Dense(4, activation='tanh', input_shape=(12,)), Dense(1)])
    model.set_weights(rows if with_rows else plain)
    parallel_model = multi_gpu_model(model, gpus=int(sys.argv[1])) if int(sys.argv[1]) > 1 else model
    if name == 'rmsprop':
        parallel_model.compile('rmsprop', loss='mse')
    else:
        parallel_model.compile(optimizer(), loss='mse')
    parallel_model.fit(words if with_rows else numbers, y, batch_size=16, epochs=3, shuffle=False, verbose=0)
    for number, weight in enumerate(model.get_weights()):
        results['%s.%s.%d' % (name, 'rows' if with_rows else 'plain', number)] = weight


results = {}
for with_rows in (True, False):
    train('Adam', lambda: Adam(lr=0.01), with_rows)
    train('RMSprop', lambda: RMSprop(lr=0.01, decay=0.01), with_rows)
    train('rmsprop', None, with_rows)
    train('Adagrad', lambda: Adagrad(lr=0.01, clipnorm=0.5), with_rows)
    train('Adadelta', lambda: Adadelta(lr=1.0), with_rows)
    train('Adamax', lambda: Adamax(lr=0.002), with_rows)
    train('Nadam', lambda: Nadam(lr=0.002), with_rows)
np.savez(sys.argv[2], **results)
