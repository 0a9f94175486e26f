"""A pytest plugin that writes a line of JSON for each test: its id, what became of it, and why.

It runs on old Pythons as well (3.7), without this package. Four variables of the environment tell it what to do:
SUITES_OUT (the file of the lines), SUITES_DONE (a file of ids that are left out), SUITES_ONLY (ids, only these run) and
SUITES_SAMPLE (of each method that has parameters one alone: compiled if it can be, else the first).
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import signal
import sys
import types
from typing import Any

import pytest

_LIMIT = 600  # seconds for a test
# What a file's last lines call before its tests, when it is run as a script.
_MODES = ("enable_eager_execution", "enable_v2_behavior")


def _note(**line: Any) -> None:
    with open(os.environ["SUITES_OUT"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _ids(variable: str) -> set[str] | None:
    path = os.environ.get(variable)
    if not path:
        return None
    with open(path, encoding="utf-8") as file:
        return set(file.read().splitlines())


def _without_parameters(name: str) -> str:
    """Return the id of a test without the parameters that absl and TensorFlow write into its name."""
    before, _, method = name.rpartition("::")
    method = re.sub(r"(_v[12]_(session|eager|function|funcgraph)|(?<=.{5})_test_.*|\[.*)", "", method)
    return f"{before}::{re.sub('_(functional|subclass|sequential)', '', method).rstrip('0123456789_')}"


def pytest_configure() -> None:
    """Give tests of 2018 `pytest.warns(None)`, and the decorator of `flaky`: a test has one try here.

    What reads absl's flags would take pytest's arguments for them.
    """
    try:
        from absl import flags
    except ImportError:
        pass
    else:
        flags.FLAGS.mark_as_parsed()
    try:
        import flaky  # noqa: F401
    except ImportError:
        module = types.ModuleType("flaky")
        module.flaky = lambda given=None, **options: given or (lambda test: test)  # type: ignore[attr-defined]
        sys.modules["flaky"] = module
    warns = pytest.warns

    def warns_of_then(expected: Any = Warning, *given: Any, **keywords: Any) -> Any:
        if expected is None:
            return pytest.WarningsRecorder(_ispytest=True)
        return warns(expected, *given, **keywords)

    pytest.warns = warns_of_then  # type: ignore[assignment]


def pytest_pycollect_makemodule(module_path: Any) -> None:
    """Give a file that needs them the arguments and names that TensorFlow's own helpers of tests had."""
    source = module_path.read_text(encoding="utf-8")
    if "reset_test=" in source:
        from tensorflow.python.framework import test_util

        decorate = test_util.run_in_graph_and_eager_modes
        if "reset_test" not in inspect.signature(decorate).parameters:
            test_util.run_in_graph_and_eager_modes = lambda func=None, reset_test=True, **options: decorate(
                func, **options
            )


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out what is done, or not asked for, and set the mode that the file sets as a script."""
    done, only = _ids("SUITES_DONE") or set(), _ids("SUITES_ONLY")
    if os.environ.get("SUITES_SAMPLE"):
        first: dict[str, Any] = {}
        for item in sorted(items, key=lambda item: "_v2_function" not in item.nodeid):  # as a user has it, and faster
            first.setdefault(_without_parameters(item.nodeid), item)
        items[:] = [item for item in items if item in first.values()]
    items[:] = [item for item in items if item.nodeid not in done and (only is None or item.nodeid in only)]
    for module in {item.module for item in items}:
        with open(module.__file__, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for node in list(ast.walk(tree)):
            if isinstance(node, ast.If) and "__main__" in ast.dump(node.test):
                for statement in node.body:
                    called = getattr(getattr(statement, "value", None), "func", None)
                    if getattr(called, "attr", "") in _MODES:
                        tree.body = [statement]
                        exec(compile(tree, module.__file__, "exec"), vars(module))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    """End a test that hangs."""

    def late(signum: int, frame: Any) -> None:
        raise TimeoutError(f"not done after {_LIMIT} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(_LIMIT)
    _note(test=item.nodeid, outcome="started")
    yield
    signal.alarm(0)


def pytest_collectreport(report: Any) -> None:
    """Write down a file that cannot be imported."""
    if report.outcome == "failed":
        _note(test=report.nodeid, outcome="not collected", why=str(report.longrepr)[-3000:])


def pytest_runtest_logreport(report: Any) -> None:
    """Write down what became of a test."""
    if report.when != "call" and report.outcome == "passed":
        return
    why = ""
    if report.outcome == "failed":
        why = str(report.longrepr)[-4000:]
    elif isinstance(report.longrepr, tuple):
        why = report.longrepr[2]
    _note(test=report.nodeid, outcome=report.outcome, why=why, seconds=round(report.duration, 2))
