"""Random scripts that train more than one model, or a loss of their own tensors: GANs, autoencoders, siamese models."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .random_scripts import RandomScript


def gan(s: RandomScript) -> None:
    """Two models that train in turn, one frozen inside the other."""
    rate = s.one("optimizers.Adam(0.01, 0.5)", "optimizers.RMSprop(0.005)", "'adam'", "optimizers.SGD(0.05)")
    s.add(f"adam = {rate}" if s.maybe(0.3) and s.standalone else f"make = lambda: {rate}\nadam = None")
    loss = s.one("'binary_crossentropy'", "'mse'", "lambda y, p: K.mean(y * p)")
    last = "'sigmoid'" if "binary" in loss else "None"
    middle = s.one("L.LeakyReLU(0.2)", "L.Dropout(0.)", "L.Activation('tanh')")
    normal = s.one(
        "L.BatchNormalization(momentum=0.8), ", "L.Dense(4, activation='tanh'), L.BatchNormalization(), ", ""
    )
    metrics = ", metrics=['accuracy']" if s.maybe(0.5) and "lambda" not in loss else ""
    s.add(
        f"""
critic = start(models.Sequential([L.Dense(5, input_shape=(4,)), {middle}, L.Dense(1, activation={last})]))
critic.compile(loss={loss}, optimizer=adam or make(){metrics})
painter = start(models.Sequential([L.Dense(5, input_shape=(3,), activation='tanh'), {normal}LAST]), 5)
""".replace("LAST", "L.Dense(4, activation='tanh')")
    )
    if s.maybe(0.3):
        s.add(f"painter.compile(loss={loss}, optimizer='sgd')")
    s.add("z = L.Input(shape=(3,))\nimage = painter(z)")
    s.add("critic.trainable = False")
    if s.maybe(0.5):
        s.add("valid = critic(image)\nboth = models.Model(z, valid)")
    else:
        s.add("both = models.Sequential([painter, critic])")
    s.add(f"both.compile(loss={loss}, optimizer=adam or make())")
    toggled = s.maybe(0.25) and s.standalone
    s.add("steps = []\nfor step in range(3):")
    s.add("noise, real = draw.normal(size=(4, 3)), draw.uniform(-1, 1, (4, 4))", 4)
    if toggled:
        s.add("critic.trainable = True", 4)
    ones = s.one("np.ones((4, 1))", "np.ones((4, 1)) * 0.9")
    s.add(f"steps.append(critic.train_on_batch(real, {ones}))", 4)
    s.add("steps.append(critic.train_on_batch(painter.predict(noise), np.zeros((4, 1))))", 4)
    if toggled:
        s.add("critic.trainable = False", 4)
    s.add("steps.append(both.train_on_batch(noise, np.ones((4, 1))))", 4)
    s.add("note('steps', steps)\nnote('painter', painter.get_weights())\nnote('critic', critic.get_weights())")
    s.add("note('counts', [len(critic.trainable_weights), len(both.trainable_weights), len(both.get_weights())])")
    s.add("print(json.dumps(RESULT))")


def autoencoder(s: RandomScript) -> None:
    """A variational autoencoder (its noise is a number): a loss that is added, or closes over tensors."""
    s.add(
        f"""
inputs = L.Input((6,))
hidden = L.Dense(5, activation={s.activation() if s.maybe(0.7) else "'relu'"})(inputs)
mean, spread = L.Dense(2, name='mean')(hidden), L.Dense(2, name='spread')(hidden)
z = L.Lambda(lambda pair: pair[0] + K.exp(0.5 * pair[1]) * 0.7, output_shape=(2,), name='z')([mean, spread])
encoder = models.Model(inputs, [mean, spread, z], name='encoder')
codes = L.Input((2,))
decoder = models.Model(codes, L.Dense(6, activation='sigmoid')(L.Dense(5, activation='relu')(codes)), name='decoder')
outputs = decoder({s.one("encoder(inputs)[2]", "z")})
vae = start(models.Model(inputs, outputs, name='vae'))
x = draw.uniform(0, 1, (SAMPLES, 6)).astype('float32')
""".replace("SAMPLES", "12")
    )
    # tf.keras 2 refuses a loss function that closes over symbolic tensors.
    if s.maybe(0.5) or s.tf2:
        kind = s.one("losses.mse(inputs, outputs)", "losses.binary_crossentropy(inputs, outputs)")
        s.add(f"own = 6 * {kind}")
        s.add("own += -0.5 * K.sum(1 + spread - K.square(mean) - K.exp(spread), axis=-1)")
        s.add(
            "vae.add_loss(K.mean(own))\nvae.compile(optimizer='rmsprop'" + ("" if s.maybe(0.5) else ", loss=None") + ")"
        )
        fed = "x, None" if s.standalone or s.maybe(0.5) else "x"
    else:
        s.add("def own(y_true, y_pred):")
        s.add("first = 6 * losses.binary_crossentropy(y_true, y_pred)", 4)
        s.add("return first - 0.5 * K.sum(1 + spread - K.square(mean) - K.exp(spread), axis=-1)\n", 4)
        s.add("vae.compile('adam', own)")
        fed = "x, x"
    validated = f", validation_data=({fed if ',' in fed else 'x, None'})" if s.maybe(0.5) else ""
    s.add(f"history = vae.fit({fed}, batch_size=5, epochs=2, shuffle=False{validated}, verbose=0)")
    s.add("note('history', history.history)\nnote('weights', vae.get_weights())")
    s.add("note('codes', encoder.predict(x))\nnote('decoded', decoder.predict(np.eye(2)))")
    s.add("print(json.dumps(RESULT))")


def siamese(s: RandomScript) -> None:
    """One model called twice, and a distance."""
    metric = s.one("", ", metrics=['accuracy']", ", metrics=[near]")
    margin = s.one("contrastive", "contrastive", "'binary_crossentropy'")
    last = "L.Lambda(distance, output_shape=lambda shapes: (shapes[0][0], 1))([one, two])"
    if "binary" in margin:
        last = "L.Dense(1, activation='sigmoid')(L.Lambda(lambda t: K.abs(t[0] - t[1]))([one, two]))"
    layers, shape = s.stack((5,), 2)
    while len(shape) > 1 or not layers or s.has_state:
        s.has_state = False
        layers, shape = s.stack((5,), 2)
    s.add("base = models.Sequential([L.InputLayer((5,)),")
    s.add("\n".join(f"{layer}," for layer in layers), 4)
    s.add(
        f"""])


def distance(pair):
    return K.sqrt(K.maximum(K.sum(K.square(pair[0] - pair[1]), axis=1, keepdims=True), K.epsilon()))


def contrastive(y_true, y_pred):
    y_true = K.cast(y_true, 'float32')
    return K.mean(y_true * K.square(y_pred) + (1 - y_true) * K.square(K.maximum(1 - y_pred, 0)))


def near(y_true, y_pred):
    return K.mean(K.equal(K.cast(y_true, 'float32'), K.cast(y_pred < 0.5, 'float32')))


a, b = L.Input((5,)), L.Input((5,))
one, two = base(a), base(b)
model = start(models.Model([a, b], {last}))
x = [draw.normal(size=(12, 5)).astype('float32') for _ in range(2)]
y = draw.randint(0, 2, (12, 1))"""
    )
    s.add(
        f"model.compile({s.optimizer()}, {margin}{metric})"
        if s.maybe(0.5)
        else f"model.compile('rmsprop', {margin}{metric})"
    )
    s.add("history = model.fit(x, y, batch_size=5, epochs=2, shuffle=False, validation_data=(x, y), verbose=0)")
    s.add("note('history', history.history)\nnote('weights', model.get_weights())\nnote('predict', model.predict(x))")
    s.add("print(json.dumps(RESULT))")
