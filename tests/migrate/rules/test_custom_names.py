from __future__ import annotations

import keras
import numpy as np
import pytest
from keras.src import activations, constraints, losses, metrics, regularizers

from parallel_compat.legacy import models
from parallel_compat.migrate import project_facts
from parallel_compat.migrate.engine import Options, analyse
from parallel_compat.names.identifiers import FUNCTIONS_OF_TODAY
from tests.migrate.check import check_noop, check_transformed, found, migrated

HEAD = """\
from keras.layers import Activation, Dense
from keras.models import Model
from keras.utils import CustomObjectScope, get_custom_objects
def own(x): return x
class Own(Activation):
    def __init__(self, activation, **kwargs):
        super(Own, self).__init__(activation, **kwargs)
        self.__name__ = 'own'
model = Model(x, y)
"""


@pytest.mark.parametrize(
    "given",
    [
        "get_custom_objects().update({'relu': own})",
        "get_custom_objects().update(relu=Activation(own))",
        "get_custom_objects()['relu'] = Own(own)",
        "known = get_custom_objects()\nobjects = {'relu': own}\nknown.update(objects)",
    ],
)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Dense(3, activation='relu')", "Dense(3, activation=own)"),
        ("Dense(3, 'relu')", "Dense(3, own)"),
        ("Dense(3, kernel_regularizer='relu')", "Dense(3, kernel_regularizer=own)"),
        ("model.compile('sgd', {'a': 'relu', 'b': 'mse'})", "model.compile('sgd', {'a': own, 'b': 'mse'})"),
    ],
)
def test_the_function_is_handed_over(given, before, after):
    check_transformed(f"{HEAD}{given}\n{before}\n", f"{HEAD}{given}\n{after}\n")


def test_a_metric_of_the_same_name_is_handed_over():
    given = "get_custom_objects().update({'own': own})\n"
    text = migrated(f"{HEAD}{given}model.compile('sgd', 'mse', metrics=['own'])\n")
    assert "metrics=[metric_function(own)]" in text


@pytest.mark.parametrize(
    "use",
    [
        "model.compile('sgd', 'mse', metrics=['relu'])",  # logged as `own` otherwise
        "def block(x, activation='relu'): return Activation(activation)(x)",
        "act = 'relu'",
        "def block(x, act): return Activation(act)(x)\nblock(x, 'relu')",
        "build(activation='relu')",
    ],
)
def test_what_may_be_read_otherwise_is_reported(use):
    source = f"{HEAD}get_custom_objects().update({{'relu': own}})\n{use}\n"
    assert [status for _, status in found(source, "custom-names")] == ["attention"]


def test_a_scope_ends():
    given = f"{HEAD}with CustomObjectScope({{'relu': own}}):\n    "
    check_transformed(f"{given}Activation('relu')\n", f"{given}Activation(own)\n")
    assert found(f"{given}pass\nActivation('relu')\n", "custom-names") == [(12, "attention")]


def test_names_that_another_file_gives_are_reported():
    facts = project_facts.ProjectFacts(custom_names=frozenset({"swish"}))
    source = "from keras.layers import Activation\nActivation('swish')\nActivation('relu')\n"
    findings = analyse(source, Options(project=facts)).findings
    assert [one.offset for one in findings if one.rule == "custom-names"] == [source.index("'swish'")]
    check_noop(source, rule="custom-names")


def test_names_that_a_config_does_not_ask_for_are_reported():
    source = f"{HEAD}Model.from_config(config, custom_objects={{'relu': own, 'own': own, 'tanh': Own}})\n"
    assert found(source, "custom-names") == [(10, "attention")]


@pytest.mark.parametrize(
    "source", ["get_custom_objects().update({'relu': own})\nprint('relu')\nActivation('tanh', name='relu')\n"]
)
def test_leaves_alone(source):
    check_noop(HEAD + source, rule="custom-names")


def test_the_names_are_those_of_keras():
    modules = (activations, constraints, losses, metrics, regularizers)
    assert {name for module in modules for name in module.ALL_OBJECTS_DICT} >= FUNCTIONS_OF_TODAY


def test_a_model_of_a_text_has_the_function_that_was_given():
    def relu(x):
        return 3 * x

    single = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2, relu, kernel_initializer="ones")])
    again = models.model_from_json(single.to_json(), {"relu": relu})
    np.testing.assert_allclose(again.predict(-np.ones((1, 2)), verbose=0), [[-6, -6]])
