"""`TimeDistributed` as in Keras 2: the layer inside sees all time steps as one batch.

Keras 3 calls it once for each step: a `BatchNormalization` in it then normalizes each step by itself, and a model that
was trained on sequences of one length stops at those of another. Importing this lets each `TimeDistributed` of the
process fold time into the batch; the class, and what a file says, stay Keras's own.
"""

from __future__ import annotations

from keras.layers import TimeDistributed

from parallel_compat.training.time_distributed import fold_always

__all__ = ["TimeDistributed"]

fold_always()
