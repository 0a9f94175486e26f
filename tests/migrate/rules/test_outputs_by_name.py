from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = """\
from keras.models import Sequential
model = Sequential(layers)
"""


def test_every_argument():
    check_transformed(
        f"{HEAD}model.compile(\n    'sgd', {{'out': 'mse'}}, loss_weights={{'out': 2.0}},\n"
        "    weighted_metrics={'out': ['mae']},\n)\n"
        "model.fit(x, {'out': y}, sample_weight={'out': w}, validation_data=(x, {'out': y}, {'out': w}))\n"
        "model.train_on_batch(x, {\n    'out': f(y),  # one\n}, class_weight={'out': {0: 1.0, 1: 2.0}})\n",
        f"{HEAD}model.compile(\n    'sgd', 'mse', loss_weights=[2.0],\n    weighted_metrics=['mae'],\n)\n"
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
