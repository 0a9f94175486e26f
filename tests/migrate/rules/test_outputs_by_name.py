from __future__ import annotations

import keras
import numpy as np
import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = """\
from keras.models import Sequential
model = Sequential(layers)
"""
WEIGHTED = HEAD.replace("import Sequential\n", "import Sequential\nimport parallel_compat.legacy\n")


def test_every_argument():
    check_transformed(
        f"{HEAD}model.compile(\n    'sgd', {{'out': 'mse'}}, loss_weights={{'out': 2.0}},\n"
        "    weighted_metrics={'out': ['mae']},\n)\n"
        "model.fit(x, {'out': y}, sample_weight={'out': w}, validation_data=(x, {'out': y}, {'out': w}))\n"
        "model.train_on_batch(x, {\n    'out': f(y),  # one\n}, class_weight={'out': {0: 1.0, 1: 2.0}})\n",
        f"{WEIGHTED}model.compile(\n    'sgd', 'mse', loss_weights=[2.0],\n    weighted_metrics=['mae'],\n)\n"
        "model.fit(x, y, sample_weight=w, validation_data=(x, y, w))\n"
        "model.train_on_batch(x, f(y), class_weight={0: 1.0, 1: 2.0})\n",
    )


def test_what_stands_in_the_dict_is_rewritten_too():
    check_transformed(
        f"{HEAD}model.compile('sgd', loss={{'out': 'cosine'}})\n",
        f"{HEAD}model.compile('sgd', loss='cosine_similarity')\n",
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}model.compile('sgd', loss={{'a': 'mse', 'b': 'mse'}})\n",
        f"{HEAD}model.compile('sgd', loss={{name: 'mse'}})\n",
        f"{HEAD}model.fit(x, y, class_weight={{0: 2.0}})\n",
        "from keras.models import Model\nmodel = Model(a, b)\nmodel.compile('sgd', loss={'out': 'mse'})\n",
        "from keras.models import Model, Sequential\nmodel = Sequential(layers)\nmodel = Model(model.input, heads)\n"
        "model.compile('sgd', loss={'out': 'mse'})\n",
        "model.compile('sgd', loss={'out': 'mse'})\n",
    ],
)
def test_several_outputs_and_those_of_functional_models_stay(text):
    check_noop(text, rule="outputs-by-name")


def test_targets_of_other_models_are_unsafe():
    text = "from keras.models import Model\nmodel = Model(a, b)\nmodel.fit(x, {'out': y})\n"
    assert found(text, "outputs-by-name") == [(3, "unsafe")]


def test_sample_weights_of_several_outputs_are_lists():
    """Keras 3 stops at `KeyError: 0`, and compares the structures of targets and weights."""
    head = "from keras.models import Model\nmodel = Model(x, [a, b])\n"
    weighted = head.replace("import Model\n", "import Model\nimport parallel_compat.legacy\n")
    given = "{'b': v, 'a': w}"
    behind = "[output_name] for output_name in model.output_names]"
    check_transformed(
        f"{head}model.fit(x, {given}, sample_weight={given}, validation_data=(x, [v, w], {given}))\n",
        f"{weighted}model.fit(x, [{given}{behind}, sample_weight=[{given}{behind}, "
        f"validation_data=(x, [v, w], [{given}{behind}))\n",
    )
    check_transformed(
        f"{head}y = {given}\nweights = {given}\nmodel.train_on_batch(x, y, sample_weight=weights)\n",
        f"{weighted}y = {given}\nweights = {given}\n"
        f"model.train_on_batch(x, [y{behind}, sample_weight=[weights{behind})\n",
    )
    unknown = f"import keras\nnet.fit(x, y, sample_weight={given})\n"
    assert found(unknown, "outputs-by-name") == [(2, "attention")]
    assert found(unknown.replace("y,", f"{given},"), "outputs-by-name") == [(2, "unsafe")]
    inputs = keras.Input((2,))
    model = keras.Model(inputs, [keras.layers.Dense(1, name=name, kernel_initializer="ones")(inputs) for name in "ba"])
    model.compile("sgd", {"a": "mse", "b": "mse"})
    y = {"a": np.ones((2, 1)), "b": np.zeros((2, 1))}
    weights = {"a": np.array([1.0, 0.0]), "b": np.array([1.0, 3.0])}
    y, weights = [[each[name] for name in model.output_names] for each in (y, weights)]
    assert model.evaluate(np.ones((2, 2)), y, sample_weight=weights, verbose=0)[0] == pytest.approx(8.5)


def test_a_dict_that_leaves_an_output_out_is_listed():
    head = "from keras.models import Model\nmodel = Model(x, [a, b])\n"
    assert found(head + "model.compile('sgd', {'a': 'mse'})\n", "outputs-by-name") == [(3, "attention")]
    assert found(head + "model.fit(x, [y, z], sample_weight={'a': w})\n", "outputs-by-name") == [(3, "attention")]
    three, weights = head.replace("b]", "b, c]"), "{'a': v, 'b': w}"
    assert found(f"{three}model.fit(x, [y, z, u], sample_weight={weights})\n", "outputs-by-name") == [(3, "attention")]
    # The dict of targets is no dict of the only output.
    check_noop(head + "model.fit(x, {'a': y})\n", rule="outputs-by-name")
