"""What `parallel-compat run` changes of an original, on purpose; the documentation is made of it."""

from __future__ import annotations

from typing import NamedTuple

from parallel_compat.names.eras import Era

_STANDALONE = (Era.KERAS_2_2_4, Era.KERAS_2_3)
_GRAPHS = (*_STANDALONE, Era.TF_KERAS_1_15)
_ALL = (*_GRAPHS, Era.TF_KERAS_2_2)


class Difference(NamedTuple):
    """One difference to an original.

    Attributes:
        eras: whose.
        what: what changes.
        reason: why.
    """

    eras: tuple[Era, ...]
    what: str
    reason: str


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        _ALL,
        "`save` and `save_weights` of a parallel model, also through a callback, write the single template with the "
        "optimizer's state. `load_weights` of a parallel model reads files of both kinds.",
        "The old file could be loaded only on the same number of GPUs.",
    ),
    Difference(
        _ALL,
        "A model file is never half-written.",
        "A process that is killed while it saves must not lose the previous checkpoint.",
    ),
    Difference(
        _ALL,
        "`load_model` executes the code of a Lambda layer only if the script has the same function, or with "
        "`--allow-lambdas`. Functions of another Python, and pickles in HDF5 files, are refused.",
        "A file could run any code. Bytecode of another Python can crash the interpreter.",
    ),
    Difference(
        _GRAPHS,
        "A training step reads all weights and counters before it updates one.",
        "Old Keras read and updated them in no fixed order: three runs with the same seeds gave three results.",
    ),
    Difference(
        _GRAPHS,
        "`CuDNNLSTM` and `CuDNNGRU` train without a GPU, with the steps of the plain layer.",
        "The old layers needed a GPU.",
    ),
    Difference(
        _ALL,
        "After `--resume`, dropout and other random operations of the graph draw another sequence.",
        "TensorFlow does not save their state.",
    ),
    Difference(
        _ALL,
        "Data sets whose old address is gone are downloaded from Keras 3's address of the same file.",
        "The old servers are switched off.",
    ),
    Difference(
        _STANDALONE,
        "One in 300 `Orthogonal` initializers of up to 25 units (recurrent kernels of LSTM and GRU) has "
        "columns of the opposite sign.",
        "The sign is that of LAPACK's singular vectors, which LAPACK 3.10 changed. It is computed as before, "
        "but for a rounding error.",
    ),
    Difference(
        _ALL,
        "A tower without samples (a batch smaller than the towers) gives zero gradients, and its BatchNormalization "
        "updates no moving statistics.",
        "Depthwise convolutions had arbitrary gradients there, and BatchNormalization gave NaN.",
    ),
    Difference(
        _ALL,
        "Sums are computed in another order, so the last digits differ. `binary_crossentropy` of a saturated `softmax` "
        "differs most, by up to 4e-5: a probability that is one unit in the last place (6e-8) off is 1e-5 from 1.",
        "The kernels are those of today's TensorFlow, without oneDNN (`TF_ENABLE_ONEDNN_OPTS=1` switches it on), which "
        "the old ones did not have.",
    ),
)
