"""One model called twice, and a distance."""

from stack import K, L, data, kinds, models, parallel

base = models.Sequential([L.Dense(4, activation="relu", input_shape=(3,)), L.Dense(2)])
a, b = L.Input((3,)), L.Input((3,))
distance = L.Lambda(lambda pair: K.sqrt(K.sum(K.square(pair[0] - pair[1]), axis=1, keepdims=True) + 1e-4))


def contrastive(y_true, y_pred):
    y_true = K.cast(y_true, "float32")
    return K.mean(y_true * K.square(y_pred) + (1 - y_true) * K.square(K.maximum(1 - y_pred, 0)))


model = parallel(models.Model([a, b], distance([base(a), base(b)])))
model.compile("adadelta", contrastive)
model.fit([data(12, 3), data(12, 3)[::-1]], kinds(12, 2), batch_size=6, epochs=1, shuffle=False, verbose=0)
