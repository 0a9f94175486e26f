"""What translating a model's config from Keras 2 to Keras 3 gave, and how its rules report."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.layer_tree import Path


@dataclass(frozen=True)
class Target:
    """For whom a model is translated: the names that exist in that process or file."""

    # Classes of layers in addition to those that Keras 2 and Keras 3 have in common.
    layers: frozenset[str] = frozenset()
    # How a config names an activation that computes Keras 2's `hard_sigmoid`; None where Keras 3's has to do, for which
    # the weights in front of it are changed.
    hard_sigmoid: dict[str, str] | None = field(default=None, hash=False)
    # Names of classes of Keras that are the user's own there, whose configs are not changed.
    own: frozenset[str] = frozenset()


PLAIN_KERAS = Target()


@dataclass
class Translation:
    """The result of translating one model."""

    version: tuple[int, ...]  # of the Keras that wrote it, as numbers
    tf_keras: bool  # whether that was the one inside TensorFlow
    custom_objects: Collection[str] = ()  # names of classes and functions that the user passes as custom objects
    target: Target = PLAIN_KERAS  # for whom it is translated
    # Of the Keras that wrote it; None where it is TensorFlow, or the weights are another matter.
    backend: str | None = None
    config: Entry = field(default_factory=dict)  # the model's entry for Keras 3
    notes: list[str] = field(default_factory=list)  # what was done that a user should know
    refused: list[str] = field(default_factory=list)  # what has no counterpart in Keras 3, one sentence each
    # Name of a class or function that is not Keras's -> where it is used.
    custom: dict[str, list[str]] = field(default_factory=dict)
    lambdas: list[str] = field(default_factory=list)  # Lambda layers that belong to the model itself
    # Leaf -> what has to be done to its weights (`weight_edits.py`).
    edits: dict[Path, list[str]] = field(default_factory=dict)
    # Those that are not Keras's and were left out, as "layer.argument".
    initializers: list[str] = field(default_factory=list)
    masked: bool = False  # whether a layer of the model makes masks
    # Leaf -> a config whose `output_shape` the leaf's weights tell.
    shaped: dict[Path, dict[str, Any]] = field(default_factory=dict)
    here: Path = ()

    @property
    def keras1(self) -> bool:
        """Whether the weights are laid out as Keras 1 did."""
        return self.version < (2,)

    def note(self, entry: Entry, sentence: str) -> None:
        """Record something that a user should know of a layer."""
        self.notes.append(f"layer {entry['name']!r}: {sentence}.")

    def refuse(self, entry: Entry, sentence: str) -> None:
        """Record that a layer cannot be written for Keras 3."""
        self.refused.append(f"layer {entry['name']!r}: {sentence}.")

    def edit(self, entry: Entry, edit: str) -> None:
        """Record that the weights of the current layer need a change."""
        self.edits.setdefault(self.here, []).append(edit)

    def check(self, *, keep_lambda: bool = False, as_data: bool = False, written: bool = True) -> None:
        """Raise if the model cannot be written as it is.

        Args:
            as_data: whether the output is an `.h5` file, which can hold what Keras 3 does not know, as data.
            written: whether there is an output; else the model itself is wanted.
        """
        problems = list(self.refused)
        if self.lambdas and not (keep_lambda and as_data):
            kept = "Keep them as data with `keep_lambda` (--keep-lambda)" + ("." if as_data else " in an .h5 file.")
            problems.append(
                f"Lambda layers contain old Python bytecode, which is not executed: {', '.join(self.lambdas)}. {kept}"
            )
        missing = {name: places for name, places in self.custom.items() if name not in self.custom_objects}
        if missing and not as_data:
            listed = "; ".join(f"{name} (in {', '.join(places[:3])})" for name, places in missing.items())
            problems.append(
                f"Classes or functions that are not part of Keras: {listed}. Pass them in "
                "`custom_objects`, or write .h5, which keeps them as data."
            )
        if problems:
            raise CheckpointError(
                "The model cannot be written for Keras 3 unchanged: "
                + " ".join(problems)
                + " Only its weights can be extracted ("
                + ("--weights-only" if as_data else "-o NAME.h5 --weights-only" if written else "`weights_only=True`")
                + ", or `load_template_weights` on a model that your code builds)."
            )
