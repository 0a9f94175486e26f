"""What holds for every rule: its example, its explanation, its own test file, its page in the guide."""

from __future__ import annotations

from pathlib import Path

import pytest

from parallel_compat.migrate import guide, rules
from tests.migrate.check import check_transformed, found, migrated

HERE = Path(__file__).parent
GUIDE = HERE.parent.parent / "docs" / "reference" / "rules.md"


@pytest.mark.parametrize("name", rules.NAMES)
def test_the_example_is_true(name):
    before, after = rules.example(name)
    assert found(before, name, unsafe=True)
    if after is None:
        assert migrated(before, unsafe=True) == before
    else:
        check_transformed(before, after, unsafe=name not in rules.SAFE)


def test_a_rule_is_one_module_and_one_test_file():
    modules = {path.stem.replace("_", "-") for path in Path(rules.__file__).parent.glob("[a-z]*.py")}
    tests = {path.stem.removeprefix("test_").replace("_", "-") for path in (HERE / "rules").glob("test_*.py")}
    assert modules == tests == set(rules.NAMES)


@pytest.mark.parametrize("name", rules.NAMES)
def test_the_summary_is_one_sentence(name):
    assert rules.summary(name).endswith(".")
    assert len(rules.summary(name)) <= 118


def test_the_guide_has_a_page_for_each_rule():
    text = GUIDE.read_text("utf-8")
    begin, end = text.index(guide.BEGIN), text.index(guide.END)
    assert text[begin : end + len(guide.END)] + "\n" == guide.section()
