"""What one file of a project says about the others: how accuracy is spelled, and whose Keras it was written for."""

from __future__ import annotations

import ast
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from parallel_compat.migrate.source import Undecodable, decode
from parallel_compat.names import eras
from parallel_compat.names.eras import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable

_COMPILES = re.compile(rb"\.compile\s*\(")
_ACCURACY = re.compile(rb"""['"]acc(?:uracy)?['"]""")
_TENSORFLOW = re.compile(rb"\btensorflow\b")
_STANDALONE = re.compile(rb"^[ \t]*(?:import|from)[ \t]+keras\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """What the files that are migrated together say.

    Attributes:
        accuracy: how models are compiled with it: "acc", "accuracy", or both.
        evidence: for each file that says something of its era, its name and what it says.
    """

    accuracy: frozenset[str] = frozenset()
    evidence: tuple[tuple[str, Evidence], ...] = ()


NONE = ProjectFacts()


def read(paths: Iterable[str]) -> ProjectFacts:
    """Read the facts off the sources of a project; what cannot be read or is no Python 3 says nothing."""
    accuracy: set[str] = set()
    evidence = []
    for path in paths:
        if not path.endswith(".py"):
            continue
        try:
            with open(path, "rb") as stream:
                data = stream.read()
        except OSError:
            continue
        compiles = bool(_COMPILES.search(data) and _ACCURACY.search(data))
        standalone = _STANDALONE.search(data)
        if not (compiles or standalone or _TENSORFLOW.search(data)):
            continue
        if standalone and not compiles:
            evidence.append((os.path.basename(path), Evidence(standalone="keras")))
            continue
        try:
            tree = ast.parse(decode(data)[0])
        except (SyntaxError, ValueError, Undecodable, RecursionError):
            continue
        nodes = list(ast.walk(tree))
        accuracy |= spellings_of_accuracy(node for node in nodes if isinstance(node, ast.Call))
        said = eras.evidence_of_nodes(nodes)
        if said.imports_keras or said.tensorflow_1:
            evidence.append((os.path.basename(path), said._replace(imports=())))
    return ProjectFacts(frozenset(accuracy), tuple(evidence))


def spellings_of_accuracy(calls: Iterable[ast.Call]) -> set[str]:
    """Return how accuracy is spelled in calls of `compile`."""
    found = set()
    for call in calls:
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "compile":
            continue
        for argument in [*call.args[2:], *(keyword.value for keyword in call.keywords)]:
            for node in ast.walk(argument):
                if isinstance(node, ast.Constant) and node.value in ("acc", "accuracy"):
                    found.add(node.value)
    return found
