"""The mask that a model within `TimeDistributed` makes comes out of the wrapper, as in Keras 2.2.4."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat


def test_the_mask_of_a_model_over_time_counts_in_the_loss():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras.layers import Dense, Embedding, Input, TimeDistributed
        from keras.models import Model

        x = np.random.RandomState(0).randint(1, 9, (4, 3, 5))
        x[:, :, 3:] = 0
        x[1, 2] = 0
        words, sentences = Input((5,)), Input((3, 5))
        within = Model(words, Dense(2)(Embedding(9, 4, mask_zero=True)(words)))
        model = Model(sentences, TimeDistributed(within)(sentences))
        model.compile("sgd", "mse")
        rng = np.random.RandomState(1)
        model.set_weights([rng.uniform(-0.5, 0.5, each.shape) for each in model.get_weights()])
        y = np.random.RandomState(2).uniform(0, 1, (4, 3, 5, 2))
        losses = [model.train_on_batch(x, y) for _ in range(2)]
    assert losses == pytest.approx([0.7989514, 0.7826473], rel=1e-5)  # Keras 2.2.4; 0.912 without the mask
