"""How `multi_gpu_model` was called, and what it becomes; what a strategy computes otherwise is said once."""

from __future__ import annotations

import pytest

from tests.migrate.native.check import check_native, questions, rewriting

HEAD = "import tensorflow as tf\nfrom keras.models import Model, Sequential\nfrom keras.layers import Dense, Input\n"
OLD = HEAD + "from keras.utils import multi_gpu_model\n"
STRATEGY = 'strategy = tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            'model = Sequential()\nmodel.add(Dense(3))\n\nmodel = multi_gpu_model(model, 2)\nmodel.compile("sgd", "mse")\n',
            f"{STRATEGY}with strategy.scope():\n    model = Sequential()\n    model.add(Dense(3))\n\n"
            '    model.compile("sgd", "mse")\n',
            id="one name, bound again",
        ),
        pytest.param(
            'n = 3\nx = Input((4,))\ny = Dense(n)(x)  # wide\nt = Model(x, y)\np = multi_gpu_model(t, gpus=2)\np.compile("sgd", "mse")\n',
            f"n = 3\n{STRATEGY}with strategy.scope():\n    x = Input((4,))\n    y = Dense(n)(x)  # wide\n    t = Model(x, y)\n"
            '    p = t\n    p.compile("sgd", "mse")\n',
            id="the tensors before it",
        ),
        pytest.param(
            'def make():\n    t = build()\n    return multi_gpu_model(t, gpus=None)\nmodel = "make"\n',
            "def make():\n    strategy = tf.distribute.MirroredStrategy()\n    with strategy.scope():\n        t = build()\n"
            '    return t\nmodel = "make"\n',
            id="returned, on all GPUs",
        ),
        pytest.param(
            'g = Sequential([Dense(3)])\nd = Sequential([Dense(1)])\npd = multi_gpu_model(d, 2)\npd.compile("sgd", "mse")\n'
            'd.trainable = False\nz = Input((8,))\nc = Model(z, d(g(z)))\npc = multi_gpu_model(c, 2)\npc.compile("adam", "mse")\n',
            f"from legacy_numerics import settle_trainable\n{STRATEGY}with strategy.scope():\n"
            "    g = Sequential([Dense(3)])\n    d = Sequential([Dense(1)])\n    pd = d\n"
            '    pd.compile("sgd", "mse")\n    settle_trainable(pd)\n    d.trainable = False\n'
            "    z = Input((8,))\n    c = Model(z, d(g(z)))\n    pc = c\n"
            '    pc.compile("adam", "mse")\n',
            id="a GAN, whose models share layers and a strategy",
        ),
        pytest.param(
            'p = multi_gpu_model(build(), gpus=[0, 2])\nfor i in range(2):\n    print(i)\np.compile("sgd", "mse")\n',
            'strategy = tf.distribute.MirroredStrategy([f"/gpu:{i}" for i in [0, 2]])\nwith strategy.scope():\n'
            '    p = build()\n    for i in range(2):\n        print(i)\n    p.compile("sgd", "mse")\n',
            id="built in place, on some GPUs",
        ),
        pytest.param(
            'sgd = tf.keras.optimizers.SGD(0.1)\nt = build()\np = multi_gpu_model(t, 2)\np.compile(sgd, "mse")\np.fit(x, y)\n'
            'p.compile("adam", "mse")\n',
            f"{STRATEGY}with strategy.scope():\n    sgd = tf.keras.optimizers.SGD(0.1)\n    t = build()\n    p = t\n"
            '    p.compile(sgd, "mse")\np.fit(x, y)\nwith strategy.scope():\n    p.compile("adam", "mse")\n',
            id="an optimizer before it, and two compilations",
        ),
        pytest.param(
            'models = {}\nmodels["p"] = multi_gpu_model(build(), 2)\nfor m in models.values():\n    m.compile("sgd", "mse")\n',
            f'models = {{}}\n{STRATEGY}with strategy.scope():\n    models["p"] = build()\nfor m in models.values():\n'
            '    with m.distribute_strategy.scope():\n        m.compile("sgd", "mse")\n',
            id="compiled by another name",
        ),
        pytest.param(
            'x = Input((4,))\ny = Dense(3)(x)\np = multi_gpu_model(Model(x, y), 2)\np.compile("sgd", "mse")\n',
            f"{STRATEGY}with strategy.scope():\n    x = Input((4,))\n    y = Dense(3)(x)\n    p = Model(x, y)\n"
            '    p.compile("sgd", "mse")\n',
            id="tensors before it, built in place",
        ),
        pytest.param(
            "class Net:\n    def __init__(self):\n        self.t = build()\n        self.p = multi_gpu_model(self.t, 2)\n"
            '        self.p.compile("sgd", "mse")\n',
            f"class Net:\n    def __init__(self):\n        {STRATEGY}        with strategy.scope():\n"
            '            self.t = build()\n            self.p = self.t\n            self.p.compile("sgd", "mse")\n',
            id="attributes",
        ),
        pytest.param(
            't = build()\np = t\nif n > 1:\n    p = multi_gpu_model(t, n)\np.compile("sgd", "mse")\n',
            'if n > 1:\n    strategy = tf.distribute.MirroredStrategy([f"/gpu:{i}" for i in range(n)])\nelse:\n'
            "    strategy = tf.distribute.get_strategy()\nwith strategy.scope():\n    t = build()\n    p = t\n    p = t\n"
            '    p.compile("sgd", "mse")\n',
            id="on several GPUs only",
        ),
    ],
)
def test_the_model_is_built_and_compiled_under_the_scope(before, after):
    check_native(OLD + before, HEAD + after)


def test_lines_within_strings_and_comments_stay_as_they_are():
    before = 'name = """a\nb"""\nmodel = Sequential([Dense(3, name="""c\nd""")])\n# built\nmodel = multi_gpu_model(model, 2)\n'
    after = 'model = Sequential([Dense(3, name="""c\nd""")])\n'
    assert f'name = """a\nb"""\n{STRATEGY}with strategy.scope():\n    {after}# built\n' in rewriting(OLD + before).text


@pytest.mark.parametrize(
    "source",
    [
        "def train(model):\n    p = multi_gpu_model(model, 2)\n",
        "p = [multi_gpu_model(build(), 2) for _ in range(2)]\n",
        "p = multi_gpu_model(t, 2) if n > 1 else other()\n",
        "t = build()\nif n > 1:\n    p = multi_gpu_model(t, n)\n    size = 32 * n\nelse:\n    p = t\n",
        "t = build()\nn = count(t)\np = multi_gpu_model(t, n)\n",
        "t = build(); p = multi_gpu_model(t, 2)\n",
        "p = multi_gpu_model(*arguments)\n",
        "class Net:\n    def split(self):\n        self.p = multi_gpu_model(self.t, 2)\n",
        "p = multi_gpu_model(build(), gpus=2, devices=others)\n",
    ],
)
def test_what_is_not_clear_stays_and_is_a_question(source):
    result = rewriting(OLD + source)
    assert source in result.text
    assert [one for one in questions(OLD + source) if "MirroredStrategy" in one]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("m.fit(x, y, batch_size=50)\n", "drop the remainder"),
        ("m.compile('sgd', dice)\n", "another loss"),
        ("m.compile(SGD(clipnorm=1.), 'mse')\n", "replica's share"),
        ("e = Embedding(9, 3, mask_zero=True)\n", "masked loss"),
        ("b = BatchNormalization()(x)\n", "synchronized=True"),
        ("d = Dropout(0.5)(x)\n", "same mask"),
        ("m.train_on_batch(x, y)\n", "all samples to each replica"),
    ],
)
def test_what_is_computed_otherwise_is_said_once(code, said):
    source = OLD + "m = multi_gpu_model(build(), 2)\nother = multi_gpu_model(build(), 2)\n" + code
    found = [one for one in questions(source) if one.startswith("native-differences") and said in one]
    assert len(found) == 1
    assert "--keep parallel" in found[0]
    again = rewriting(source).text
    assert not [one for one in questions(again) if said in one]


def test_parallel_models_are_kept():
    source = OLD + (
        "from keras import backend as K\nm = multi_gpu_model(build(), gpus=2)\nm.compile('sgd', 'mse')\n"
        "m.fit_generator(batches(), 3)\nr = K.mean(x)\n"
    )
    result = rewriting(source, keep=True).text
    assert result.count("parallel_compat") == 1
    assert "from parallel_compat import multi_gpu_model\n" in result
    assert "m = multi_gpu_model(build(), gpus=2)\nm.compile('sgd', 'mse')\n" in result
    assert "m.fit(all_batches(batches()), steps_per_epoch=3)\nr = ops.mean(x)\n" in result
    assert rewriting(result, keep=True).text == result


def test_what_keras_2_computed_otherwise_is_said_once():
    source = (
        "from keras.layers.normalization import BatchNormalization\na, b = BatchNormalization(), BatchNormalization()\n"
    )
    found = [one for one in questions(source) if "moving statistics" in one]
    assert len(found) == 1
    assert questions(rewriting(source).text) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from tensorflow.keras.models import model_from_json\nfrom tensorflow.keras.utils import multi_gpu_model\n"
            "model = model_from_json(text)\n",
            "from tensorflow.keras.models import model_from_json\nmodel = model_from_json(text)\n",
        ),
        (
            "from tensorflow.keras.optimizers import SGD\nsgd = SGD(lr=0.1, decay=1e-3)\n",
            "from tensorflow.keras.optimizers import SGD\nfrom tensorflow import keras\n"
            "sgd = SGD(learning_rate=keras.optimizers.schedules.InverseTimeDecay(0.1, decay_steps=1, decay_rate=1e-3))\n",
        ),
    ],
)
def test_a_project_that_imports_keras_from_tensorflow_goes_on_so(before, after):
    check_native(before, after)


def test_models_that_a_loop_compiles():
    check_native(
        "import tensorflow as tf\nfrom keras.utils import multi_gpu_model\n"
        "models = [build(), multi_gpu_model(build(), gpus=2)]\n"
        "for model in models:\n    model.compile('sgd', 'mse')\n",
        "import tensorflow as tf\nstrategy = tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])\n"
        "with strategy.scope():\n    models = [build(), build()]\n"
        "for model in models:\n    with model.distribute_strategy.scope():\n        model.compile('sgd', 'mse')\n",
    )
