# ruff: noqa: B905  (Python 3.7 has no `zip(strict=)`)
"""Graph code of 2018, as small programs: each returns numbers. `tests/data/legacy/graph_keras_2_2_4.json` has those of
Keras 2.2.4 on TensorFlow 1.15.5, which this file runs on as well: `python graph_program.py OUT.json`.
"""

from __future__ import annotations

import json
import sys
from functools import partial

import keras
import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.layers import (
    LSTM,
    Activation,
    Add,
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Input,
    Lambda,
    MaxPooling2D,
)
from keras.models import Model, Sequential

try:
    from keras.layers.merge import _Merge
except ImportError:
    _Merge = Add
X = np.random.RandomState(0).rand(24, 6).astype("float32")
IMAGES = np.random.RandomState(1).rand(4, 8, 8, 3).astype("float32")


def with_weights(model, seed=3):
    """Give a model weights that are the same on every stack."""
    draw = np.random.RandomState(seed)
    model.set_weights([(draw.rand(*w.shape) - 0.5).astype("float32") for w in model.get_weights()])
    return model


def total(model):
    return [float(np.abs(w).sum()) for w in model.get_weights()]


def variational(way, gpus=1, masked=False):
    if masked:
        x = Input(shape=(5,))
        h = LSTM(5, recurrent_activation="sigmoid")(Embedding(7, 4, mask_zero=True)(x))
        data = np.random.RandomState(2).randint(0, 7, (24, 5))
    else:
        x = Input(shape=(6,))
        h = Dense(5, activation="tanh")(x)
        data = X
    z_mean, z_log_var = Dense(2)(h), Dense(2)(h)
    z = Lambda(lambda a: a[0] + K.exp(a[1] / 2) * 0.3, output_shape=(2,))([z_mean, z_log_var])
    if way == "nested":
        encoder = Model(x, [z_mean, z_log_var, z])
        code = Input(shape=(2,))
        decoder = Model(code, Dense(6, activation="sigmoid")(Dense(5, activation="tanh")(code)))
        decoded = decoder(encoder(x)[2])
    else:
        decoded = Dense(6, activation="sigmoid")(Dense(5, activation="tanh")(z))
    template = model = with_weights(Model(x, decoded))
    if gpus > 1:
        model = keras.utils.multi_gpu_model(template, gpus)

    def divergence():
        return -0.5 * K.sum(1 + z_log_var - K.square(z_mean) - K.exp(z_log_var), axis=-1)

    if way in ("nested", "added"):
        target = K.round(decoded) if masked else x
        model.add_loss(K.mean(6 * keras.losses.binary_crossentropy(target, decoded) + divergence()))
        model.compile(optimizer="sgd")
        history = model.fit(data, epochs=3, batch_size=10, shuffle=False, verbose=0).history
        return {"loss": history["loss"], "weights": total(template)}

    def vae_loss(inputs, outputs):
        entropy = 6 * keras.metrics.binary_crossentropy(inputs, outputs)
        if way == "mean":
            return K.mean(entropy + divergence())
        if way == "inputs":
            return K.mean(K.square(x - outputs), axis=-1) + tf.reduce_mean(divergence())
        return entropy + divergence()

    def magnitude(inputs, outputs):
        return K.mean(K.square(z_mean), axis=-1)

    model.compile(optimizer="sgd", loss=vae_loss, metrics=[magnitude])
    history = model.fit(data, X, epochs=3, batch_size=10, shuffle=False, verbose=0, validation_data=(data[:7], X[:7]))
    batch = [float(value) for value in model.train_on_batch(data[:8], X[:8])]
    return {"history": history.history, "batch": batch, "weights": total(template)}


def saliency():
    model = Sequential([Dense(5, activation="tanh", input_shape=(6,)), Dropout(0.5), BatchNormalization(), Dense(2)])
    with_weights(model)
    model.set_weights([np.abs(w) for w in model.get_weights()])
    slope = K.gradients(K.sum(model.output[:, 1]), model.input)[0]
    second = K.gradients(K.sum(K.square(slope)), model.trainable_weights[:2])
    f = K.function([model.input, K.learning_phase()], [model.output, slope, *second])
    before = model.get_weights()
    between = K.function([model.layers[0].output], [model.layers[-1].output])([np.ones((2, 5))])[0]
    found = f([X, 0])
    dropped = f([X, 1])[0]
    kept = all((one == other).all() for one, other in zip(before, model.get_weights()))
    K.function([model.input, K.learning_phase()], [model.output], updates=model.updates)([X, 1])
    written = all((one == other).all() for one, other in zip(before, model.get_weights()))
    return {
        "found": [each.tolist() for each in found],
        "dropped": bool(np.allclose(dropped, found[0])),
        "kept": kept,
        "written": written,
        "between": between.tolist(),
        "none": K.gradients(K.sum(model.output), Input((3,))) == [None],
    }


def gradient_ascent():
    """The loop of `conv_filter_visualization`, and the loss and gradients of `neural_style_transfer`."""
    base, style, made = K.variable(IMAGES[:1]), K.variable(IMAGES[1:2]), K.placeholder((1, 8, 8, 3))
    tensor = K.concatenate([base, style, made], axis=0)
    layers = [Conv2D(4, 3, activation="relu", name="first"), MaxPooling2D(), Conv2D(5, 3, name="second")]
    outputs = tensor
    for layer in layers:
        outputs = layer(outputs)
    draw = np.random.RandomState(5)
    for layer in layers:
        layer.set_weights([(draw.rand(*w.shape) - 0.5).astype("float32") for w in layer.get_weights()])
    features = layers[0].output
    content, combined = features[0, :, :, :], features[2, :, :, :]

    def gram(x):
        rows = K.batch_flatten(K.permute_dimensions(x, (2, 0, 1)))
        return K.dot(rows, K.transpose(rows))

    loss = K.variable(0.0)
    loss = loss + 0.5 * K.sum(K.square(combined - content))
    loss = loss + K.sum(K.square(gram(features[1]) - gram(combined))) / (4.0 * 9 * 36)
    a = K.square(made[:, :7, :7, :] - made[:, 1:, :7, :])
    loss = loss + 0.1 * K.sum(K.pow(a, 1.25))
    loss = loss + K.mean(outputs[2, :, :, 1])
    slopes = K.gradients(loss, made)
    f = K.function([made], [loss, *slopes])
    x = IMAGES[2:3].copy()
    losses = []
    for _ in range(3):
        value, slope = f([x])
        slope /= np.sqrt((slope**2).mean()) + 1e-5
        x -= 0.05 * slope
        losses.append(float(value))
    return {"losses": losses, "x": float(np.abs(x).sum())}


def policy_gradient():
    """What actor-critic code did: placeholders beside the model's input, and an optimizer's updates."""
    from keras.optimizers import Adam

    model = with_weights(Sequential([Dense(5, activation="tanh", input_shape=(6,)), Dense(3, activation="softmax")]))
    advantage, action = K.placeholder(shape=(None,)), K.placeholder(shape=(None, 3))
    chosen = K.sum(model.output * action, axis=1)
    loss = -K.mean(K.log(chosen + 1e-10) * advantage)
    updates = Adam(lr=0.01).get_updates(params=model.trainable_weights, loss=loss)
    step = K.function([model.input, action, advantage], [loss], updates=updates)
    given = [X, np.eye(3)[np.arange(24) % 3], np.linspace(-1, 1, 24)]
    return {"losses": [float(step(given)[0]) for _ in range(5)], "weights": total(model)}


def updates():
    x, factor = K.placeholder((None, 6)), K.placeholder(ndim=0)
    count, weights = K.variable(2.0), K.variable(np.ones((6, 2)))
    loss = K.sum(K.square(K.dot(x, weights)))
    slope = K.gradients(loss, weights)[0]
    f = K.function(
        [x, factor], [loss * factor], updates=[K.update_add(count, 1.0), (weights, weights - factor * slope)]
    )
    values = [float(f([X, 0.001])[0]) for _ in range(3)]
    assign = K.update(count, 7.0)
    before = float(K.get_value(count))
    K.get_session().run(assign)
    return {
        "values": values,
        "before": before,
        "after": float(K.get_value(count)),
        "weights": K.get_value(weights).tolist(),
    }


def gradient_penalty():
    critic = with_weights(Sequential([Dense(8, activation="tanh", input_shape=(6,)), Dense(1)]))

    class WeightedAverage(_Merge):
        def _merge_function(self, inputs):
            return 0.3 * inputs[0] + 0.7 * inputs[1]

    real, fake = Input((6,)), Input((6,))
    averaged = WeightedAverage()([real, fake])

    def penalty(y_true, y_pred, averaged_samples):
        slopes = K.gradients(y_pred, averaged_samples)[0]
        norm = K.sqrt(K.sum(K.square(slopes), axis=np.arange(1, len(slopes.shape))))
        return K.mean(K.square(1 - norm))

    of_averaged = partial(penalty, averaged_samples=averaged)
    of_averaged.__name__ = "penalty"

    def wasserstein(y_true, y_pred):
        return K.mean(y_true * y_pred)

    validities = [Activation("linear", name=name)(critic(x)) for name, x in zip("abc", (real, fake, averaged))]
    model = Model([real, fake], validities)
    model.compile("sgd", loss=[wasserstein, wasserstein, of_averaged], loss_weights=[1, 1, 10])
    ones = np.ones((24, 1))
    steps = [model.train_on_batch([X, X[::-1] * 2], [ones, -ones, ones]) for _ in range(3)]
    return {"steps": [[float(value) for value in step] for step in steps], "weights": total(critic)}


def captured():
    image = Input((6,))
    hidden = Dense(6)(image)
    scaled = Lambda(lambda t: t * K.mean(image) + tf.reduce_max(image))(hidden)
    shaped = Lambda(lambda t: K.reshape(t, K.shape(image)))(hidden)
    given = Lambda(lambda t, other: t + other, arguments={"other": image})(hidden)
    model = with_weights(Model(image, [scaled, shaped, given]))
    model.compile("sgd", "mse")
    model.train_on_batch(X, [X, X, X])
    return {"predicted": [float(np.abs(each).sum()) for each in model.predict(X)], "weights": total(model)}


def phases():
    """What a fixed learning phase does to layers called before, while and after it is fixed."""
    x = Input((6,))
    free = Dropout(0.5)(x)
    K.set_learning_phase(1)
    on = Dropout(0.5)(x)
    one = K.learning_phase()
    K.set_learning_phase(0)
    off = Dropout(0.5)(x)
    forced = Dropout(0.5)(x, training=True)
    model = Model(x, [free, on, off, forced])
    model.compile("sgd", "mse")
    drops = [bool((each == 0).any()) for each in model.predict(np.ones((50, 6)))]
    f = K.function([x, K.learning_phase()] if not isinstance(K.learning_phase(), int) else [x], [free])
    return {"drops": drops, "one": one, "f": bool((f([np.ones((50, 6))])[0] == 0).any())}


PROGRAMS = {
    "vae": partial(variational, "each"),
    "vae_mean": partial(variational, "mean"),
    "vae_inputs": partial(variational, "inputs"),
    "vae_added": partial(variational, "added"),
    "vae_nested": partial(variational, "nested"),
    "vae_masked": partial(variational, "each", masked=True),
    "vae_masked_added": partial(variational, "added", masked=True),
    "saliency": saliency,
    "gradient_ascent": gradient_ascent,
    "policy_gradient": policy_gradient,
    "updates": updates,
    "gradient_penalty": gradient_penalty,
    "captured": captured,
    "phases": phases,
}

if __name__ == "__main__":
    results = {}
    for name in sys.argv[2:] or PROGRAMS:
        try:
            results[name] = PROGRAMS[name]()
        except Exception as error:
            import traceback

            traceback.print_exc()
            results[name] = repr(error)[:300]
    with open(sys.argv[1], "w") as file:
        json.dump(results, file, indent=1, sort_keys=True)
