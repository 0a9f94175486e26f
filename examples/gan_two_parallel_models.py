"""A GAN in the way of 2018: two parallel models with a discriminator in common, trained in turn, on 8 x 8 digits.

python gan_two_parallel_models.py --replicas 2
"""

from __future__ import annotations

import argparse

import numpy as np
from keras.layers import Dense, Input, LeakyReLU, Reshape
from keras.models import Model, Sequential
from keras.optimizers import Adam
from sklearn.datasets import load_digits

from parallel_compat import multi_gpu_model, simulate_devices

parser = argparse.ArgumentParser()
parser.add_argument("--replicas", type=int, default=2)
parser.add_argument("--steps", type=int, default=2000)
parser.add_argument("--batch_size", type=int, default=64)
args = parser.parse_args()
simulate_devices(args.replicas)

NOISE = 16
images = load_digits().images.astype("float32")[..., np.newaxis] / 8 - 1

generator = Sequential(
    [
        Input((NOISE,)),
        Dense(128),
        LeakyReLU(),
        Dense(128),
        LeakyReLU(),
        Dense(64, activation="tanh"),
        Reshape((8, 8, 1)),
    ],
    name="generator",
)
discriminator = Sequential(
    [
        Input((8, 8, 1)),
        Reshape((64,)),
        Dense(128),
        LeakyReLU(),
        Dense(64),
        LeakyReLU(),
        Dense(1, activation="sigmoid"),
    ],
    name="discriminator",
)

# The two ways to be trained share the discriminator's weights: there is one set of them.
parallel_discriminator = multi_gpu_model(discriminator, gpus=args.replicas)
parallel_discriminator.compile(Adam(2e-4, 0.5), "binary_crossentropy", metrics=["accuracy"])

# Frozen from here on, and not in the model that was compiled before: `compile` settles what trains.
discriminator.trainable = False
noise = Input((NOISE,))
combined = Model(noise, discriminator(generator(noise)))
parallel_combined = multi_gpu_model(combined, gpus=args.replicas)
parallel_combined.compile(Adam(2e-4, 0.5), "binary_crossentropy")

np.random.seed(0)
half = args.batch_size // 2
for step in range(args.steps):
    real = images[np.random.randint(0, len(images), half)]
    fake = generator.predict_on_batch(np.random.normal(size=(half, NOISE)))
    d_loss = parallel_discriminator.train_on_batch(
        np.concatenate([real, fake]), np.concatenate([np.ones((half, 1)), np.zeros((half, 1))])
    )
    g_loss = parallel_combined.train_on_batch(
        np.random.normal(size=(args.batch_size, NOISE)), np.ones((args.batch_size, 1))
    )
    if (step + 1) % 500 == 0:
        print(f"step {step + 1}: discriminator {d_loss[0]:.3f}, generator {g_loss:.3f}")

made = generator.predict(np.random.normal(size=(500, NOISE)), verbose=0)
untrained = np.random.uniform(-1, 1, made.shape)
distance, of_noise = (np.abs(batch.mean(0) - images.mean(0)).mean() for batch in (made, untrained))
print(f"The mean image of made digits is {distance:.3f} from that of real ones, that of noise {of_noise:.3f}.")
