from __future__ import annotations

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
