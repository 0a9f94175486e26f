from __future__ import annotations

import pytest

from parallel_compat.command import main
from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.callbacks import EarlyStopping, ModelCheckpoint\n"
COMPILED = HEAD + "model.compile('adam', 'mse', metrics=['accuracy'])\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("EarlyStopping(monitor='val_acc')", "EarlyStopping(monitor='val_accuracy')"),
        ('EarlyStopping("acc")', 'EarlyStopping("accuracy")'),
        (
            "ModelCheckpoint('w{epoch}-{val_acc:.2f}.keras', monitor='val_acc')",
            "ModelCheckpoint('w{epoch}-{val_accuracy:.2f}.keras', monitor='val_accuracy')",
        ),
        ("path = 'w-{acc}.keras'\nModelCheckpoint(path)", "path = 'w-{accuracy}.keras'\nModelCheckpoint(path)"),
        ("h = model.fit(x)\nh.history['val_acc']", "h = model.fit(x)\nh.history['val_accuracy']"),
        (
            "def f(h):\n    h = h.history\n    h['acc'], h.get('val_acc')",
            "def f(h):\n    h = h.history\n    h['accuracy'], h.get('val_accuracy')",
        ),
        ("t = pd.DataFrame(h.history)\nt['acc']", "t = pd.DataFrame(h.history)\nt['accuracy']"),
        ("def f(logs):\n    return logs.get('acc'), logs['val_acc']", None),
        (
            "LambdaCallback(on_epoch_end=lambda e, l: print(l['acc']))",
            "LambdaCallback(on_epoch_end=lambda e, l: print(l['accuracy']))",
        ),
        (
            "class Tell(Callback):\n    def on_epoch_end(self, epoch, log={}):\n        print(log['val_acc'])",
            "class Tell(Callback):\n    def on_epoch_end(self, epoch, log={}):\n        print(log['val_accuracy'])",
        ),
    ],
)
def test_where_the_source_says_accuracy(before, after):
    after = after or "def f(logs):\n    return logs.get('accuracy'), logs['val_accuracy']"
    check_transformed(f"{COMPILED}{before}\n", f"{COMPILED}{after}\n")


def test_accuracy_of_an_output_is_logged_under_its_name():
    source = (
        COMPILED + "Dense(2, name='main')\nEarlyStopping('val_{0}', mode='max')\nh = model.fit(x)\nh.history['{0}']\n"
    )
    after = source.format("main_accuracy")
    check_transformed(source.format("main_acc"), after)
    check_noop(source.format("other_acc"))


def test_where_the_source_does_not_tell():
    source = HEAD + "EarlyStopping('val_acc')\n"
    check_noop(source, unsafe=False)
    assert found(source, "accuracy-names") == [(2, "unsafe")]


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "model.compile('adam', 'mse', metrics=['acc'])\nEarlyStopping('val_acc')\n",
        COMPILED + "table = {'acc': 3}\ntable['acc']\n",
        COMPILED + "def on_board(end, l):\n    return l['acc'], end['acc']\nsort(key=lambda l: l['acc'])\n",
        COMPILED + "table = pd.DataFrame(rows, h.history)\ntable['acc']\n",
        COMPILED + "EarlyStopping('val_loss')\n",
        COMPILED + "ModelCheckpoint('acc.keras')\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="accuracy-names")


def test_an_argument_that_is_called_a_history():
    """A function that draws it is handed the history, or its `history`."""
    source = COMPILED + "def draw(history):\n    plot(history['acc'])\n"
    check_noop(source, unsafe=False)
    assert found(source, "accuracy-names") == [(4, "unsafe")]


def test_a_file_that_draws_and_imports_no_keras(tmp_path):
    (tmp_path / "draw.py").write_text("def draw(h):\n    h = h.history\n    return h['acc']\n")
    (tmp_path / "train.py").write_text(COMPILED + "model.fit_generator(batches)\n")
    assert main(["migrate", "--write", str(tmp_path)]) == 0
    assert "h['accuracy']" in (tmp_path / "draw.py").read_text()


def test_a_model_of_the_same_function_says_how_it_is_spelled():
    """Keras 2.2.4 logged `acc` in both; Keras 3 stops at a monitor that the model does not log."""
    head = (
        "from keras.callbacks import EarlyStopping\ndef {}(model):\n    model.compile('sgd', 'mse', metrics=['{}'])\n"
    )
    use = "    return EarlyStopping('val_{}')\n"
    second = head.partition("\n")[2].format("second", "accuracy")
    check_transformed(
        head.format("first", "acc") + use.format("acc") + second + use.format("acc"),
        head.format("first", "acc") + use.format("acc") + second + use.format("accuracy"),
    )


def test_weighted_metrics_are_logged_under_the_name_that_was_passed():
    """As `weighted_acc` in Keras 2.2.4 and tf.keras 1.15; `EarlyStopping` of Keras 3 stops at that name."""
    check_transformed(
        HEAD
        + "model.compile('adam', 'mse', weighted_metrics=['acc'])\nEarlyStopping('val_weighted_acc', mode='max')\n",
        HEAD + "model.compile('adam', 'mse', weighted_metrics=['acc'])\nEarlyStopping('val_acc', mode='max')\n",
    )
    check_transformed(
        HEAD + "model.compile('adam', 'mse', weighted_metrics=['accuracy'])\nprint(logs['weighted_acc'])\n",
        HEAD + "model.compile('adam', 'mse', weighted_metrics=['accuracy'])\nprint(logs['accuracy'])\n",
    )
    both = "model.compile('adam', 'mse', metrics=['mae'], weighted_metrics=['mae'])\nprint(logs['weighted_mae'])\n"
    assert found(HEAD + both, "accuracy-names") == [(3, "attention")]
    check_noop(HEAD + "model.compile('adam', 'mse')\nprint(logs['weighted_mae'])\n", rule="accuracy-names")


def test_a_metric_that_was_passed_by_a_short_string_is_logged_by_it():
    before = """\
        from keras.callbacks import ReduceLROnPlateau
        from keras.layers import Dense
        age = Dense(1, name='age')
        model.compile('sgd', 'mse', metrics={'age': 'mae', 'size': ['mse']})
        h = model.fit(x, y, callbacks=[ReduceLROnPlateau(monitor='val_age_mean_absolute_error', mode='min')])
        print(h.history['mean_squared_error'], h.history['mean_absolute_percentage_error'])
        """
    check_transformed(before, before.replace("mean_absolute_error", "mae").replace("mean_squared_error", "mse"))
    check_noop(before.replace("'mse'", "'mean_squared_error'").replace("'mae'", "'mean_absolute_error'"))


def test_a_project_that_compiles_with_both_is_not_guessed():
    source = (
        "from keras.models import Sequential\ndef a(m: Sequential):\n    m.compile('sgd', 'mse', metrics=['acc'])\n"
        "def b(m: Sequential):\n    m.compile('sgd', 'mse', metrics=['accuracy'])\n"
        "from keras.callbacks import EarlyStopping\nstop = EarlyStopping('val_acc')\n"
    )
    assert found(source, "accuracy-names") == [(7, "attention")]
