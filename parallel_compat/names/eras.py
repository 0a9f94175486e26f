"""Eras: the stacks whose results an old script was written for.

An era is a column of the tables of facts. Standalone Keras ended with its 2.2/2.3 line on TensorFlow 1; `tf.keras`
changed its defaults and its arithmetic between TensorFlow 1 and 2 and again with Keras 3.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple

from parallel_compat.names.evidence import ASKED, READ, READ_AS_ACC, WATCHED, Evidence


class Era(str, enum.Enum):
    """Whose results a source was written for; the value is the spelling of `--era`."""

    KERAS_2_2_4 = "keras-2.2.4"
    KERAS_2_3 = "keras-2.3"
    TF_KERAS_1_15 = "tf.keras-1.15"
    TF_KERAS_2_2 = "tf.keras-2.2"
    TODAY = "today"

    @property
    def is_standalone(self) -> bool:
        """Whether it is one of standalone Keras.

        >>> [era.value for era in Era if era.is_standalone]
        ['keras-2.2.4', 'keras-2.3']
        """
        return self in (Era.KERAS_2_2_4, Era.KERAS_2_3)

    @property
    def is_tf_keras(self) -> bool:
        """Whether it is one of `tf.keras`.

        >>> [era.value for era in Era if era.is_tf_keras]
        ['tf.keras-1.15', 'tf.keras-2.2']
        """
        return self in (Era.TF_KERAS_1_15, Era.TF_KERAS_2_2)

    @property
    def has_graphs(self) -> bool:
        """Whether its code ran on the graphs and sessions of TensorFlow 1.

        >>> [era.value for era in Era if era.has_graphs]
        ['keras-2.2.4', 'keras-2.3', 'tf.keras-1.15']
        """
        return self.is_standalone or self is Era.TF_KERAS_1_15

    @property
    def is_of_2018(self) -> bool:
        """Whether the other packages of its time were those of 2018: SciPy 1.1, scikit-image 0.14, Pillow 5.

        >>> [era.value for era in Era if era.is_of_2018]
        ['keras-2.2.4', 'tf.keras-1.15']
        """
        return self in (Era.KERAS_2_2_4, Era.TF_KERAS_1_15)

    def __str__(self) -> str:
        return self.value


class Verdict(NamedTuple):
    """The era of a source, and why."""

    era: Era
    reason: str


def verdict(own: Evidence, project: Iterable[tuple[str, Evidence]] = ()) -> Verdict | None:
    """Tell the era of a source that is part of a project.

    `tf.keras` by itself does not say which TensorFlow it was written for; another file of the project may.

    Args:
        own: what the source says.
        project: the names of the project's files and what each says, the main script first.

    Returns:
        The verdict; None where neither the source nor the project imports Keras.

    >>> from parallel_compat.names.evidence import evidence_of_source
    >>> verdict(evidence_of_source("import tensorflow as tf\\nmodel = tf.keras.Sequential()\\n")).era.value
    'tf.keras-2.2'
    """
    if own.standalone:
        return _of_standalone(own, list(project))
    if own.tf_keras:
        if own.tensorflow_1:
            return Verdict(Era.TF_KERAS_1_15, f"tf.keras with {own.tensorflow_1}")
        if own.tensorflow_2:
            return Verdict(Era.TF_KERAS_2_2, f"tf.keras with {own.tensorflow_2}")
        project = list(project)
        for file, said in project:
            if said.tensorflow_2 and not said.tensorflow_1:
                return Verdict(Era.TF_KERAS_2_2, f"tf.keras, and {said.tensorflow_2} in {file}")
        for file, said in project:
            if said.tensorflow_1:
                return Verdict(Era.TF_KERAS_1_15, f"tf.keras, and {said.tensorflow_1} in {file}")
        return Verdict(Era.TF_KERAS_2_2, "tf.keras, and no name of TensorFlow 1")
    project = list(project)
    for file, said in project:
        found = verdict(said, project) if said.imports_keras else None
        if found is not None:
            return Verdict(found.era, f"imports no Keras: as {file}")
    return None


def _of_standalone(own: Evidence, project: list[tuple[str, Evidence]]) -> Verdict:
    if own.keras_2_3:
        return Verdict(Era.KERAS_2_3, f"imports keras, with {own.keras_2_3}")
    for file, said in project:  # one Keras is installed for all of them
        if said.keras_2_3:
            return Verdict(Era.KERAS_2_3, f"imports keras, and {said.keras_2_3} in {file}")
    accuracy = own.accuracy.union(*(said.accuracy for _, said in project))
    if ASKED in accuracy and READ_AS_ACC not in accuracy:
        if READ in accuracy:
            return Verdict(Era.KERAS_2_3, f"imports keras, and reads {READ} of {ASKED}")
        if WATCHED in accuracy:
            hint = f"which {ASKED} has in the logs of Keras 2.3: if that is its Keras, add --era keras-2.3"
            return Verdict(Era.KERAS_2_2_4, f"imports keras; it monitors 'accuracy', {hint}")
    return Verdict(Era.KERAS_2_2_4, "imports keras")


def evidence_of_era(era: Era) -> Evidence:
    """Return what a source says that is known to be of an era.

    >>> [verdict(evidence_of_era(era)).era is era for era in Era if era is not Era.TODAY]
    [True, True, True, True]
    """
    said = f"code of {era.value}"
    if era.is_standalone:
        since = said if era is Era.KERAS_2_3 else ""
        return Evidence(standalone="keras", keras_2_3=since, accuracy=frozenset(() if since else (READ_AS_ACC,)))
    graphs = era is Era.TF_KERAS_1_15
    return Evidence(
        tf_keras="tensorflow.keras", tensorflow_1=said if graphs else "", tensorflow_2="" if graphs else said
    )
