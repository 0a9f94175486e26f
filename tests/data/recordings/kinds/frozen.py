"""A frozen base with normalisation, and a new top."""

from stack import L, data, models, optimizers

base = models.Sequential([L.Dense(4, input_shape=(3,)), L.BatchNormalization(), L.Activation("relu")])
base.trainable = False
model = models.Sequential([base, L.Dense(1)])
model.compile(optimizers.SGD(0.1, clipnorm=0.5), "mse")
model.fit(data(12, 3), data(12, 3)[:, :1], batch_size=6, epochs=1, shuffle=False, verbose=0)
