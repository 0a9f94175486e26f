"""A script that asks an era for what wider scripts found to differ once, a few lines for each cause.

Beside `script_of_causes` of `random_scripts.py`, whose recordings stay as they are.
"""

from __future__ import annotations

from .random_scripts import RandomScript


def script_of_wider_causes(era: str) -> str:
    """Return the script of an era."""
    written = RandomScript(era, 0)
    written.imports()
    parts = [START, *OF_ALL]
    if not written.tf2:
        parts.append(OF_GRAPHS)
    if not written.standalone:
        parts += OF_TF_KERAS
    if written.tf2:
        parts.append(OF_TENSORFLOW_2)
    written.add("\n".join([*parts, "print(json.dumps(RESULT))"]))
    return "\n".join(written.lines) + "\n"


START = """
x, x2 = draw.normal(size=(13, 4)).astype("float32"), draw.normal(size=(13, 3)).astype("float32")
y1, yc = draw.normal(size=(13, 1)).astype("float32"), draw.randint(0, 3, 13)
yb, yh = draw.randint(0, 2, (13, 1)), np.eye(3)[yc].astype("float32")
words = draw.randint(1, 8, (12, 5)) * (np.arange(5) >= draw.randint(0, 5, (12, 1)))
words[3] = 0


def cause(function):
    K.clear_session()
    np.random.seed(1)
    random.seed(1)
    note(function.__name__, function())

"""

OF_ALL = (
    """
@cause
def padded_at_first():
    noted = []
    for kind in ("LSTM", "GRU", "SimpleRNN"):
        for more in ({}, {"go_backwards": True}, {"unroll": True}):
            a, b = L.Input((5,)), L.Input((3,))
            h = L.Embedding(9, 2, mask_zero=True)(a)
            state = [L.Dense(3)(b)] * (2 if kind == "LSTM" else 1)
            out = getattr(L, kind)(3, return_sequences=True, **more)(h, initial_state=state)
            last = getattr(L, kind)(3, **more)(h, initial_state=state)
            flat = L.Lambda(lambda t: t * 1.0, output_shape=(5, 3))(out)
            model = start(models.Model([a, b], [flat, last]))
            other = np.random.RandomState(3).normal(size=(12, 3))
            noted.append([kind, sorted(more), model.predict([words, other])])
            model.compile("sgd", "mse")
            noted.append(model.train_on_batch([words, other], [np.zeros((12, 5, 3)), np.zeros((12, 3))]))
    model = models.Sequential(
        [
            L.Embedding(9, 2, mask_zero=True, batch_input_shape=(4, 5)),
            L.LSTM(3, stateful=True, return_sequences=True),
            L.GRU(2, stateful=True),
            L.Dense(1),
        ]
    )
    start(model)
    model.compile("adam", "mse", metrics=["mae"])
    noted.append(
        [
            model.fit(words, np.ones((12, 1)), batch_size=4, epochs=3, shuffle=False, verbose=0).history,
            model.predict(words, batch_size=4),
        ]
    )
    return noted

""",
    """
@cause
def equal_names_of_outputs():
    base = start(models.Sequential([L.Dense(3, activation="softmax", input_shape=(4,))], name="base"))
    a, b = L.Input((4,)), L.Input((4,))
    model = models.Model([a, b], [base(a), base(b), L.Dense(1, name="one")(a)])
    start(model)
    y = np.eye(3)[yc]
    noted = []
    for target in (model, utils.multi_gpu_model(model, 2)):
        target.compile("sgd", ["categorical_crossentropy", "mse", "mae"], loss_weights=[1.0, 2.0, 3.0])
        noted.append(target.train_on_batch([x, x[::-1]], [y, y, y1]))
        noted.append(target.test_on_batch([x, x[::-1]], [y, y, y1]))
        noted.append(target.evaluate([x, x[::-1]], [y, y, y1], batch_size=5, verbose=0))
        target.compile("sgd", ["categorical_crossentropy", "mse", "mae"], metrics=["mae"])
        noted.append(target.train_on_batch([x, x[::-1]], [y, y, y1]))
        noted.append(target.fit([x, x[::-1]], [y, y, y1], batch_size=5, shuffle=False, verbose=0).history["loss"])
    return noted

""",
    """
@cause
def double_precision():
    K.set_floatx("float64")
    try:
        model = start(
            models.Sequential([L.Dense(4, activation="tanh", input_shape=(4,)), L.Dense(1, kernel_regularizer="l2")])
        )
        model.compile(optimizers.Adam(0.02), "mse", metrics=["mae"])
        noted = [model.fit(x, y1, batch_size=5, epochs=2, shuffle=False, validation_split=0.3, verbose=0).history]
        noted += [
            model.get_weights(),
            model.get_weights()[0].dtype.name,
            model.predict(x).dtype.name,
            model.evaluate(x, y1, verbose=0),
            model.train_on_batch(x, y1),
        ]
        parallel = utils.multi_gpu_model(model, 2)
        parallel.compile("sgd", "mse")
        noted.append(parallel.fit(x, y1, batch_size=5, epochs=2, shuffle=False, verbose=0).history)
    finally:
        K.set_floatx("float32")
    return noted

""",
    """
@cause
def ends_of_trainings():
    seen = []

    class End(callbacks.Callback):
        def on_train_end(self, logs=None):
            seen.append(sorted(logs or {}))

        def on_train_begin(self, logs=None):
            seen.append(sorted(logs or {}))

    model = start(models.Sequential([L.Dense(1, input_shape=(4,))]))
    model.compile("sgd", "mse")

    def batches():
        while True:
            yield x, y1

    model.fit(x, y1, verbose=0, callbacks=[End()])
    model.fit_generator(batches(), 1, verbose=0, callbacks=[End()])
    return seen

""",
    """
@cause
def accuracy_of_drawn_classes():
    noted = []
    for shape in ((13, 1), (13,)):
        model = start(models.Sequential([L.Dense(3, activation="softmax", input_shape=(4,))]))
        model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])

        def batches():
            while True:
                yield x, yc.reshape(shape)

        seen = [
            model.fit_generator(batches(), 1, epochs=2, verbose=0).history,
            model.evaluate(x, yc.reshape(shape), verbose=0),
            model.evaluate_generator(batches(), 1),
        ]
        model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
        seen.append(model.train_on_batch(x, yc.reshape(shape)))
        seen.append(model.fit_generator(batches(), 1, epochs=2, verbose=0).history)
        noted.append(seen)
    return noted

""",
)

OF_GRAPHS = """
@cause
def classes_of_several_outputs():
    a = L.Input((4,))
    model = start(
        models.Model(
            a, [L.Dense(3, activation="softmax", name="two")(a), L.Dense(1, activation="sigmoid", name="bit")(a)]
        )
    )
    model.compile("sgd", ["categorical_crossentropy", "binary_crossentropy"], metrics=["acc"])
    y, bit = np.eye(3)[yc], (y1 > 0).astype("float32")
    classes = {"two": {0: 1.0, 1: 2.0, 2: 3.0}, "bit": {0: 0.3, 1: 3.0}}
    noted = [model.fit(x, [y, bit], class_weight=classes, batch_size=5, shuffle=False, verbose=0).history]
    noted.append(
        model.fit(
            x,
            {"two": y, "bit": bit},
            class_weight=[classes["two"], classes["bit"]],
            validation_split=0.3,
            batch_size=5,
            shuffle=False,
            verbose=0,
        ).history
    )
    noted.append(model.train_on_batch(x, [y, bit], class_weight=classes))
    noted.append(
        model.train_on_batch(
            x, [y, bit], class_weight=classes, sample_weight=[np.linspace(0, 2, 13), np.linspace(1, 2, 13)]
        )
    )
    return noted

"""

OF_TF_KERAS = (
    """
@cause
def added_losses_and_metrics():
    noted = []
    a = L.Input((4,))
    h = L.Dense(3, activation="tanh", activity_regularizer="l2")(a)
    out = L.Dense(1, kernel_regularizer=regularizers.l1(0.01))(h)
    model = start(models.Model(a, out))
    model.add_loss(0.1 * K.mean(K.square(h)))
    model.add_metric(K.mean(h), name="mean_h", aggregation="mean")
    model.compile("sgd", "mse", metrics=["mae"])
    noted.append(model.fit(x, y1, batch_size=5, epochs=2, shuffle=False, verbose=0, validation_split=0.3).history)
    noted.append([model.evaluate(x, y1, verbose=0), model.metrics_names])
    noted.append([model.train_on_batch(x, y1), model.test_on_batch(x, y1)])

    class Own(L.Layer):
        def build(self, shape):
            self.w = self.add_weight(
                "w", shape=(int(shape[-1]), 2), initializer="ones", regularizer=regularizers.l2(0.02)
            )

        def call(self, inputs):
            found = tf.matmul(inputs, self.w)
            self.add_loss(0.01 * tf.reduce_sum(tf.square(found)))
            self.add_metric(tf.reduce_mean(found), name="found", aggregation="mean")
            return found

    model = models.Sequential([L.Dense(3, input_shape=(4,)), Own(), L.Dense(1)])
    start(model)
    model.compile("adam", "mse")
    noted.append(model.fit(x, y1, batch_size=5, epochs=2, shuffle=False, verbose=0).history)
    return noted + [model.metrics_names, [v.name for v in model.weights]]

""",
    """
@cause
def datasets_of_dicts():
    a, b = L.Input((4,), name="a"), L.Input((3,), name="b")
    model = start(
        models.Model(
            [a, b], [L.Dense(1, name="one")(a), L.Dense(3, activation="softmax", name="two")(L.concatenate([a, b]))]
        )
    )
    model.compile("sgd", {"one": "mse", "two": "categorical_crossentropy"}, metrics={"two": "accuracy"})
    data = tf.data.Dataset.from_tensor_slices(({"a": x, "b": x2}, {"one": y1, "two": yh})).batch(5)
    noted = [
        model.fit(data, epochs=2, verbose=0, shuffle=False, validation_data=data).history,
        model.evaluate(data, verbose=0),
        model.predict(data),
    ]
    pairs = tf.data.Dataset.from_tensor_slices(((x, x2), (y1, yh))).batch(6)
    return noted + [model.fit(pairs, epochs=2, verbose=0).history]

""",
    """
@cause
def weights_of_layers_in_lists():
    class Block(L.Layer):
        def __init__(self, units, **kwargs):
            super(Block, self).__init__(**kwargs)
            self.dense = L.Dense(units, activation="relu", kernel_regularizer="l2")
            self.drop = L.Dropout(0.0)
            self.norm = L.BatchNormalization(momentum=0.5)

        def call(self, inputs, training=None):
            return self.norm(self.drop(self.dense(inputs), training=training), training=training)

    class Net(models.Model):
        def __init__(self):
            super(Net, self).__init__()
            self.blocks = [Block(3), Block(3)]
            self.out = L.Dense(2, activation="softmax")

        def call(self, inputs, training=False, mask=None):
            for block in self.blocks:
                inputs = block(inputs, training=training) + inputs[:, :3]
            return self.out(inputs)

    model = Net()
    model.build((None, 4))
    return [[v.name for v in model.weights], len(model.trainable_weights)]
""",
)

OF_TENSORFLOW_2 = """
@cause
def own_train_step():
    noted = []

    class Own(models.Model):
        def train_step(self, data):
            a, b = data
            with tf.GradientTape() as t:
                out = self(a, training=True)
                loss = self.compiled_loss(b, out, regularization_losses=self.losses)
            self.optimizer.apply_gradients(zip(t.gradient(loss, self.trainable_variables), self.trainable_variables))
            self.compiled_metrics.update_state(b, out)
            return {m.name: m.result() for m in self.metrics}

    a = L.Input((4,))
    model = start(Own(a, L.Dense(1, kernel_regularizer="l2")(L.Dense(3, activation="tanh")(a))))
    model.compile("adam", "mse", metrics=["mae"])
    noted.append(model.fit(x, y1, batch_size=5, epochs=2, shuffle=False, verbose=0, validation_data=(x, y1)).history)
    noted.append(model.evaluate(x, y1, verbose=0, return_dict=True))
    noted.append(model.train_on_batch(x, y1, return_dict=True))

    class Gan(models.Model):
        def __init__(self, d, g):
            super(Gan, self).__init__()
            self.d, self.g = d, g

        def compile(self, d_optimizer, g_optimizer, loss_fn):
            super(Gan, self).compile()
            self.d_optimizer, self.g_optimizer, self.loss_fn = d_optimizer, g_optimizer, loss_fn

        def train_step(self, real):
            if isinstance(real, tuple):
                real = real[0]
            z = tf.ones((tf.shape(real)[0], 3))
            both = tf.concat([self.g(z), real], axis=0)
            labels = tf.concat([tf.ones((tf.shape(real)[0], 1)), tf.zeros((tf.shape(real)[0], 1))], axis=0)
            with tf.GradientTape() as t:
                d_loss = self.loss_fn(labels, self.d(both))
            self.d_optimizer.apply_gradients(
                zip(t.gradient(d_loss, self.d.trainable_weights), self.d.trainable_weights)
            )
            with tf.GradientTape() as t:
                g_loss = self.loss_fn(tf.zeros((tf.shape(real)[0], 1)), self.d(self.g(z)))
            self.g_optimizer.apply_gradients(
                zip(t.gradient(g_loss, self.g.trainable_weights), self.g.trainable_weights)
            )
            return {"d_loss": d_loss, "g_loss": g_loss}

    d = start(models.Sequential([L.Dense(3, input_shape=(4,)), L.LeakyReLU(), L.Dense(1)]))
    g = start(models.Sequential([L.Dense(4, input_shape=(3,))]))
    gan = Gan(d, g)
    gan.compile(optimizers.Adam(0.01), optimizers.Adam(0.02), losses.BinaryCrossentropy(from_logits=True))
    noted.append(gan.fit(x, batch_size=5, epochs=2, shuffle=False, verbose=0).history)
    noted.append(gan.fit(tf.data.Dataset.from_tensor_slices(x).batch(5), epochs=2, verbose=0).history)
    return noted + [d.get_weights(), g.get_weights()]

"""
