from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.models import Model\n"


@pytest.mark.parametrize("value", ["'auto'", "[1, 2]", "np.array([1, 2])", "compute_class_weight('balanced', c, y)"])
def test_what_keras_ignored_is_dropped(value):
    head = f"{HEAD}model = Model(x, y)\n"
    check_transformed(f"{head}model.fit(x, y, class_weight={value})\n", f"{head}model.fit(x, y)\n")
    check_transformed(f"{head}w = {value}\nmodel.fit(x, y, class_weight=w)\n", f"{head}w = {value}\nmodel.fit(x, y)\n")
    later = "from tensorflow.keras.models import Model\nmodel = Model(x, y)\n"  # it stopped there
    assert found(f"{later}model.fit(x, y, class_weight={value})\n", "class-weights") == [(3, "attention")]


def test_an_array_that_was_computed_is_no_dict():
    head = f"{HEAD}model = Model(x, y)\nper = len(y) / (2 * counts)\nw = per[le.transform(classes)]\n"
    check_transformed(f"{head}model.fit(x, y, class_weight=w)\n", f"{head}model.fit(x, y)\n")
    check_noop(head.replace("len(y) / (2 * counts)", "tables") + "model.fit(x, y, class_weight=w)\n")


@pytest.mark.parametrize("value", ["{'a': w, 'b': v}", "{'a': {0: 1, 1: 2}}", "[{0: 1, 1: 2}, None]"])
def test_class_weights_of_several_outputs_are_listed(value):
    source = f"{HEAD}model = Model(x, [a, b])\nmodel.fit(x, y, class_weight={value})\n"
    assert found(source, "class-weights") == [(3, "attention")]


@pytest.mark.parametrize("value", ["{0: 1, 1: 2}", "None", "weights", "dict(enumerate(w))"])
def test_dicts_and_what_is_not_known_stay(value):
    check_noop(f"{HEAD}model = Model(x, y)\nmodel.fit(x, y, class_weight={value})\n", rule="class-weights")


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ("x, y, class_weight={0: 1.0, 1: 2.0}, sample_weight=w", [3]),
        ("x, y, class_weight={'a': {0: 1.0, 1: 2.0}}", [3]),
        ("x, [a, b], class_weight={0: 1.0, 1: 2.0}", [3]),
        ("x, {'a': a, 'b': b}, class_weight=weights", [3]),
        ("x, y, class_weight={0: 1.0, 1: 2.0}", []),
        ("x, y, class_weight=None, sample_weight=w", []),
        ("x, y, class_weight=weights, sample_weight=None", []),
    ],
)
def test_class_weights_that_keras_3_refuses(given, lines):
    source = f"import keras\nmodel = keras.models.Model(i, o)\nmodel.fit({given})\n"
    assert found(source, "class-weights") == [(line, "attention") for line in lines]


def test_the_name_of_the_only_output_is_for_the_rule_on_outputs():
    head = "from keras.models import Sequential\nmodel = Sequential(layers)\n"
    by_name = head + "model.fit(x, y, class_weight={'a': {0: 1, 1: 2}})\n"
    check_transformed(by_name, head + "model.fit(x, y, class_weight={0: 1, 1: 2})\n")
    assert found(by_name, "class-weights") == []
