"""More rows of the table of differences, as `known_differences.py`: those whose models have parts of their own."""

import numpy as np
from keras import layers as L
from keras import models, optimizers

rng = np.random.RandomState(0)
x = rng.rand(12, 4).astype("float32")
y = rng.rand(12, 1).astype("float32")
wide = rng.rand(12, 2, 4, 4).astype("float32")
videos = rng.rand(12, 2, 3, 3, 2).astype("float32")
classes = np.eye(3)[rng.randint(0, 3, 12)].astype("float32")


def train(name, layers, inputs, targets, optimizer="sgd", loss="mse"):
    model = models.Sequential(layers, name=name)
    model.compile(optimizer, loss)
    model.fit(inputs, targets, batch_size=6, epochs=1, shuffle=False, verbose=0)


def dense(units=1, **given):
    return L.Dense(units, input_shape=(4,), **given)


train("Nadam_of_one_rate", [dense()], x, y, optimizers.Nadam(0.002))
moving = L.ConvLSTM2D(2, 2, input_shape=(2, 3, 3, 2))
train("ConvLSTM2D", [moving, L.Flatten(), L.Dense(1)], videos, y)
wrong = [dense(3), L.Lambda(lambda each: each * 1000.0), L.Activation("softmax")]
train("saturated_output", wrong, x, classes, "sgd", "categorical_crossentropy")
first = L.Conv2D(4, 3, padding="same", data_format="channels_first", bias_initializer="ones", input_shape=(2, 4, 4))
train("channels_first", [first, L.Flatten(), L.Dense(1)], wide, y)


class Own(models.Model):
    def __init__(self):
        super(Own, self).__init__(name="custom_class")
        self.hidden, self.drop, self.out = L.Dense(8), L.Dropout(0.5), L.Dense(1)

    def call(self, inputs):
        return self.out(self.drop(self.hidden(inputs)))


own = Own()
own.compile("sgd", "mse")
own.fit(x, y, batch_size=6, epochs=1, shuffle=False, verbose=0)
a = L.Input((4,))
two = models.Model(a, [L.Dense(1, name="zeta")(a), L.Dense(1, name="alpha")(a)], name="two_outputs")
two.compile("sgd", "mse", metrics={"zeta": ["mae"], "alpha": ["mse"]})
two.fit(x, [y, y * y + 3], batch_size=6, epochs=1, shuffle=False, verbose=0)
two.evaluate(x, [y, y * y + 3], batch_size=12, verbose=0)
inner = models.Sequential([dense(3), L.Dense(3)])
inner.trainable = False
inner.layers[0].trainable = True
train("inside_a_frozen_model", [inner, L.Dense(1)], x, y)
