"""Two models that train in turn; one is frozen inside the other."""

import numpy as np
from stack import L, data, models, optimizers

critic = models.Sequential([L.Dense(5, input_shape=(4,)), L.LeakyReLU(0.2), L.Dense(1, activation="sigmoid")])
critic.compile(loss="binary_crossentropy", optimizer=optimizers.Adam(0.001, 0.5), metrics=["accuracy"])
painter = models.Sequential([L.Dense(6, activation="tanh", input_shape=(3,)), L.Dense(4, activation="tanh")])
z = L.Input(shape=(3,))
critic.trainable = False
both = models.Model(z, critic(painter(z)))
both.compile(loss="binary_crossentropy", optimizer=optimizers.Adam(0.001, 0.5))
for _ in range(2):
    critic.train_on_batch(data(6, 4), np.ones((6, 1)))
    critic.train_on_batch(painter.predict(data(6, 3)), np.zeros((6, 1)))
    both.train_on_batch(data(6, 3), np.ones((6, 1)))
