"""Losses, weights and metrics by the names of the outputs."""

from stack import L, data, kinds, models, parallel

inputs = L.Input((4,), name="features")
hidden = L.Dense(5, activation="tanh", kernel_regularizer="l2")(inputs)
kind = L.Dense(3, activation="softmax", name="kind")(hidden)
size = L.Dense(1, name="size")(hidden)
model = parallel(models.Model(inputs, [kind, size]))
x = data(12, 4)
names = model.output_names
model.compile(
    "adam",
    loss=dict(zip(names, ["sparse_categorical_crossentropy", "mse"])),
    loss_weights=dict(zip(names, [1.0, 0.2])),
    metrics=dict(zip(names, ["accuracy", "mae"])),
)
model.fit(x, [kinds(12, 3).reshape(-1, 1), x[:, :1]], batch_size=6, epochs=1, shuffle=False, verbose=0)
