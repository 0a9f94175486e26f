from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Dense(output_dim=3, init='uniform')", "Dense(units=3, kernel_initializer='uniform')"),
        ("Dense(3, W_regularizer=r, b_regularizer=r)", "Dense(3, kernel_regularizer=r, bias_regularizer=r)"),
        ("Dropout(p=0.5)", "Dropout(rate=0.5)"),
        (
            "Conv2D(64, (3, 3), border_mode='same', dim_ordering='th')",
            "Conv2D(64, (3, 3), padding='same', data_format='channels_first')",
        ),
        ('Conv2D(64, 3, dim_ordering="tf")', 'Conv2D(64, 3, data_format="channels_last")'),
        ("Convolution2D(64, 3, 3)", "Convolution2D(64, (3, 3))"),
        (
            "Convolution2D(64, 3, 3, subsample=(2, 2), bias=False)",
            "Convolution2D(64, (3, 3), strides=(2, 2), use_bias=False)",
        ),
        ("Conv2D(64, 3, 3, border_mode='same')", "Conv2D(64, (3, 3), padding='same')"),
        ("Conv2D(64, nb_row=3, nb_col=5)", "Conv2D(64, kernel_size=(3, 5))"),
        ("MaxPooling2D((2, 2), border_mode='same')", "MaxPooling2D((2, 2), padding='same')"),
        ("LSTM(3, inner_activation='sigmoid', dropout_W=0.1, dropout_U=0.2, consume_less='gpu')", None),
        ("Embedding(10, 3, dropout=0.2)", "Embedding(10, 3)"),
        ("Input((3,), input_dtype='int32')", "Input((3,), dtype='int32')"),
        ("Input((3,), None, 'image')", "Input((3,), batch_shape=None, name='image')"),
        ("LeakyReLU(alpha=0.1)", "LeakyReLU(negative_slope=0.1)"),
    ],
)
def test_renames(before, after):
    name = before.partition("(")[0]
    after = after or "LSTM(3, recurrent_activation='sigmoid', dropout=0.1, recurrent_dropout=0.2)"
    check_transformed(
        f"from keras.layers import {name}\nx = {before}\n", f"from keras.layers import {name}\nx = {after}\n"
    )


def test_input_dim_of_recurrent_layers_is_part_of_the_shape():
    check_transformed(
        "from keras.layers import SimpleRNN\nx = SimpleRNN(3, input_dim=5, input_length=7)\n",
        "from keras.layers import SimpleRNN\nx = SimpleRNN(3, input_shape=(7, 5))\n",
    )
    check_noop("from keras.layers import Dense\nx = Dense(3, input_dim=5)\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("model.add(Embedding(10, 3, input_length=7))", "model.add(Embedding(10, 3, input_shape=(7,)))"),
        ("layer = Embedding(10, 3, input_length=n + 1)", "layer = Embedding(10, 3, input_shape=(n + 1,))"),
        ("model.add(Embedding(10, 3, input_length=(5, 7)))", "model.add(Embedding(10, 3, input_shape=(5, 7)))"),
        ("x = Embedding(10, 3, input_length=7)(x)", "x = Embedding(10, 3)(x)"),
        (
            "model.add(Embedding(10, 3, input_length=7, input_shape=(7,)))",
            "model.add(Embedding(10, 3, input_shape=(7,)))",
        ),
    ],
)
def test_input_length_of_an_embedding_is_its_input_shape(before, after):
    imports = "from keras.layers import Embedding\n"
    check_transformed(imports + before + "\n", imports + after + "\n")


def test_input_dim_and_length_of_a_convolution():
    check_transformed(
        "from keras.layers import Conv1D\nx = Conv1D(3, 2, input_dim=5, input_length=7)\n",
        "from keras.layers import Conv1D\nx = Conv1D(3, 2, input_shape=(7, 5))\n",
    )


def test_what_no_name_of_today_expresses_is_taken_by_the_old_class():
    check_transformed(
        "import keras\nfrom keras.layers import LSTM\n"
        "x = LSTM(3, batch_input_shape=(2, 3, 4), recurrent_activation='relu')\n",
        "import keras\nfrom parallel_compat.legacy.layers import LSTM\n"
        "x = LSTM(3, batch_input_shape=(2, 3, 4), recurrent_activation='relu')\n",
    )
    check_transformed(
        "from keras import layers as L\nx = L.Conv2D(3, 3, dim_ordering=K_ORDER)\n",
        "from keras import layers as L\nfrom parallel_compat.legacy.layers import Conv2D\n"
        "x = Conv2D(3, 3, dim_ordering=K_ORDER)\n",
    )


def test_three_positions_may_be_newer_code():
    source = "from keras.layers import Conv2D\nx = Conv2D(64, 3, 2)\n"
    check_noop(source, unsafe=False)
    assert found(source, "layer-arguments") == [(2, "unsafe")]
    check_noop("from keras.layers import Conv2D\nx = Conv2D(64, 3, 2, padding='same')\n", rule="layer-arguments")
    check_noop("from tensorflow.keras.layers import Conv2D\nx = Conv2D(64, 3, 2)\n", rule="layer-arguments")


def test_model_takes_inputs():
    check_transformed(
        "from keras.models import Model\nm = Model(input=a, output=b)\n",
        "from keras.models import Model\nm = Model(inputs=a, outputs=b)\n",
    )


def test_both_names_at_once_are_left_to_the_author():
    assert found("from keras.layers import Dense\nDense(units=3, output_dim=3)\n", "layer-arguments") == [
        (2, "attention")
    ]


@pytest.mark.parametrize(
    "source",
    [
        "from keras.layers import Dense\nDense(units=3, kernel_initializer='normal')\n",
        "from mylayers import Dense\nimport keras\nDense(output_dim=3)\n",
        "import keras\ndef Dense(output_dim): pass\nDense(output_dim=3)\n",
        "from keras.layers import Dense\ndef f(Dense):\n    Dense(output_dim=3)\n",
        "from keras.layers import Embedding\nEmbedding(input_dim=3, output_dim=4, weights=[w])\n",
        "from keras.layers import Dense\nDense(3, **options)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="layer-arguments")


def test_a_batch_size_beside_the_shape():
    check_transformed(
        "from keras.layers import Dense\nx = Dense(3, input_shape=(4, 5), batch_size=2)\n",
        "from parallel_compat.legacy.layers import Dense\nx = Dense(3, input_shape=(4, 5), batch_size=2)\n",
    )
    check_noop("from keras.layers import Input\nx = Input((3,), batch_size=2)\n")


def test_the_name_of_a_weight_is_named():
    check_transformed(
        """
        from keras.layers import Layer
        class Mine(Layer):
            def build(self, shape):
                self.kernel = self.add_weight("kernel", shape=(3, 2))
        """,
        """
        from keras.layers import Layer
        class Mine(Layer):
            def build(self, shape):
                self.kernel = self.add_weight(name="kernel", shape=(3, 2))
        """,
    )
    check_transformed(
        """
        import tensorflow as tf
        class Head(tf.keras.layers.Layer):
            def build(self, shape):
                self.w = self.add_variable("weights", shape=[shape[-1], 4])
        """,
        """
        import tensorflow as tf
        class Head(tf.keras.layers.Layer):
            def build(self, shape):
                self.w = self.add_weight(name="weights", shape=[shape[-1], 4])
        """,
    )
    check_noop(
        "from keras.layers import Layer\nclass My(Layer):\n  def build(self, s):\n    self.add_weight(s, 'ones')\n"
    )


def test_a_slash_in_a_name_becomes_an_underscore():
    head = "import tensorflow as tf\nfrom keras.layers import Dense\nfrom .blocks import block\n"
    before = """\
x = Dense(3, name='block/dense%d' % 1)
x = Dense(3, name=f'cell_{a / b}/{name}/bn')
x = block(x, name='stem/' + name)
x = block(x, name='weights/stem.h5')
with tf.name_scope(name='a/b'): pass
y = model.get_layer('block/dense1').output
"""
    after = """\
x = Dense(3, name='block_dense%d' % 1)
x = Dense(3, name=f'cell_{a / b}_{name}_bn')
x = block(x, name='stem_' + name)
x = block(x, name='weights/stem.h5')
with tf.name_scope(name='a/b'): pass
y = model.get_layer('block_dense1').output
"""
    check_transformed(head + before, head + after, unsafe=True)
    assert [status for _, status in found(head + before, "layer-arguments")] == ["unsafe"] * 4


def test_names_with_slashes_that_are_put_together_elsewhere_get_underscores():
    made = """\
def name_of(n):
    return '/'.join(['block', n])
base = 'block/%d' % 1
"""
    head = "from keras.layers import Dense\n"
    for name, text in (
        ("name_of('d1')", "name_of('d1')"),
        ("base", "base"),
        ("base + name", "(base + name)"),
        ("'%s_%s' % (base, n)", "('%s_%s' % (base, n))"),
    ):
        use = f"{made}x = Dense(3, name={name})\n"
        assert found(head + use, "layer-arguments") == [(5, "unsafe")]
        after = f'{made}x = Dense(3, name={text}.replace("/", "_"))\n'
        check_transformed(head + use, head + after, unsafe=True)
    before = "x = Dense(3, name='/'.join([a, b]))\nself.add_weight(name='a/b', shape=(3,))\n"
    check_transformed(head + before, head + before.replace("'/'", "'_'").replace("a/b", "a_b"), unsafe=True)
    check_noop(f"{head}base = 'block_1'\nx = Dense(3, name=base + name)\n", rule="layer-arguments")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("'My net (1)'", "'My_net__1_'"),
        ("'a/b'", "'a_b'"),
        ('"_x"', '"m_x"'),
        ("'net %d' % n", "'net_%d' % n"),
        ("f'net {a b}'", None),
        ("'net {}: {:d}'.format(a, b)", "'net_{}__{:d}'.format(a, b)"),
        ("'net_1.a-b'", None),
        ("'a' + ' b'", "'a' + '_b'"),
        ("r'a\\b'", None),
    ],
)
def test_names_of_models_are_names_of_scopes(before, after):
    """Keras 2 took any; plain Keras 3 stops at the first call."""
    before = before.replace("{a b}", "{a}")
    after = "f'net_{a}'" if before.startswith("f") else after
    source = "from keras.models import Model\nclass Net(Model):\n    def __init__(self, x, y):\n"
    source += "        super().__init__(x, y, name={0})\nnet = Model(x, y, name={0})\n"
    check_noop(source.format(before), unsafe=False)
    check_transformed(source.format(before), source.format(after or before), unsafe=True)


@pytest.mark.parametrize(
    ("made", "is_found"),
    [("for n in ('a', 'my net'):", True), ("n = 'b:c'\nif 1:", True), ("for n in ('a', 'b'):", False)],
)
def test_names_of_models_that_come_from_elsewhere(made, is_found):
    source = f"from keras.models import Model\n{made}\n    net = Model(x, y, name=n)\n"
    assert [kind for _, kind in found(source, "layer-arguments")] == (["attention"] if is_found else [])


@pytest.mark.parametrize("name", ["'w%d' % i", "'w' + str(i)", "f'w{i}'", "'w{}'.format(i)"])
def test_names_of_weights_that_are_made_of_parts(name):
    head = "from keras.layers import Layer\nclass Own(Layer):\n    def build(self, shape):\n        self.w = self."
    after = head + f"add_weight(name={name}, shape=[3, n])\n"
    check_transformed(head + f"add_weight({name}, [3, n])\n", after)


def test_zero_and_empty_are_left_out():
    check_transformed(
        """
        from keras.models import Sequential
        from keras.optimizers import Adam, Nadam
        model = Sequential()
        model.compile(Adam(clipnorm=10., clipvalue=0.), 'mse', target_tensors=None)
        model.fit(x, y, class_weight={})
        optimizer = Nadam(schedule_decay=0.004, lr=0.1)
        """,
        """
        from keras.models import Sequential
        from keras.optimizers import Adam, Nadam
        model = Sequential()
        model.compile(Adam(clipnorm=10.), 'mse')
        model.fit(x, y)
        optimizer = Nadam(learning_rate=0.1)
        """,
    )
    check_noop("from tensorflow.keras.optimizers import Adam\nadam = Adam(clipvalue=0.)\n")


def test_sizes_are_no_integers_of_numpy():
    check_transformed(
        "from keras.layers import Embedding\nimport numpy as np\nwords = x.max() + 1\n"
        "a = Embedding(words, 8)\nb = Embedding(output_dim=8, input_dim=np.max(x) + 1)\n",
        "from keras.layers import Embedding\nimport numpy as np\nwords = x.max() + 1\n"
        "a = Embedding(int(words), 8)\nb = Embedding(output_dim=8, input_dim=int(np.max(x) + 1))\n",
    )
    check_transformed(
        "from keras.layers import Dense\nDense(y.max() + 1)\n",
        "from keras.layers import Dense\nDense(int(y.max() + 1))\n",
    )
    check_transformed(
        "from keras import layers\nimport numpy as np\nlayers.Dense(np.prod(shape))\nlayers.RepeatVector(n.sum())\n",
        "from keras import layers\nimport numpy as np\n"
        "layers.Dense(int(np.prod(shape)))\nlayers.RepeatVector(int(n.sum()))\n",
    )
    check_noop("from keras.layers import Embedding\nwords = int(x.max()) + 1\nEmbedding(words, max(8, n))\n")


def test_modules_that_a_star_brings():
    check_transformed(
        "from tensorflow.keras import *\nx = layers.Dense(output_dim=y.max() + 1)(x)\n",
        "from tensorflow.keras import *\nx = layers.Dense(units=int(y.max() + 1))(x)\n",
    )


def test_an_input_of_two_shapes_has_that_with_the_batch():
    check_transformed(
        "from keras.layers import Input\nG = [Input(shape=(None, None), batch_shape=(None, None), sparse=True)]\n",
        "from keras.layers import Input\nG = [Input(batch_shape=(None, None), sparse=True)]\n",
    )


def test_the_name_of_a_model_of_a_class():
    """It was the first argument of `Model` of a subclass, in Keras 2.2.4 and in tf.keras."""
    head = "import tensorflow as tf\nclass P(tf.keras.Model):\n    def __init__(self, name):\n"
    source = f"{head}        super().__init__({{}})\n"
    check_transformed(source.format("'policy'"), source.format("name='policy'"))
    check_transformed(source.format("name"), source.format("name=name"))
    check_noop(source.format("name=name"))


MODEL = "import keras\nfrom keras.layers import LSTM, Bidirectional, Dense\nfrom keras.models import Sequential\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "model = Sequential()\nmodel.add(LSTM(7, stateful=True, batch_input_shape=(8, 6, 3)))\n",
            "model = Sequential()\nmodel.add(keras.Input(batch_shape=(8, 6, 3)))\nmodel.add(LSTM(7, stateful=True))\n",
        ),
        (
            "model = Sequential(); model.add(LSTM(7, batch_input_shape=(8, 6, 3)))\n",
            "model = Sequential(); model.add(keras.Input(batch_shape=(8, 6, 3))); model.add(LSTM(7))\n",
        ),
        (
            "model = Sequential([LSTM(7, stateful=True, batch_input_shape=(8, 6, 3)), Dense(1)])\n",
            "model = Sequential([keras.Input(batch_shape=(8, 6, 3)), LSTM(7, stateful=True), Dense(1)])\n",
        ),
        (
            "def f():\n    model = Sequential([\n        LSTM(7, batch_size=8, input_shape=(6, 3)),\n"
            "        Dense(1),\n    ])\n",
            "def f():\n    model = Sequential([\n        keras.Input((6, 3), batch_size=8),\n        LSTM(7),\n"
            "        Dense(1),\n    ])\n",
        ),
        (
            "self.net = Sequential()\nself.net.add(Bidirectional(LSTM(7), batch_input_shape=s))\n",
            "self.net = Sequential()\nself.net.add(keras.Input(batch_shape=s))\nself.net.add(Bidirectional(LSTM(7)))\n",
        ),
        (
            "class Own(Dense):\n    pass\nmodel = Sequential()\nmodel.add(Own(7, batch_input_shape=(8, 6)))\n",
            "class Own(Dense):\n    pass\nmodel = Sequential()\nmodel.add(keras.Input(batch_shape=(8, 6)))\n"
            "model.add(Own(7))\n",
        ),
    ],
)
def test_a_shape_with_the_batch_is_an_input(before, after):
    check_transformed(MODEL + before, MODEL + after)


@pytest.mark.parametrize(
    "code",
    [
        "model.add(Own(7, batch_input_shape=(8, 6)))\n",
        "layer = tools.Own(7, batch_input_shape=(8, 6))\n",
    ],
)
def test_a_shape_with_the_batch_of_a_layer_that_is_not_known_is_told(code):
    source = f"import keras\nimport tools\nfrom tools import Own\n{code}"
    assert [status for _, status in found(source, "layer-arguments")] == ["attention"]


LAYER = "from keras.layers import Layer\nclass Own(Layer):\n    def call(self, x):\n        {}\n        return x\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self.add_loss(f(x), inputs=x)", "self.add_loss(f(x))"),
        ("self.add_loss([f(x)], [x])", "self.add_loss([f(x)])"),
        ("self.add_loss(losses=f(x))", "self.add_loss(loss=f(x))"),
        (
            "self.add_weight(shape=(3,), synchronization=s, partitioner=None)",
            "self.add_weight(shape=(3,))",
        ),
    ],
)
def test_arguments_of_methods_of_a_layer(before, after):
    check_transformed(LAYER.format(before), LAYER.format(after))


def test_a_loss_of_what_may_be_a_layer():
    source = "import keras\nclass Own(Base):\n    def call(self, x):\n        self.add_loss(f(x), inputs=x)\n"
    assert (4, "unsafe") in found(source, "layer-arguments")


def test_the_second_use_of_a_name_that_a_star_brings_needs_the_stand_in():
    before = "from keras.layers import *\na = Dense(5)\nb = Dense(2, weights=w)\n"
    stand_in = "from parallel_compat.legacy.layers import Dense\n"
    check_transformed(before, before.replace("*\n", "*\n" + stand_in))


def test_the_input_is_spelled_by_tensorflows_keras_where_that_has_the_name():
    head = "from tensorflow import keras\nfrom tensorflow.keras.layers import LSTM\n"
    check_transformed(
        f"{head}m = keras.Sequential([LSTM(3, batch_input_shape=(4, 5, 4))])\n",
        f"{head}m = keras.Sequential([keras.Input(batch_shape=(4, 5, 4)), LSTM(3)])\n",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Input(10)", "Input((10,))"),
        ("Input(shape=size)", "Input(shape=(size,))"),
        ("Input(x.shape[1], name='x')", "Input((x.shape[1],), name='x')"),
        ("Input((10,))", "Input((10,))"),
        ("Input(x.shape[1:])", "Input(x.shape[1:])"),
        ("Input(shape)", "Input(shape)"),
    ],
)
def test_a_size_as_shape_of_an_input(before, after):
    head = "from tensorflow.keras.layers import Input\nsize = 3\ni = "
    written = head
    check_transformed(f"{head}{before}\n", f"{written}{after}\n")
