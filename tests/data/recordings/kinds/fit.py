"""`fit` with held-out samples; images."""

from stack import L, data, kinds, models, optimizers, parallel, utils

x, y = data(20, 6, 6, 2), utils.to_categorical(kinds(20, 3), 3)
model = models.Sequential(
    [
        L.Conv2D(3, 3, activation="relu", input_shape=(6, 6, 2)),
        L.MaxPooling2D(),
        L.Flatten(),
        L.Dense(3, activation="softmax"),
    ]
)
model = parallel(model)
sgd = optimizers.SGD(0.1, momentum=0.9, nesterov=True)
model.compile(loss="categorical_crossentropy", optimizer=sgd, metrics=["accuracy"])
model.fit(x, y, batch_size=8, epochs=1, validation_split=0.2, verbose=0)
model.evaluate(x, y, verbose=0)
model.predict(x[:4])
