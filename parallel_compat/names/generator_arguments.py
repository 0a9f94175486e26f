"""Keras 1's arguments of `fit_generator` and its relatives, and what Keras 2 called them."""

from __future__ import annotations

from typing import Any

RENAMED = {
    "nb_epoch": "epochs",
    "nb_worker": "workers",
    "max_q_size": "max_queue_size",
    "pickle_safe": "use_multiprocessing",
}
# Those that counted samples, where Keras 2 counts batches.
OF_SAMPLES = {"samples_per_epoch": "steps_per_epoch", "nb_val_samples": "validation_steps", "val_samples": "steps"}


def in_keras_2(given: dict[str, Any], keras_1: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Translate Keras 1's arguments into Keras 2's.

    >>> in_keras_2({"steps": None, "workers": 1}, {"nb_worker": 4, "val_samples": 100})
    ({'steps': None, 'workers': 4}, {'steps': 100})

    Returns:
        Keras 2's arguments, and the numbers of samples, by the argument that counts batches today.

    Raises:
        TypeError: for an argument that neither Keras 1 nor Keras 2 had.
    """
    names = {**RENAMED, **OF_SAMPLES}
    unknown = sorted(name for name in keras_1 if names.get(name) not in given)
    if unknown:
        raise TypeError(f"Got unexpected keyword arguments {unknown}, which neither Keras 1 nor Keras 2 had.")
    renamed = {RENAMED[name]: value for name, value in keras_1.items() if name in RENAMED}
    samples = {OF_SAMPLES[name]: value for name, value in keras_1.items() if name in OF_SAMPLES}
    return {**given, **renamed}, samples
