from __future__ import annotations

import pytest

from parallel_compat.migrate.engine import Options, analyse
from tests.migrate.check import check_noop, check_transformed, found

MODEL = "from keras.models import Sequential\nmodel = Sequential()\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("model.fit(x, y, nb_epoch=3)", "model.fit(x, y, epochs=3)"),
        ("model.fit(x, epochs=3, workers=4, use_multiprocessing=True)", "model.fit(x, epochs=3)"),
        ("model.compile('adam', 'mse', ['accuracy'])", "model.compile('adam', 'mse', metrics=['accuracy'])"),
        ("model.compile('adam', 'mse', m, w)", "model.compile('adam', 'mse', metrics=m, loss_weights=w)"),
        ("model.compile('adam', 'mse', sample_weight_mode='temporal')", "model.compile('adam', 'mse')"),
        ("model.compile('adam', 'mse', target_tensors=None)", "model.compile('adam', 'mse')"),
    ],
)
def test_renames_and_drops(before, after):
    check_transformed(MODEL + before + "\n", MODEL + after + "\n")


def test_target_tensors_are_reported():
    assert found(MODEL + "model.compile('adam', target_tensors=[t])\n", "training-arguments") == [(3, "attention")]


def test_targets_of_the_one_output():
    before = MODEL + "model.fit(x, {'out': y}, validation_data=(a, {'out': b}))\n"
    check_transformed(before, MODEL + "model.fit(x, y, validation_data=(a, b))\n", unsafe=True)
    check_noop(MODEL + "model.fit(x, {'out': y, 'other': z})\n")


def test_an_unknown_object_is_a_guess():
    source = "import keras\ndef train(model):\n    model.fit(x, nb_epoch=3)\n"
    check_noop(source, unsafe=False)
    assert found(source, "training-arguments") == [(3, "unsafe")]
    check_transformed(source, source.replace("nb_epoch", "epochs"), unsafe=True)


@pytest.mark.parametrize(
    "source",
    [
        MODEL + "model.compile(optimizer='adam', loss='mse', metrics=['accuracy'])\nmodel.fit(x, y, epochs=3)\n",
        MODEL + "model.compile(opt, loss, weights, run_eagerly=True)\n",
        "import keras\nimport re\nre.compile('a', 3)\n",
        "import keras\nclass Fit:\n    def fit(self, nb_epoch): pass\nf = Fit()\nf.fit(nb_epoch=3)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="training-arguments")


OWN = """\
import tensorflow as tf
class GAN(tf.keras.Model):
    def compile(self, d_optimizer, g_optimizer, loss_fn):
        super(GAN, self).compile()
    def fit(self, x, nb_epoch):
        pass
class Better(GAN):
    pass
def made():
    return GAN()
class Trainer:
    def __init__(self):
        self.gan = Better()
    def run(self):
        self.gan.compile(a, b, print)
"""


@pytest.mark.parametrize(
    "use",
    [
        "gan = GAN()\ngan.compile(a, b, print)\ngan.fit(x, nb_epoch=3)\n",
        "Better().compile(a, b, print)\n",
        "gan = made()\ngan.compile(a, b, print)\n",
        "def train(gan: GAN):\n    gan.compile(a, b, print)\n",
        "if x:\n    gan = GAN()\nelse:\n    gan = GAN(3)\ngan.compile(a, b, print)\n",
    ],
)
def test_methods_of_users_classes_are_theirs(use):
    check_noop(OWN + use, rule="training-arguments")


def test_methods_of_classes_of_another_file_are_theirs(tmp_path):
    (tmp_path / "nets.py").write_text(OWN)
    use = "from nets import Better\nimport keras\ngan = Better()\ngan.compile(a, b, print)\ngan.fit(x, nb_epoch=3)\n"
    assert analyse(use, Options(unsafe=True), str(tmp_path / "train.py")).findings == ()


def test_what_a_class_of_models_does_not_define_is_of_keras():
    source = OWN + "gan = GAN()\ngan.evaluate(x, y, workers=2)\n"
    check_transformed(source, source.replace(", workers=2", ""))


def test_arguments_of_other_methods():
    use = "optimizer = keras.optimizers.get('sgd')\noptimizer.apply_gradients(pairs, name='step')\n"
    check_transformed(f"import keras\n{use}", f"import keras\n{use}".replace(", name='step'", ""))
    for call in (
        "save('m', signatures=s)",
        "load_weights('w.h5', reshape=True)",
        "save_weights('w.h5', save_format=f)",
    ):
        assert (3, "attention") in found(f"{MODEL}model.{call}\n", "training-arguments")
    assert (2, "attention") in found("import keras\nnet.layers[0].reset_states(states=[h])\n", "training-arguments")
    check_noop("import keras\nfigure.save('a.png', options=3)\nfile.save('x', save_format='png')\n")
