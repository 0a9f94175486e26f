"""A loss and a metric of one's own, on the whole batch."""

from stack import K, L, data, models, parallel


def dice(y_true, y_pred):
    y_true = K.flatten(K.cast(y_true, "float32"))
    y_pred = K.flatten(y_pred)
    return (2.0 * K.sum(y_true * y_pred) + 1.0) / (K.sum(y_true) + K.sum(y_pred) + 1.0)


def dice_loss(y_true, y_pred):
    return 1.0 - dice(y_true, y_pred)


x = data(12, 4, 4, 1)
inputs = L.Input((4, 4, 1))
hidden = L.Conv2D(2, 3, padding="same", activation="relu")(inputs)
model = models.Model(inputs, L.Conv2D(1, 1, activation="sigmoid")(hidden))
model = parallel(model)
model.compile(optimizer="adamax", loss=dice_loss, metrics=[dice])
model.fit(x, (x > 0.5).astype("float32"), batch_size=6, epochs=1, shuffle=False, verbose=0)
