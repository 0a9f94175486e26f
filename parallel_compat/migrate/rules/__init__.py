"""The rules, one module each. A module's name, with hyphens, is the rule's name on the command line.

A rule module has:

- a docstring: its first line says what the rule changes, the rest why and when; an example ends it, as a diff, or as
  a source where the rule only reports;
- `SAFE`: whether its rewrites keep behaviour;
- `find(file)`: yields what it finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Protocol, cast

from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Finding

# In the order in which they run: rules that choose what a name should mean stand before `imports`, which makes it so.
NAMES: tuple[str, ...] = (
    "layer-arguments",
    "argument-decorators",
    "layer-bases",
    "layer-configs",
    "wrapped-layers",
    "schedule-bases",
    "truth-of-weights",
    "training-flags",
    "computed-in-build",
    "thawed-models",
    "frozen-models",
    "frozen-after-compile",
    "variable-classes",
    "variables-of-calls",
    "lambda-values",
    "lambda-functions",
    "optimizer-arguments",
    "chosen-optimizers",
    "clipping-norm",
    "training-arguments",
    "lists-of-numbers",
    "outputs-by-name",
    "custom-names",
    "compiled-again",
    "shared-metrics",
    "order-of-results",
    "metric-functions",
    "models-in-losses",
    "shared-optimizers",
    "callback-arguments",
    "hook-arguments",
    "function-arguments",
    "checkpoint-files",
    "callback-classes",
    "rate-names",
    "csv-columns",
    "generator-methods",
    "predict-methods",
    "reset-states",
    "subclassed-build",
    "training-of-call",
    "save-weights",
    "load-weights",
    "save-model",
    "load-model",
    "optimizer-attributes",
    "layer-attributes",
    "tensor-shape",
    "kept-tensors",
    "symbolic-functions",
    "channels-first",
    "other-sizes",
    "graph-of-layers",
    "generator-next",
    "strategy-methods",
    "accuracy-names",
    "identifiers",
    "changed-defaults",
    "tensorflow-arguments",
    "gone-members",
    "wrapper-classes",
    "home-made-towers",
    "other-packages",
    "dynamic-imports",
    "imports",
)
# Those that look at the other files of a project as well, which import no Keras.
BESIDE_KERAS: tuple[str, ...] = ("predict-methods", "save-weights", "load-weights", "accuracy-names", "other-packages")
# Those that find what computes something else today without an error: a file in which nothing is old may have it.
OF_SILENT_CHANGES: tuple[str, ...] = (
    "changed-defaults",
    "identifiers",
    "clipping-norm",
    "frozen-after-compile",
    "shared-optimizers",
    "compiled-again",
    "shared-metrics",
    "metric-functions",
)
# Those for `--to native`, which run after the others, on what these wrote.
NATIVE_NAMES: tuple[str, ...] = (
    "native-differences",
    "native-replicas",
    "native-batches",
    "native-layers",
    "native-optimizers",
    "native-steps",
    "native-sessions",
    "native-callbacks",
    "native-functions",
    "native-names",
)
ALL = (*NAMES, *NATIVE_NAMES)
_EXAMPLE = re.compile(r"```(diff|python)\n(.*?)```", re.DOTALL)


class Rule(Protocol):
    """What a rule module has."""

    __doc__: str | None
    SAFE: bool

    def find(self, file: File) -> Iterator[Finding]:
        """Find what the rule is about."""
        ...


def load(name: str) -> Rule:
    """Import a rule by its name.

    >>> load("generator-methods").SAFE
    True
    """
    if name in NATIVE_NAMES:
        return cast("Rule", import_module(f"parallel_compat.migrate.native.{name.removeprefix('native-')}"))
    return cast("Rule", import_module(f"{__name__}.{name.replace('-', '_')}"))


def example(name: str) -> tuple[str, str | None]:
    """Return the example in a rule's docstring, and what it becomes: None for a rule that only reports.

    >>> example("strategy-methods")[1].splitlines()[-1]
    'losses = strategy.run(train_step, args=(batch,))'
    """
    match = _EXAMPLE.search(load(name).__doc__ or "")
    assert match is not None
    kind, text = match.groups()
    if kind == "python":
        return text, None
    lines = text.splitlines(keepends=True)
    before, after = ("".join(line[1:] or line for line in lines if line[0] != other) for other in "+-")
    return before, after


def summary(name: str) -> str:
    """Return the first line of a rule's docstring."""
    return (load(name).__doc__ or "").splitlines()[0]
