"""Datasets of generators read no batch ahead, as TensorFlow does today.

A generator that goes on from epoch to epoch would else lose a batch where an epoch ends before the generator does.
"""

from __future__ import annotations

from typing import Any

from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    from tensorflow.python.data.ops import dataset_ops, options

    def without_reading_ahead(from_generator: Any) -> Any:
        def makes(*args: Any, **kwargs: Any) -> Any:
            chosen = options.Options()
            chosen.experimental_optimization.inject_prefetch = False
            return from_generator(*args, **kwargs).with_options(chosen)

        return staticmethod(makes)

    mends.replace(dataset_ops.DatasetV2, "from_generator", without_reading_ahead)
