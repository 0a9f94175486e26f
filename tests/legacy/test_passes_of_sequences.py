"""What a Sequence is asked for, and when it is told of an end, as TensorFlow 1.15.5 and 2.2.3 did it."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat

OLD, NEW = "tf.keras-1.15", "tf.keras-2.2"
END = "end"


def trained(era, workers, steps=None, validation_steps=None, validated=True):
    """Return what the Sequences of training (three batches) and validation (two) saw in two epochs."""
    with parallel_compat.legacy_names(era=era):
        from tensorflow import keras

        class Counted(keras.utils.Sequence):
            def __init__(self, length):
                self.length, self.seen = length, []

            def __len__(self):
                return self.length

            def __getitem__(self, number):
                self.seen.append(number)
                return np.full((2, 3), float(number)), np.ones((2, 1))

            def on_epoch_end(self):
                self.seen.append(END)

        model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
        model.compile("sgd", "mse")
        data, held_out = Counted(3), Counted(2)
        more = {"validation_data": held_out, "validation_steps": validation_steps} if validated else {}
        model.fit(data, epochs=2, steps_per_epoch=steps, workers=workers, shuffle=False, verbose=0, **more)
        alone = Counted(2)
        model.evaluate(alone, workers=workers, verbose=0)
        model.predict(alone, workers=workers, steps=1)
        return data.seen, held_out.seen, alone.seen


@pytest.mark.parametrize(
    ("era", "workers", "steps", "validation_steps", "validated", "expected"),
    [
        (OLD, 0, None, 3, True, ([0, 1, 2, 0, 1, 2], [0, 1, 0, 0, 1, 0], [0, 1, 0])),
        (OLD, 0, 2, 1, True, ([0, 1, 2, 0], [0, 0], [0, 1, 0])),
        (OLD, 1, None, None, False, ([0, 1, 2, END, 0, 1, 2], [], None)),
        (OLD, 1, None, 2, True, ([0, 1, 2, END, 0, 1, 2, END], [0, 1, 0, 1], None)),
        (NEW, 0, None, None, True, ([0, 0, 1, 2, END, 0, 1, 2, END], [0, 0, 1, END] * 2, [0, 0, 1, END, 0, 0, END])),
        (NEW, 0, 2, 1, True, ([0, 0, 1, END, 0, 1, END], [0, 0, END] * 2, [0, 0, 1, END, 0, 0, END])),
        # More steps than there are batches end the training.
        (NEW, 0, 5, 3, True, ([0, 0, 1, 2, END], [0, 0, 1, END], [0, 0, 1, END, 0, 0, END])),
    ],
)  # the real stacks' own logs; those of a worker that read on after the last epoch end with what training took
@pytest.mark.filterwarnings("ignore:The .* Sequence ended")
def test_what_a_sequence_is_asked_for(era, workers, steps, validation_steps, validated, expected):
    seen = trained(era, workers, steps, validation_steps, validated)
    assert seen[:2] == expected[:2]
    if expected[2] is not None:
        assert seen[2] == expected[2]
