"""Masks, a bidirectional layer, one number per time step."""

import numpy as np
from stack import L, kinds, models, optimizers, parallel

words = np.random.RandomState(3).randint(1, 9, (12, 5)) * (np.arange(5) < kinds(12, 5).reshape(-1, 1) + 1)
model = models.Sequential()
model.add(L.Embedding(9, 3, mask_zero=True, input_length=5))
model.add(L.Bidirectional(L.LSTM(2, return_sequences=True)))
model.add(L.TimeDistributed(L.Dense(1, activation="sigmoid")))
model = parallel(model)
model.compile(optimizers.Adagrad(0.05), "binary_crossentropy")
model.fit(words, (words % 2)[:, :, None], batch_size=6, epochs=1, shuffle=False, verbose=0)
