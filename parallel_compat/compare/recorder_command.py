"""`parallel-compat recorder`: print the one file that records a script in an old environment."""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "recorder"
PARTS = ("recording", "values", "models", "watched_model", "steps", "draws", "hooks", "main")  # each needs earlier ones


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the subcommand takes: nothing."""
    parser.epilog = (
        "Write it to a file: parallel-compat recorder > record_keras.py. Copy that to the old environment and run: "
        "python record_keras.py --out recording.h5 train.py ARGS"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the file."""
    sys.stdout.write(text())
    return 0


def text() -> str:
    """Return the file: all parts, after the docstring of the last one and the imports of all."""
    imports: set[str] = set()
    bodies: list[str] = []
    for name in PARTS:
        lines = (FOLDER / f"{name}.py").read_text("utf-8").splitlines()
        head = [node for node in ast.parse("\n".join(lines)).body if isinstance(node, (ast.Import, ast.ImportFrom))]
        imports |= {ast.unparse(node) for node in head if isinstance(node, ast.Import)}
        bodies.append("\n".join(lines[head[-1].end_lineno :]).strip())
    docstring = "\n".join(lines[: head[0].lineno - 1])
    top = f"# -*- coding: utf-8 -*-\n{docstring}\nfrom __future__ import print_function"
    return "\n\n\n".join(["\n".join([top, "", *sorted(imports)]), *bodies]) + "\n"


def write(folder: Path) -> Path:
    """Write the file into a folder; return its path."""
    path = folder / "record_keras.py"
    path.write_text(text(), "utf-8")
    return path
