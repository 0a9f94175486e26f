from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found, migrated

HEAD = "from keras.layers import Activation, Dense\nfrom keras.models import Model\nmodel = Model(x, y)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("model.compile('sgd', loss='cosine_proximity')", "model.compile('sgd', loss='cosine_similarity')"),
        ('model.compile("sgd", "logcosh")', 'model.compile("sgd", "log_cosh")'),
        ("model.compile('sgd', loss='huber_loss')", "model.compile('sgd', loss='huber')"),
        ("model.compile('sgd', {'a': 'logcosh'})", "model.compile('sgd', {'a': 'log_cosh'})"),
        ("model.compile('sgd', weighted_metrics=['logcosh'])", "model.compile('sgd', weighted_metrics=['log_cosh'])"),
        ("loss = 'logcosh'\nmodel.compile('sgd', loss=loss)", "loss = 'log_cosh'\nmodel.compile('sgd', loss=loss)"),
        (
            "loss = 'logcosh' if a else 'mse'\nmodel.compile('sgd', loss=loss)",
            "loss = 'log_cosh' if a else 'mse'\nmodel.compile('sgd', loss=loss)",
        ),
        (
            "losses = {'a': 'logcosh', 'b': 'mse'}\nmodel.compile('sgd', losses)",
            "losses = {'a': 'log_cosh', 'b': 'mse'}\nmodel.compile('sgd', losses)",
        ),
        ("Dense(3, kernel_constraint='nonneg')", "Dense(3, kernel_constraint='non_neg')"),
    ],
)
def test_renames(before, after):
    check_transformed(HEAD + before + "\n", HEAD + after + "\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("MaxPooling2D(padding='SAME')", "MaxPooling2D(padding='same')"),
        ("MaxPooling2D((2, 2), None, 'Valid')", "MaxPooling2D((2, 2), None, 'valid')"),
    ],
)
def test_paddings_of_pooling_layers_are_no_capitals(before, after):
    head = "from keras.layers import Conv2D, MaxPooling2D\n"
    check_transformed(f"{head}{before}\n", f"{head}{after}\n")
    check_noop(f"{head}{after}\nConv2D(1, 1, padding='SAME')\nMaxPooling2D(padding=padding)\n")


def test_the_metric_cosine_proximity_had_another_sign():
    check_transformed(
        HEAD + "model.compile('sgd', metrics=['cosine_proximity', 'mae'])\n",
        HEAD.replace("\nfrom", "\nfrom parallel_compat.legacy.losses import cosine_proximity\nfrom", 1)
        + "model.compile('sgd', metrics=[cosine_proximity, 'mae'])\n",
    )


def test_hard_sigmoid_was_another_function_in_tf_keras_as_well():
    """TensorFlow 2.2.3: the losses of a model with it were those of Keras 2.2.4."""
    head = "from tensorflow.keras.layers import Dense\n"
    check_transformed(
        f"{head}Dense(3, activation='hard_sigmoid')\n",
        f"{head}from parallel_compat.legacy.activations import hard_sigmoid\nDense(3, activation=hard_sigmoid)\n",
        unsafe=True,
    )


def test_hard_sigmoid_was_another_function():
    source = HEAD + "Activation('hard_sigmoid')\n"
    check_noop(source, unsafe=False)
    assert found(source, "identifiers") == [(4, "unsafe")]
    check_transformed(
        source,
        HEAD.replace("\nfrom", "\nfrom parallel_compat.legacy.activations import hard_sigmoid\nfrom", 1)
        + "Activation(hard_sigmoid)\n",
        unsafe=True,
    )


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "model.compile('sgd', loss='mse', metrics=['mae'])\n",
        HEAD + "name = 'cosine'\n",
        "import keras\nimport re\nre.compile('a', 'cosine')\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="identifiers")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.keras.losses.Huber(reduction='auto')", "tf.keras.losses.Huber(reduction='sum_over_batch_size')"),
        ("r = tf.keras.losses.Reduction.AUTO", "r = tf.keras.losses.Reduction.SUM_OVER_BATCH_SIZE"),
        (
            "class Own(tf.keras.losses.Loss):\n"
            "    def __init__(self, a, reduction='auto'):\n"
            "        super().__init__(reduction='auto')",
            "class Own(tf.keras.losses.Loss):\n"
            "    def __init__(self, a, reduction='sum_over_batch_size'):\n"
            "        super().__init__(reduction='sum_over_batch_size')",
        ),
    ],
)
def test_reduction_auto(before, after):
    head = "import tensorflow as tf\n"
    check_transformed(head + before + "\n", head + after + "\n")


@pytest.mark.parametrize("code", ["f(reduction='auto')", "def f(reduction='auto'): pass"])
def test_reductions_of_others_stay(code):
    check_noop("import tensorflow as tf\n" + code + "\n", rule="identifiers")


def test_a_name_that_is_read_elsewhere_stays_what_it_is():
    source = HEAD + "loss = 'logcosh'\nmodel.compile('sgd', loss=loss)\nprint(loss == 'logcosh')\n"
    check_noop(source)
    assert found(source, "identifiers") == [(4, "attention")]


@pytest.mark.parametrize(
    "line",
    [
        "for c in ('nonneg', None):\n    Dense(3, kernel_constraint=c)",
        "layers = [Dense(3, kernel_constraint=c) for c in ['maxnorm', 'unitnorm']]",
        "def net(loss='logcosh'):\n    model.compile('sgd', loss)",
        "options = {'loss': 'kullback_leibler_divergence'}\nmodel.compile('sgd', **options)",
        "parser.add_argument('--loss', default='huber_loss')",
        "layer = Dense(3, 'hard_sigmoid')",
        "layer = Dense(3, kernel_regularizer='l1_l2')",
    ],
)
def test_what_nothing_but_old_keras_says_is_listed_wherever_it_stands(line):
    assert [status for _, status in found(HEAD + line + "\n", "identifiers")] == ["attention"] * (
        2 if "unitnorm" in line else 1
    )


@pytest.mark.parametrize(
    "line",
    [
        "if loss == 'logcosh': print('huber_loss' + x)",
        "model = load_model('a.h5', custom_objects={'huber_loss': own})",
        "'nonneg'",
        "print(table['maxnorm'])",
        "Dense(3, name='l1_l2')",
    ],
)
def test_strings_that_do_not_reach_keras(line):
    assert found(HEAD + line + "\n", "identifiers") == []


def test_the_hard_sigmoid_that_a_layer_has_by_default():
    before = (
        "from keras.layers import Layer\nclass Own(Layer):\n"
        "    def __init__(self, recurrent_activation='hard_sigmoid', mode='hard_sigmoid'):\n"
        "        super().__init__()\n"
    )
    assert found(before, "identifiers") == [(3, "unsafe"), (3, "attention")]
    assert "recurrent_activation=hard_sigmoid, mode='hard_sigmoid'" in migrated(before, unsafe=True)
