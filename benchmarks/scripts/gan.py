# Steps of a GAN: `train_on_batch` of three models. Prints the seconds without imports.
import json
import time

import numpy as np
from keras.layers import Dense, Input, LeakyReLU
from keras.models import Model, Sequential
from keras.optimizers import Adam

begin = time.time()
generator = Sequential([Dense(64, input_dim=16), LeakyReLU(0.2), Dense(32, activation="tanh")])
discriminator = Sequential([Dense(64, input_dim=32), LeakyReLU(0.2), Dense(1, activation="sigmoid")])
discriminator.compile(loss="binary_crossentropy", optimizer=Adam(0.0002, 0.5), metrics=["accuracy"])
z = Input(shape=(16,))
discriminator.trainable = False
combined = Model(z, discriminator(generator(z)))
combined.compile(loss="binary_crossentropy", optimizer=Adam(0.0002, 0.5))
encoder = Sequential([Dense(16, input_dim=32)])
encoder.compile(loss="mse", optimizer="adam")
for step in range(300):
    noise, real = np.random.normal(0, 1, (32, 16)), np.random.rand(32, 32)
    made = generator.predict(noise)
    discriminator.train_on_batch(real, np.ones((32, 1)))
    discriminator.train_on_batch(made, np.zeros((32, 1)))
    combined.train_on_batch(noise, np.ones((32, 1)))
    encoder.train_on_batch(made, noise)
print(json.dumps({"whole": [time.time() - begin]}))
