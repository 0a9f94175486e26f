"""A loss of the model's own tensors."""

from stack import K, L, data, losses, models

inputs = L.Input((5,))
hidden = L.Dense(4, activation="relu")(inputs)
mean, spread = L.Dense(2)(hidden), L.Dense(2)(hidden)
z = L.Lambda(lambda pair: pair[0] + 0.3 * K.exp(0.5 * pair[1]), output_shape=(2,))([mean, spread])
outputs = L.Dense(5, activation="sigmoid")(z)
model = models.Model(inputs, outputs)
own = 5 * losses.mse(inputs, outputs) - 0.5 * K.sum(1 + spread - K.square(mean) - K.exp(spread), axis=-1)
model.add_loss(K.mean(own))
model.compile(optimizer="rmsprop", loss=None)
model.fit(data(12, 5), None, batch_size=6, epochs=1, shuffle=False, verbose=0)
