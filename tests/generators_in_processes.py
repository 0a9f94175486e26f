"""A Sequence that other processes import; nothing here is heavy."""

from __future__ import annotations

import keras
import numpy as np


class Squares(keras.utils.PyDataset):
    def __init__(self):
        super().__init__()
        self.offset = 0

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return np.full((1, 1), float(index**2 + self.offset)), np.zeros((1, 1))

    def on_epoch_end(self):
        self.offset += 100
