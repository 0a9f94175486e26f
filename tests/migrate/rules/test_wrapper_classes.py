from __future__ import annotations

from parallel_compat.migrate import rules
from tests.migrate.check import check_noop, check_transformed, found

BEFORE, AFTER = rules.example("wrapper-classes")


def test_calls_of_the_wrapper():
    check_transformed(BEFORE, AFTER, unsafe=True)
    assert [status for _, status in found(BEFORE, "wrapper-classes")] == ["attention", "unsafe"]


def test_old_argument_names():
    before = BEFORE.replace("(template, 2)", "(ser_model=template, gpus=2)")
    after = AFTER.replace("(template, 2)", "(model=template, gpus=2)")
    check_transformed(before, after, unsafe=True)


def test_leaves_alone():
    check_noop(
        """\
        import keras
        class Options(object):
            def __getattribute__(self, name):
                return 3
        class Update(object):
            def f(self, other):
                self.__dict__.update(other.__dict__)
        Options(3, 4)
        """,
        rule="wrapper-classes",
    )
