"""`parallel-compat names`: what the names of old Keras are today."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from parallel_compat.names import table
from parallel_compat.names.table import Status

if TYPE_CHECKING:
    import argparse

SPELLINGS = ("keras", "tf.keras", "tensorflow.keras", "tensorflow.python.keras")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommand's arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="names to look up, such as keras.utils.np_utils")


def run(arguments: argparse.Namespace) -> int:
    """Print the counts, or what became of the names that are given."""
    if not arguments.names:
        print("\n".join(counts()))
        return 0
    unknown = 0
    for name in arguments.names:
        entry, module = table.lookup(name), table.module(name)
        if entry is not None:
            print(f"{name}: {entry.status.value}" + (f", {entry.target}" if entry.target else f". {entry.note}"))
        elif module:
            print(f"{name}: a module, today {module}")
        else:
            unknown += 1
            print(f"{name}: not a name that the table knows.", file=sys.stderr)
    return 1 if unknown else 0


def counts() -> list[str]:
    """Return the table of counts in Markdown, as it stands in the README."""
    lines = [
        f"| {len(table.keras_2_2_4()):,} names of Keras 2.2.4 under | same | moved | provided here | gone |",
        "|---|---|---|---|---|",
    ]
    for spelling in SPELLINGS:
        found = table.counts(spelling)
        cells = [found[status] for status in (Status.SAME, Status.MOVED, Status.PROVIDED, Status.GONE)]
        lines.append(f"| `{spelling}` | " + " | ".join(map(str, cells)) + " |")
    return lines
