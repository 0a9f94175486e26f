from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = (
    "from parallel_compat.legacy import backend as K\nfrom keras.layers import Dense, Input, Lambda, Layer\n"
    "x = Input((3,))\nz = Dense(2)(x)\n"
)


@pytest.mark.parametrize(
    "use",
    [
        "y = Lambda(lambda a, b=2: a * z)(z)\n",
        "def g(a):\n    return a * z\ndef f(a):\n    return g(a) + 1\ny = Lambda(f)(z)\n",
        "y = Lambda(lambda a: K.concatenate(a) * z)([x, x])\n",
        "def f(a):\n    return a * z\ny = Lambda(f)(z)\n",
        "def loss(a, b):\n    return a - b + z\nmodel.compile('sgd', loss=loss)\n",
        "w = K.sum(x, -1) / 2\ny = Lambda(lambda a: a * w, mask=f)(z)\n",
        "def loss(a, b):\n    return a - K.mean(w)\nw = K.concatenate([x, z])[0]\nmodel.compile('sgd', loss)\n",
        "class Net:\n    def __init__(self):\n        self.w = K.sum(x)\n        self.y = Lambda(self.f)(z)\n"
        "    def f(self, a):\n        return a * self.w\n",
        "model.compile('sgd', {'y': lambda a, b: z})\n",
        "def of(z): return lambda a, b: a - b + z\nmodel.compile('sgd', of(z))\n",
        "class Own(Layer):\n    def compute_mask(self, inputs, mask=None):\n        return mask[0]\n",
        "class Own(Layer):\n    def __call__(self, x):\n        return Dense(2)(x)\n",
        "class Own(Layer):\n    def call(self, a):\n        self.add_loss(K.mean(z))\n        return a\n",
        "class Own(Layer):\n    def call(self, x, training):\n        return self.block(x, training, None)\n",
        "class Own(Layer):\n    def call(self, x, training):\n        for b in self.all:\n            b(x, training)\n",
        "from keras.models import Sequential\nmodel = Sequential()\nmodel.layers.pop()\n",
        "class Own(Layer):\n    def build(self, s):\n        self.trainable_weights.append(self.w)\n",
        "class Own(Layer):\n    def build(self, s):\n        self._trainable_weights.extend([self.w])\n",
        "class Own(Layer):\n    def call(self, x):\n        self.losses.append(x)\n        return x\n",
        "def freeze(net):\n    net.trainable_weights.remove(net.weights[0])\n",
        "def build(net, features):\n    return [net([feature, i]) for i, feature in enumerate(features)]\n",
    ],
)
def test_what_needs_the_graph(use):
    check_noop(HEAD + use)
    assert [status for _, status in found(HEAD + use, "graph-of-layers")] == ["attention"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = Lambda(lambda a: a * z + z)(x)", "y = Lambda(lambda a: a[0] * a[1] + a[1])([x, z])"),
        ("w = K.sum(x)\ny = Lambda(lambda a: a * w)(z)", "w = K.sum(x)\ny = Lambda(lambda a: a[0] * a[1])([z, w])"),
        (
            "def attend(q, k):\n    size = K.sqrt(K.cast(K.shape(k)[-1], 'float32'))\n"
            "    return Lambda(lambda a: K.batch_dot(a[0], a[1]) / size)([q, k])",
            "def attend(q, k):\n    size = K.sqrt(K.cast(K.shape(k)[-1], 'float32'))\n"
            "    return Lambda(lambda a: K.batch_dot(a[0], a[1]) / a[2])([q, k, size])",
        ),
    ],
)
def test_what_a_lambda_layer_reads_becomes_its_input(before, after):
    call = "\nattend(Dense(3)(x), z)\n" if "attend" in before else "\n"
    head = HEAD if "attend" not in before else HEAD.replace("z = Dense(2)(x)\n", "")
    check_transformed(head + before + call, head + after + call)


@pytest.mark.parametrize(
    "use",
    [
        "y = Lambda(lambda z: z * 2)(z)\n",
        "def f(a):\n    z = a * 2\n    return z\ny = Lambda(f)(x)\n",
        "def loss(a, b):\n    return a - b\nmodel.compile('sgd', loss=loss)\n",
        "w = K.variable(3.0)\nn = K.int_shape(x)[0]\ny = Lambda(lambda a: a * w * n)(z)\n",
        "def scaled(x, n):\n    s = K.sqrt(K.cast(n, 'float32'))\n    return Lambda(lambda a: a * s)(x)\n",
        "class Own(Layer):\n    def compute_mask(self, inputs, mask=None):\n        return mask\n",
        "class Own(Layer):\n    def call(self, x, training):\n        return self.block(x, training=training)\n",
        "class Own(Layer):\n    def __call__(self, x):\n        return x\n    def call(self, x): return x\n",
        "class Own:\n    def call(self, x, training):\n        return self.block(x, training)\n",
        "class Own:\n    def build(self):\n        self.trainable_weights.append(3)\n",
        "def log(own):\n    own.losses.append(3)\n    own.layers.append(3)\n",
        "def show(features):\n    return [print([feature, i]) for i, feature in enumerate(features)]\n",
    ],
)
def test_leaves_alone(use):
    check_noop(HEAD + use, rule="graph-of-layers")


def test_weights_that_are_looked_for_as_checkpoints_of_tensorflow():
    use = "import tensorflow as tf\nx = tf.keras.Input((3,))\npath = tf.train.latest_checkpoint('saved')\n"
    check_noop(use, rule="graph-of-layers")
    assert found(use + "model.load_weights(path)\n", "graph-of-layers") == [(3, "attention")]
    use = use.replace("latest_checkpoint", "list_variables")
    check_noop(use, rule="graph-of-layers")
    assert found(use + "model.save_weights('saved/w')\n", "graph-of-layers") == [(3, "attention")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("net(x, True)", "net(x, training=True)"),
        ("norm(x, is_training)", "norm(x, training=is_training)"),
        ("own(x, train)", "own(x, mode=train)"),
        ("net(x, y)", "net(x, y)"),
        ("plain(x, True)", "plain(x, True)"),
    ],
)
def test_a_mode_by_position(before, after):
    head = (
        "from keras.layers import BatchNormalization\nfrom keras.models import Model\n"
        "class Own(Model):\n    def call(self, x, mode, training=None):\n        return x\n"
        "net = Model(a, b)\nnorm = BatchNormalization()\nown = Own()\n"
    )
    check_transformed(f"{head}{before}\n", f"{head}{after}\n", unsafe=True)


def test_a_mode_of_what_may_be_a_model():
    source = "from keras.models import Model\ndef loss(critic, x, is_training):\n    return critic(x, is_training)\n"
    assert found(source, "graph-of-layers") == [(3, "attention")]


@pytest.mark.parametrize("read", ["hidden.output", "model.inputs[0]"])
def test_a_loss_that_reads_what_goes_through_a_layer(read):
    source = (
        "from keras.layers import Dense\nfrom keras.models import Model\n"
        f"hidden = Dense(3)\nmodel = Model(a, b)\ndef loss(y, p):\n    return p + {read}\nmodel.compile('sgd', loss)\n"
    )
    assert found(source, "graph-of-layers") == [(7, "attention")]
    check_noop(source.replace(read, "p.output").replace("'sgd', loss", "'sgd', 'mse'"), rule="graph-of-layers")


def test_a_model_that_begins_with_a_tensor_that_has_values():
    head = "from keras import backend as K\nfrom keras.layers import Input\nfrom keras.applications import VGG16\n"
    for use in ("Input(tensor=K.constant(a))", "VGG16(input_tensor=K.concatenate([K.variable(a), K.variable(b)]))"):
        assert found(f"{head}x = {use}\n", "graph-of-layers") == [(4, "attention")]
    for use in ("Input(tensor=given, shape=(3,))", "VGG16(input_tensor=Input((3,)))"):
        assert found(f"{head}x = {use}\n", "graph-of-layers") == []


def test_a_loss_that_is_returned_with_its_tensor():
    source = """
    import keras
    from keras.layers import Dense
    def encoder(x):
        mean = Dense(2)(x)
        def loss(a, b):
            return keras.ops.square(a - b) + keras.ops.square(mean)
        def plain(a, b):
            return keras.ops.square(a - b)
        return loss, plain, mean
    """
    assert [line for line, _ in found(source, "graph-of-layers")] == [10]
