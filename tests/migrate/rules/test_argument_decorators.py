from __future__ import annotations

from parallel_compat.migrate.engine import Options, analyse
from parallel_compat.migrate.findings import Status
from tests.migrate.check import check_noop, check_transformed


def test_an_import_of_the_decorator_itself():
    before = """\
        from keras.layers import Layer
        from keras.legacy.interfaces import legacy_dense_support as old
        class Mine(Layer):
            @old
            @property
            def f(self): return 3
        """
    after = """\
        from keras.layers import Layer
        class Mine(Layer):
            @property
            def f(self): return 3
        """
    check_transformed(before, after, unsafe=True)


def test_other_decorators_stay():
    check_noop("import keras\nclass Mine(keras.layers.Layer):\n    @property\n    def f(self): return 3\n")


def test_nothing_is_left_to_do_of_what_goes():
    """The import of it and the name in the decorator are findings of other rules, too."""
    source = (
        "from keras.legacy import interfaces\nfrom keras.layers import Layer\nclass Own(Layer):\n"
        "    @interfaces.legacy_dense_support\n    def __init__(self, units): pass\n"
    )
    found = analyse(source, Options(unsafe=True)).findings
    assert [one.rule for one in found if one.status is not Status.REWRITTEN] == []
