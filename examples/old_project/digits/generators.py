"""Batches of handwritten digits."""
import numpy as np
from keras.utils import np_utils
from keras.utils.data_utils import Sequence
from sklearn.datasets import load_digits


def load():
    """Returns (x, y) to train on and (x, y) to validate with."""
    digits = load_digits()
    x = digits.images[..., np.newaxis].astype('float32')
    y = np_utils.to_categorical(digits.target, 10)
    order = np.random.RandomState(0).permutation(len(x))
    x, y = x[order], y[order]
    return (x[:1400], y[:1400]), (x[1400:], y[1400:])


def batches(x, y, batch_size, seed=0):
    """Yields lists, for ever."""
    random = np.random.RandomState(seed)
    while True:
        order = random.permutation(len(x))
        for start in range(0, len(x), batch_size):
            rows = order[start:start + batch_size]
            yield [x[rows]], [y[rows]]


class Batches(Sequence):
    """The validation data, in order."""

    def __init__(self, x, y, batch_size):
        self.x, self.y, self.batch_size = x, y, batch_size

    def __len__(self):
        return int(np.ceil(len(self.x) / float(self.batch_size)))

    def __getitem__(self, index):
        rows = slice(index * self.batch_size, (index + 1) * self.batch_size)
        return self.x[rows], self.y[rows]
