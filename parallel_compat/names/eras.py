"""Eras: the stacks whose results an old script was written for, and how a source tells which one.

An era is a column of the tables of facts. Standalone Keras ended with its 2.2/2.3 line on TensorFlow 1; `tf.keras`
changed its defaults and its arithmetic between TensorFlow 1 and 2 and again with Keras 3.
"""

from __future__ import annotations

import enum
import re
from typing import NamedTuple


class Era(str, enum.Enum):
    """Whose results a source was written for; the value is the spelling of `--era`."""

    KERAS_2_2_4 = "keras-2.2.4"
    TF_KERAS_1_15 = "tf.keras-1.15"
    TF_KERAS_2_2 = "tf.keras-2.2"
    TODAY = "today"

    def __str__(self) -> str:
        return self.value


class Verdict(NamedTuple):
    """The era of a source, and why.

    Attributes:
        era: the era.
        reason: what in the source says so, for the report.
    """

    era: Era
    reason: str


_STANDALONE = re.compile(r"^[ \t]*(?:import\s+keras\b|from\s+keras(?:\.[\w.]+)?\s+import\b)", re.MULTILINE)
_TF_KERAS = re.compile(
    r"\b(?:tf|tensorflow)\.(?:compat\.v[12]\.|python\.|contrib\.)?keras\b|\bfrom\s+tensorflow\s+import\s+keras\b"
)
# What TensorFlow 2 has no more at its top level, and TensorFlow 1 code cannot do without.
_TENSORFLOW_1 = re.compile(
    r"\b(?:tf|tensorflow)\.(?:Session|InteractiveSession|ConfigProto|GPUOptions|placeholder|global_variables_initializer"
    r"|get_default_graph|reset_default_graph|set_random_seed|get_variable|variable_scope|layers\.\w+|contrib\b"
    r"|enable_eager_execution|logging\.\w+|app\.(?:run|flags)|train\.\w+Optimizer|log\(|to_float|to_int32|random_uniform"
    r"|random_normal|truncated_normal|assign\b|trainable_variables\(|summary\.FileWriter|get_collection)"
    r"|\bCuDNN(?:LSTM|GRU)\b|\bset_session\b|\bget_session\b"
)


def era_of_source(text: str) -> Verdict | None:
    """Tell a source's era by what it imports.

    >>> era_of_source("import tensorflow as tf\\nmodel = tf.keras.Sequential()\\n").era.value
    'tf.keras-2.2'

    Args:
        text: the source.

    Returns:
        The verdict; None where the source imports neither Keras.
    """
    found = _STANDALONE.search(text)
    if found:
        return Verdict(Era.KERAS_2_2_4, f"it has `{found.group().strip()}`: standalone Keras")
    found = _TF_KERAS.search(text)
    if not found:
        return None
    old = _TENSORFLOW_1.search(text)
    if old:
        return Verdict(Era.TF_KERAS_1_15, f"it has `{found.group()}` beside TensorFlow 1's `{old.group()}`")
    return Verdict(Era.TF_KERAS_2_2, f"it has `{found.group()}` and no name of TensorFlow 1")
