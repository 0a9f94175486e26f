from __future__ import annotations

import pytest

from parallel_compat.migrate.findings import Status
from tests.migrate.check import check_noop, check_transformed, found, messages


def test_of_known_models_and_optimizers():
    check_transformed(
        """\
        from keras import backend as K
        from keras.models import Model
        from keras.optimizers import Adam
        model = Model(x, y)
        adam = Adam()
        K.set_value(model.optimizer.lr, K.get_value(adam.lr) * 0.1)
        """,
        """\
        from parallel_compat.legacy import backend as K
        from keras.models import Model
        from keras.optimizers import Adam
        model = Model(x, y)
        adam = Adam()
        K.set_value(model.optimizer.learning_rate, K.get_value(adam.learning_rate) * 0.1)
        """,
    )


def test_in_callbacks():
    check_transformed(
        """\
        import keras
        class Rate(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                if not hasattr(self.model.optimizer, 'lr'):
                    raise ValueError('Optimizer must have a "lr" attribute.')
                self.rate = self.model.optimizer.lr
        """,
        """\
        import keras
        class Rate(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                if not hasattr(self.model.optimizer, 'learning_rate'):
                    raise ValueError('Optimizer must have a "lr" attribute.')
                self.rate = self.model.optimizer.learning_rate
        """,
    )


def test_a_name_in_a_string_may_be_of_something_else():
    source = "import keras\nprint(getattr(optimizer, 'lr'), hasattr(row, 'lr'), getattr(optimizer, 'momentum'))\n"
    assert found(source, "optimizer-attributes") == [(2, "unsafe")]


def test_an_assignment_had_no_effect_in_keras_2_2_4():
    body = "model = Model(x, y)\nmodel.optimizer.lr = 0.1\n"
    for imports, told in (("from keras.models", True), ("from tensorflow.keras.models", False)):
        texts = messages(f"{imports} import Model\n{body}", Status.REWRITTEN)
        assert any("had no effect" in text for text in texts) == told


def test_a_name_is_a_guess():
    source = "import keras\ndef f(optimizer):\n    return optimizer.lr\n"
    check_noop(source, unsafe=False)
    assert found(source, "optimizer-attributes") == [(3, "unsafe")]


@pytest.mark.parametrize(
    "source",
    [
        "import keras\nargs.lr\n",
        "import keras\nclass C:\n    def f(self):\n        self.lr = 3\n",
        "import keras\nfrom keras.optimizers import Optimizer\nclass O(Optimizer):\n  def f(self):\n    self.lr = 3\n",
        "import keras\nclass optimizer:\n    lr = 3\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="optimizer-attributes")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("assert not model.optimizer", "assert not getattr(model, 'optimizer', None)"),
        ("if model.optimizer is None: pass", "if getattr(model, 'optimizer', None) is None: pass"),
        ("x = 1 if model.optimizer else 2", "x = 1 if getattr(model, 'optimizer', None) else 2"),
        ("x = model.optimizer.iterations", None),
        ("x = model.optimizer == other", None),
    ],
)
def test_a_model_that_is_not_compiled_has_no_optimizer(before, after):
    head = "from keras.models import Sequential\nmodel = Sequential()\n"
    check_transformed(f"{head}{before}\n", f"{head}{after or before}\n")


def test_a_schedule_is_called():
    """tf.keras gave the schedule as `optimizer.lr`; Keras 3 gives a number, which cannot be called."""
    get = "get_hyper"
    check_transformed(
        """\
        import tensorflow as tf
        optimizer = tf.keras.optimizers.Adam(schedule)
        print(optimizer.lr(step), optimizer.learning_rate(step))
        """,
        f"""\
        import tensorflow as tf
        from parallel_compat.legacy.optimizer_methods import get_hyper
        optimizer = tf.keras.optimizers.Adam(schedule)
        print({get}(optimizer, 'learning_rate')(step), {get}(optimizer, 'learning_rate')(step))
        """,
    )
