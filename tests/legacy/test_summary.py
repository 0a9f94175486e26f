"""`model.summary`: the lines that Keras 2.2.4 and TensorFlow 1.15.5 and 2.2.3 gave to `print_fn`."""

from __future__ import annotations

import re

import pytest

import parallel_compat

ERAS = ("keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2")
SIAMESE = """
Layer (type)                    Output Shape         Param #     Connected to
==================================================================================================
one (InputLayer)                (None, 3)            0
__________________________________________________________________________________________________
other (InputLayer)              (None, 3)            0
__________________________________________________________________________________________________
base (Sequential)               (None, 2)            26          one[0][0]
                                                                 other[0][0]
__________________________________________________________________________________________________
apart (Subtract)                (None, 2)            0           base[1][0]
                                                                 base[2][0]
__________________________________________________________________________________________________
said (Dense)                    (None, 1)            3           apart[0][0]
==================================================================================================
Total params: 29
Trainable params: 29
Non-trainable params: 0
__________________________________________________________________________________________________"""
READER = """
Layer (type)                 Output Shape              Param #
=================================================================
words (InputLayer)           (None, 4)                 0
_________________________________________________________________
table (Embedding)            (None, 4, 2)              10
_________________________________________________________________
lstm (LSTM)                  (None, 2)                 40
=================================================================
Total params: 60
Trainable params: 50
Non-trainable params: 10
_________________________________________________________________"""


@pytest.fixture(params=ERAS)
def era(request):
    with parallel_compat.legacy_names(era=request.param):
        yield request.param


def words_of(lines):
    return [line.split() for line in lines]


def in_era(era, text, name):
    """The text of Keras 2.2.4 as that of an era: tf.keras had a title, and an input is a list of shapes."""
    lines = text.splitlines()[1:]
    lines = ["_" * len(lines[-1]), *lines]
    if era == "keras-2.2.4":
        return lines
    shapes = [re.sub(r"InputLayer\)( +)(\(.*\))", r"InputLayer)\1[\2]", line) for line in lines]
    return [f'Model: "{name}"', *shapes]


def said_by(model, **keywords):
    lines = []
    model.summary(print_fn=lines.append, **keywords)
    return lines


def test_what_is_connected(era):
    from keras import layers, models

    base = models.Sequential([layers.Dense(4, input_shape=(3,)), layers.Dense(2)], name="base")
    one, other = layers.Input((3,), name="one"), layers.Input((3,), name="other")
    apart = layers.Subtract(name="apart")([base(one), base(other)])
    model = models.Model([one, other], layers.Dense(1, name="said")(apart), name="siamese")
    assert words_of(said_by(model)) == words_of(in_era(era, SIAMESE, "siamese"))


def test_a_chain_with_a_mask_and_a_layer_frozen_after_compile(era):
    """Keras 2.2.4 and TensorFlow 1.15 counted it twice."""
    from keras import layers, models

    words = layers.Input((4,), name="words")
    read = layers.LSTM(2, name="lstm")(layers.Embedding(5, 2, mask_zero=True, name="table")(words))
    model = models.Model(words, read, name="reader")
    model.compile("sgd", "mse")
    model.layers[1].trainable = False
    with pytest.warns(UserWarning, match="Discrepancy"):
        lines = said_by(model)
    text = READER
    if era == "tf.keras-2.2":
        text = text.replace("Total params: 60", "Total params: 50").replace("params: 50\nNon", "params: 40\nNon")
    expected = in_era(era, text, "reader")
    if era == "keras-2.2.4":
        assert [line.rstrip() for line in lines] == expected
    assert words_of(lines) == words_of(expected)


def test_positions_and_stdout(capsys):
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import layers, models
        from keras.utils import print_summary

        model = models.Sequential([layers.Dense(4, input_shape=(3,), name="first"), layers.Dense(1, name="last")])
        model.summary(line_length=40, positions=[15, 30, 40])
        printed = capsys.readouterr().out.splitlines()
        print_summary(model, 40, [0.375, 0.75, 1.0])
        assert capsys.readouterr().out.splitlines() == printed
    assert printed[:5] == [
        "_" * 40,
        "Layer (type)   Output Shape   Param #   ",
        "=" * 40,
        "first (Dense)  (None, 4)      16        ",
        "_" * 40,
    ]


def test_one_that_has_no_weights_yet(era):
    from keras import layers, models

    with pytest.raises(ValueError, match="has never been called"):
        models.Sequential([layers.Dense(3)]).summary()


def test_calls_of_a_model_after_its_definition(era):
    from keras import layers, models

    model = models.Sequential([layers.Dense(1, input_shape=(3,))])
    called = model(layers.Input((3,)))
    assert model.get_output_at(0) is model.outputs[0]
    assert model.get_output_at(1) is called
    assert model.get_output_at(-1) is called


@pytest.mark.parametrize(
    ("era", "names"),
    [
        ("tf.keras-1.15", ["tf_op_layer_sub", "tf_op_layer_strided_slice", "add"]),
        ("tf.keras-2.2", ["tf_op_layer_Sub", "tf_op_layer_strided_slice", "add"]),
    ],
)
def test_operators_take_no_names_from_layers(era, names):
    """As TensorFlow 1.15.5 and 2.2.3 printed them."""
    with parallel_compat.legacy_names(era=era):
        from tensorflow.keras import Model, backend, layers

        backend.clear_session()
        a, b = layers.Input((3,)), layers.Input((3,))
        assert Model([a, b], [a - b, a[:, 1:], layers.add([a, b])]).output_names == names
