"""A custom training loop with two networks trained in turn: a generative adversarial network on scikit-learn's digits.

    python custom_loop.py --replicas 2

`run` calls a step on each replica; the gradients that the step gives to an optimizer are added up over the replicas
and applied once, to the one set of weights.
"""

from __future__ import annotations

import argparse

import parallel_compat

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--replicas", type=int, default=2)
parser.add_argument("--epochs", type=int, default=20)
arguments = parser.parse_args()
parallel_compat.simulate_devices(arguments.replicas)  # a machine with GPUs does not need this line

import keras
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

BATCH, NOISE = 64, 16
keras.utils.set_random_seed(0)
images = load_digits().data.astype("float32") / 16
batches = tf.data.Dataset.from_tensor_slices(images).shuffle(len(images), seed=0).batch(BATCH, drop_remainder=True)

generator = keras.Sequential([layers.Input((NOISE,)), layers.Dense(64, "relu"), layers.Dense(64, "sigmoid")])
discriminator = keras.Sequential([layers.Input((64,)), layers.Dense(64, "leaky_relu"), layers.Dense(1)])
# Both on the same devices: they share one strategy, so one step can train both.
parallel_generator = parallel_compat.parallelize(generator, arguments.replicas)
parallel_discriminator = parallel_compat.parallelize(discriminator, arguments.replicas)
generator_optimizer, discriminator_optimizer = (
    keras.optimizers.Adam(1e-3, beta_1=0.5),
    keras.optimizers.Adam(1e-3, beta_1=0.5),
)


def mean_over_the_merged_batch(logits: tf.Tensor, target: float) -> tf.Tensor:
    losses = tf.nn.sigmoid_cross_entropy_with_logits(tf.fill(tf.shape(logits), target), logits)
    return tf.reduce_sum(losses) / BATCH


def step(real: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """One replica's part of a step: its samples of the batch."""
    noise = tf.random.normal((tf.shape(real)[0], NOISE))
    with tf.GradientTape() as tape:
        fake = parallel_generator(noise, training=True)
        of_real = mean_over_the_merged_batch(parallel_discriminator(real, training=True), 1.0)
        of_fake = mean_over_the_merged_batch(parallel_discriminator(fake, training=True), 0.0)
        discriminator_loss = of_real + of_fake
    variables = discriminator.trainable_variables
    discriminator_optimizer.apply_gradients(zip(tape.gradient(discriminator_loss, variables), variables, strict=True))

    with tf.GradientTape() as tape:
        fake = parallel_generator(noise, training=True)
        generator_loss = mean_over_the_merged_batch(parallel_discriminator(fake, training=True), 1.0)
    variables = generator.trainable_variables
    generator_optimizer.apply_gradients(zip(tape.gradient(generator_loss, variables), variables, strict=True))
    return discriminator_loss, generator_loss


@tf.function
def train_step(batch: tf.Tensor) -> list[tf.Tensor]:
    losses = parallel_generator.run(step, args=(batch,))
    return [parallel_generator.reduce("sum", loss) for loss in losses]


for _ in range(arguments.epochs):
    for batch in parallel_generator.distribute(batches):
        of_discriminator, of_generator = train_step(batch)
print(f"after {arguments.epochs} epochs: discriminator {of_discriminator:.3f}, generator {of_generator:.3f}")
drawn = generator.predict(keras.random.normal((500, NOISE), seed=1), verbose=0)
distance = abs(drawn.mean(0) - images.mean(0)).mean()
print(f"mean image of the generator, on one device: {distance:.3f} from the mean digit")
