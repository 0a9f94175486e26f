from __future__ import annotations

import pytest

from parallel_compat.migrate.file import is_of_interest
from tests.migrate.check import check_noop, check_transformed, found, migrated

HEAD = "import keras\ndef batches():\n    yield 1\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x, y = batches().next()", "x, y = next(batches())"),
        ("g = batches()\nx = g.next()[0]", "g = batches()\nx = next(g)[0]"),
    ],
)
def test_of_a_generator(before, after):
    check_transformed(f"{HEAD}{before}\n", f"{HEAD}{after}\n")


def test_an_unknown_object_is_a_guess():
    source = "import keras\nx = flow.next()\n"
    check_noop(source, unsafe=False)
    assert found(source, "generator-next") == [(2, "unsafe")]


@pytest.mark.parametrize(
    "source",
    [
        "import keras\nclass N:\n    def next(self): pass\n    def f(self):\n        self.next()\n",
        "import keras\nnode.next(3)\nnode.next\n",
        "x = flow.next()\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="generator-next")


ITERATOR = """\
class Safe:
    def __iter__(self):
        return self

    def next(self):
        with self.lock:
            return {}
{}"""


def test_an_iterator_of_python_2_gets_a_next():
    """The usual wrapper around generators for several threads, often in a file that names no Keras."""
    before = ITERATOR.format("self.it.next()", "")
    assert migrated(before, unsafe=True) == ITERATOR.format("next(self.it)", "\n    __next__ = next\n")
    assert migrated(migrated(before, unsafe=True), unsafe=True) == migrated(before, unsafe=True)
    check_noop(before.replace("def __iter__", "def items"))
    assert is_of_interest(before)
