"""Weights of classes."""

from stack import L, data, kinds, models, parallel, utils

model = models.Sequential([L.Dense(4, activation="relu", input_shape=(3,)), L.Dense(3, activation="softmax")])
model = parallel(model)
model.compile("nadam", "categorical_crossentropy", metrics=["categorical_accuracy"])
y = utils.to_categorical(kinds(12, 3), 3)
weights = {0: 1.0, 1: 2.0, 2: 0.5}
model.fit(data(12, 3), y, batch_size=6, epochs=1, class_weight=weights, shuffle=False, verbose=0)
