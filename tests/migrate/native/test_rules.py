"""What holds for every rule of the native target: its example, and a summary."""

from __future__ import annotations

from pathlib import Path

import pytest

from parallel_compat.migrate import native, rules
from tests.migrate.native.check import check_native, questions, rewriting

PARTS = {"process", "spelling", "numerics", "legacy_numerics", "import_order"}


@pytest.mark.parametrize("name", rules.NATIVE_NAMES)
def test_the_example_is_true(name):
    before, after = rules.example(name)
    if after is None:
        assert [one for one in questions(before) if one.startswith(name)]
    else:
        assert name in {one.rule for one in rewriting(before).findings}
        check_native(before, after)


def test_a_rule_is_one_module():
    modules = {path.stem for path in Path(native.__file__).parent.glob("[a-z]*.py")} - PARTS
    assert {f"native-{module}" for module in modules} == set(rules.NATIVE_NAMES)


@pytest.mark.parametrize("name", rules.NATIVE_NAMES)
def test_the_summary_is_one_sentence(name):
    assert rules.summary(name).endswith(".")
    assert len(rules.summary(name)) <= 118


@pytest.mark.parametrize("module", ["parallel_compat.legacy", "parallel_compat.legacy.symbolic_functions"])
def test_an_import_that_acts_is_a_question(module):
    """It is imported for what it does, and used nowhere."""
    source = f"import keras\nimport {module}\nx = keras.layers.Dense(3)\n"
    assert [each.partition(" is of ")[0] for each in questions(source)] == [f"native-names: `{module}`"]
    assert f"import {module}\n" in rewriting(source).text
