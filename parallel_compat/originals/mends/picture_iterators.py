"""The iterators of Keras_Preprocessing are no `Sequence` of Keras 2.2.4, which reads them one batch after the other.

`import keras` imported TensorFlow first, whose `tf.keras` imported Keras_Preprocessing: the iterators derive from the
`Sequence` of `tf.keras`. As one of Keras's own, an iterator would give its batches in an order that `random` draws.
Keras before 2.2 had iterators of its own, and needed no number of steps: it is the iterator's length here.

Seen in Keras 2.2.4 with Keras_Preprocessing 1.1.2 and TensorFlow 1.15.5.
"""

from __future__ import annotations

import types
from typing import Any

from parallel_compat.names.eras import Era
from parallel_compat.originals.mends.register import Register


class _Object:
    """A base that another one can replace: `object` cannot be."""


class Sequence(_Object):
    """What the iterators derive from; it derives from the `Sequence` of `tf.keras` once that is imported."""


def apply(mends: Register) -> None:
    if mends.era is not Era.KERAS_2_2_4:
        return
    mends.around("keras_preprocessing", "get_keras_submodule", _with_sequence)
    mends.after("tensorflow.python.keras.utils.data_utils", lambda module: _derive(module.Sequence))
    for function, steps in (("fit", "steps_per_epoch"), ("evaluate", "steps"), ("predict", "steps")):
        mends.around("keras.engine.training_generator", f"{function}_generator", _counting(steps))


def _with_sequence(get: Any, name: str) -> Any:
    return types.SimpleNamespace(Sequence=Sequence) if name == "utils" else get(name)


def _derive(sequence: type) -> None:
    Sequence.__bases__ = (sequence,)


def _counting(steps: str) -> Any:
    def runs(run: Any, model: Any, generator: Any, **options: Any) -> Any:
        read = [(generator, steps), (options.get("validation_data"), "validation_steps")]
        for iterator, name in read:
            if isinstance(iterator, Sequence) and options.get(name) is None:
                options[name] = len(iterator)  # type: ignore[arg-type]
        return run(model, generator, **options)

    return runs
