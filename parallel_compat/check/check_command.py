"""`parallel-compat check`: all that a project needs before it can run, at once and without TensorFlow."""

from __future__ import annotations

import argparse
import os
import sys

from parallel_compat.check import project

_MOST = 8  # of one kind on one line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", default=".", metavar="DIR", help="the project, or one script (default: .)")


def run(arguments: argparse.Namespace) -> int:
    """Print what the project needs; return 1 if something is missing or needs manual work."""
    if not os.path.exists(arguments.path):
        print(f"parallel-compat check: error: there is no {arguments.path!r}.", file=sys.stderr)
        return 2
    found = project.check(arguments.path)
    print("\n".join(lines(found)))
    return 1 if found.missing or found.unknown or found.data or found.hand or found.python_2 else 0


def lines(found: project.Found) -> list[str]:
    """Return what was found, for people."""
    listed = [f"{found.sources} sources in {found.folder}"]
    listed += [f"  Keras: {era} ({', '.join(names)}): {reason}" for era, (reason, names) in found.eras.items()]
    if found.python_2:
        listed.append(
            f"  Python 2: {len(found.python_2)} of {found.sources} sources ({_some(found.python_2)}). "
            f"First: parallel-compat migrate --python2 --select python-2-names --write {found.folder}"
        )
    if found.pip:
        listed.append(f"  Not installed. Run: pip install {' '.join(found.pip)}")
    if found.unknown:
        names = [f"{name} ({where})" for name, where in found.unknown.items()]
        listed.append(f"  Not found, and named by no file of requirements: {_some(names)}")
        listed.append("    Modules that the project lacks, or packages: see its README before you install any.")
    listed += [f"  Needs manual work: {what} ({where})" for what, where in found.hand.items()]
    if found.data:
        names = [f"{name} ({where})" for name, where in found.data.items()]
        listed.append(f"  Files that are opened but missing: {_some(names)}")
    if found.answered:
        listed.append(f"  Old names of other packages, answered by `run`: {_some(sorted(found.answered))}")
    if len(listed) == 1:
        listed.append("  Nothing is missing.")
    return listed


def _some(names: list[str]) -> str:
    return ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
