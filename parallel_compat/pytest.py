"""A pytest plugin: `pytest -p parallel_compat.pytest` runs an old project's tests on the Keras of their time."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest

from parallel_compat.names.eras import Era
from parallel_compat.names.project_era import Decision, era_of_project
from parallel_compat.originals import activate
from parallel_compat.originals.settings import Settings
from parallel_compat.run import remedies, report, report_file, today
from parallel_compat.run.environment import SETTINGS, settings, startup_folder

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

_REPLICAS = "pytest --legacy-replicas {}"
_before: dict[str, str | None] = {}
_told: dict[str, Any] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that `parallel-compat run` has as well."""
    group = parser.getgroup("parallel_compat")
    group.addoption("--legacy-report", metavar="FILE", help="write the report to FILE: a page if it ends in .html")
    group.addoption(
        "--legacy-era",
        choices=[era.value for era in Era],
        help="the Keras that the tests run with (default: detected from the project's files)",
    )
    group.addoption("--legacy-replicas", type=int, metavar="N", help="simulate N GPUs if there are fewer")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Put the original in place before a conftest is imported, which may import Keras."""
    _start(early_config.known_args_namespace)


def pytest_configure(config: pytest.Config) -> None:
    """Do so where the plugin is named by `pytest_plugins` in a conftest, and not by `-p`."""
    _start(config.option)
    # Worker processes that draw batches import the tests' modules as well.
    _before.update({name: os.environ.get(name) for name in (SETTINGS, "PYTHONPATH")})
    os.environ[SETTINGS] = json.dumps({**_told, "quiet": True})
    os.environ["PYTHONPATH"] = os.pathsep.join([startup_folder(), *filter(None, [os.environ.get("PYTHONPATH")])])


def _start(options: argparse.Namespace) -> None:
    if _told:
        return
    if options.legacy_era:
        decision = Decision(
            Era(options.legacy_era), frozenset(), 0, f"--legacy-era {options.legacy_era}", certain=True, hint=""
        )
    else:
        decision = era_of_project(code=_sources(options.file_or_dir))
    _told.update(
        settings(
            era=decision.era.value,
            why=decision.reason,
            certain=decision.certain,
            hint=decision.hint.replace("--era", "--legacy-era"),
            replicas=options.legacy_replicas,
            script=" ".join(options.file_or_dir),
            command=shlex.join(["pytest", *sys.argv[1:]]),
        )
    )
    if decision.era is not Era.TODAY:
        activate.activate(Settings(decision.era, options.legacy_replicas, tensorflow=decision.tensorflow))
    else:
        today.prepare(replicas=options.legacy_replicas, resume=None, every=None, workers=False)


def _sources(paths: list[str]) -> str:
    """Return the imports of the tests, which say whose Keras they use."""
    found = []
    for path in paths or ["."]:
        path = path.partition("::")[0]
        files = [path]
        if os.path.isdir(path):
            files = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
        for file in files:
            if file.endswith(".py") and os.path.isfile(file):
                with open(file, encoding="utf-8", errors="replace") as opened:
                    found += [line.strip() for line in opened if line.lstrip().startswith(("import ", "from "))]
    return "\n".join(line for line in dict.fromkeys(found) if not line.endswith(("(", "\\", ",")))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Say below a test's error what to do about it, where a way out is known."""
    outcome: Any = yield
    line = remedies.remedy(call.excinfo.value, _REPLICAS) if call.excinfo is not None else None
    if line is not None:
        outcome.get_result().sections.append(("parallel-compat", line))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the report."""
    made = report.make(_told)
    path = config.getoption("--legacy-report")
    if path:
        report_file.write(made, path)
    text = report.summary(made)
    if text:
        terminalreporter.section("parallel-compat")
        terminalreporter.write_line(text)


def pytest_unconfigure() -> None:
    """Put the environment back."""
    for name, value in _before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    _before.clear()
