from __future__ import annotations

import re

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.models import Model\nmodel = Model(x, y)\n"
AFTER = "from keras.models import Model\nfrom parallel_compat import {}\nmodel = Model(x, y)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "model.fit_generator(g, steps_per_epoch=3, workers=4)",
            "fit_generator(model, g, steps_per_epoch=3, workers=4)",
        ),
        ("model.fit_generator(generator=g, nb_epoch=3)", "fit_generator(model, generator=g, epochs=3)"),
        (
            "h = model.fit_generator(\n    # data\n    g,\n    3)",
            "h = fit_generator(\n    model,\n    # data\n    g,\n    3)",
        ),
        (
            "h = model.fit_generator(g,\n                        nb_epoch=3)",
            "h = fit_generator(model, g,\n                  epochs=3)",
        ),
        ("model.evaluate_generator(g, 3, nb_worker=2)", "evaluate_generator(model, g, 3, workers=2)"),
        ("p = model.predict_generator(g, 3)[0]", "p = predict_generator(model, g, 3)[0]"),
        ("(model).fit_generator(*a, **k)", "fit_generator((model), *a, **k)"),
        ("model \\\n    .fit_generator(g)", "fit_generator(model \\\n    , g)"),
    ],
)
def test_becomes_a_function(before, after):
    (name,) = re.findall(r"\w+_generator", after)
    check_transformed(HEAD + before + "\n", AFTER.format(name) + after + "\n")


@pytest.mark.parametrize(
    "known",
    [
        "model = load_model('m.keras')",
        "model = multi_gpu_model(template, gpus=2)",
        "model = build()",
        "model, other = both()",
        "model = Net()",
        "model: Model = anything()",
    ],
)
def test_knows_models(known):
    source = f"""\
from keras.models import Model, load_model
from parallel_compat import multi_gpu_model
import parallel_compat

class Net(Model):
    pass

def build():
    model = Model(x, y)
    return model

def both():
    return Model(x, y), 3

{known}
model.fit_generator(g)
"""
    status = found(source, "generator-methods")[0][1]
    assert status == ("unsafe" if "anything" in known else "rewritten")


def test_knows_self_model():
    source = """\
from keras.models import Model
class Trainer(object):
    def __init__(self):
        self.model = self.build()
    def build(self):
        return Model(x, y)
    def train(self):
        self.model.fit_generator(g)
"""
    assert found(source, "generator-methods") == [(8, "rewritten")]


def test_an_unknown_object_is_a_guess():
    source = "import keras\ndef train(model, g):\n    model.fit_generator(g)\n"
    check_noop(source, unsafe=False)
    assert found(source, "generator-methods") == [(3, "unsafe")]
    check_transformed(
        source,
        "import keras\nfrom parallel_compat import fit_generator\ndef train(model, g):\n    fit_generator(model, g)\n",
        unsafe=True,
    )


@pytest.mark.parametrize(
    "call",
    [
        "fit_generator(g, samples_per_epoch=1000)",
        "fit_generator(g, 10, validation_data=h, nb_val_samples=100)",
        "evaluate_generator(g, val_samples=100)",
    ],
)
def test_numbers_of_samples_need_the_author(call):
    source = HEAD + f"model.{call}\n"
    check_noop(source)
    assert found(source, "generator-methods") == [(3, "attention")]


@pytest.mark.parametrize(
    "source",
    [
        "import keras\ndef fit_generator(model, g): pass\nfit_generator(model, g)\n",
        "import keras\nclass T:\n  def fit_generator(self, g): pass\n  def run(self):\n    self.fit_generator(g)\n",
        "import keras\nclass T:\n    def fit_generator(self, g): pass\nt = T()\nt.fit_generator(g)\n",
        "import keras\nclass T:\n    def fit_generator(self, g): pass\nT().fit_generator(g)\n",
        "import mylib\nimport keras\nmylib.fit_generator(g)\n",
        "import keras\nmodel.fit_generator\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="generator-methods")


def test_a_script_that_gets_its_model_from_another_file():
    """It need not import Keras."""
    check_transformed(
        """
        from networks import build
        model = build()
        model.fit_generator(batches(), steps_per_epoch=10)
        """,
        """
        from networks import build
        from parallel_compat import fit_generator
        model = build()
        fit_generator(model, batches(), steps_per_epoch=10)
        """,
        unsafe=True,
    )


def test_without_workers_batches_come_in_order():
    """Keras 2.2.4 and tf.keras 1.15 asked a Sequence for 0, 1, 2, 0, 1, 2; tf.keras 2.2 shuffled."""
    source = "from {0}keras.models import Model\n{1}model = Model(x, y)\n{2}(model, g, workers=0{3})\n"
    import_ = "from parallel_compat import fit_generator\n"
    for home, order in (("", ", shuffle=False"), ("tensorflow.", "")):
        before = source.format(home, "", "model.fit_generator", "").replace("(model, ", "(")
        check_transformed(before, source.format(home, import_, "fit_generator", order))
    told = "from keras.utils import Sequence\nclass S(Sequence):\n    def on_epoch_end(self):\n        pass\n"
    assert found(
        told + source.format("", "", "model.fit_generator", "").replace("(model, ", "("), "generator-methods"
    ) == [
        (7, "attention"),
        (7, "rewritten"),
    ]
    given = "from keras.models import Model\nmodel = Model(x, y)\nmodel.fit_generator(g, workers=0, **given)\n"
    assert found(given, "generator-methods") == [(3, "attention"), (3, "rewritten")]
