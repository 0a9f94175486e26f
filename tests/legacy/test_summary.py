"""`model.summary`: the lines that Keras 2.2.4 and TensorFlow 1.15.5 and 2.2.3 gave to `print_fn`."""

from __future__ import annotations

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


def words_of(lines):
    return [line.split() for line in lines]


def said_by(model, **keywords):
    lines = []
    model.summary(print_fn=lines.append, **keywords)
    return lines
