"""Methods, attributes and callback fields of Keras objects in old code: the facts of `members.tsv`, by name."""

from __future__ import annotations

from functools import cache

from parallel_compat.names import tsv
from parallel_compat.names.table import Change, Member

MODEL = "keras.Model"
LAYER = "keras.layers.Layer"
INPUT_LAYER = "keras.layers.InputLayer"
OPTIMIZER = "keras.optimizers.Optimizer"
CALLBACK = "keras.callbacks.Callback"
CHECKPOINT = "keras.callbacks.ModelCheckpoint"
TENSOR = "keras.KerasTensor"
NODE = "a call of a layer"  # `layer._inbound_nodes[0]`, whose class Keras never had in a public place
METRIC = "keras.metrics.Metric"
SEQUENCE = "keras.utils.PyDataset"


@cache
def members() -> dict[str, tuple[Member, ...]]:
    """Return the rows by name: one name may belong to several kinds of objects."""
    table: dict[str, tuple[Member, ...]] = {}
    for of, names, change, new, is_method, known_by, note in tsv.rows("members.tsv", 7):
        for old in names.split():
            row = Member(of, old, Change(change), new or None, bool(is_method), note, known_by)
            table[old] = (*table.get(old, ()), row)
    return table
