"""`parallel-compat originals`: list, fetch and remove the old Keras versions on this machine."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from parallel_compat.originals import cache, cache_changes
from parallel_compat.originals.catalogue import ORIGINALS
from parallel_compat.originals.fetching import FetchError, fetch, megabytes

COULD_NOT = 2
_ERROR = "parallel-compat originals: error:"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions (without one: the list)")
    fetching = actions.add_parser("fetch", help="fetch missing or damaged originals")
    fetching.add_argument(
        "--from",
        dest="wheels_from",
        type=Path,
        metavar="FOLDER",
        help="use the wheels in this folder, without a network",
    )
    removing = actions.add_parser("remove", help="remove originals")
    for each in (fetching, removing):
        each.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(ORIGINALS)} (default: all)")
    for each in (parser, fetching, removing):
        each.add_argument(
            "--cache",
            metavar="FOLDER",
            default=argparse.SUPPRESS,  # that of an action does not reset the one before it
            help=f"folder of the originals (default: the variable {cache.VARIABLE}, else the user's cache)",
        )


def run(arguments: argparse.Namespace) -> int:
    """List, fetch or remove; 2 if that is not possible."""
    if "cache" in arguments:
        os.environ[cache.VARIABLE] = arguments.cache
    names = getattr(arguments, "names", None) or list(ORIGINALS)
    if unknown := [name for name in names if name not in ORIGINALS]:
        print(f"{_ERROR} Expected {', '.join(ORIGINALS)}. Received: {', '.join(unknown)}.", file=sys.stderr)
        return COULD_NOT
    try:
        if arguments.action is None:
            _print_list(arguments.json)
            return 0
        for name in names:
            if arguments.action == "remove":
                _remove(name)
            else:
                _fetch(name, arguments.wheels_from)
    except FetchError as error:
        print(f"{_ERROR} {error}", file=sys.stderr)
        return COULD_NOT
    return 0


def _fetch(name: str, wheels_from: Path | None) -> None:
    if cache.is_complete(name, contents=True):
        print(f"{ORIGINALS[name].title} is there: {cache.folder(name)}")
    fetch(name, wheels_from=wheels_from, contents=True)


def _remove(name: str) -> None:
    title = ORIGINALS[name].title
    try:
        removed = cache_changes.remove(name, lambda: print(f"{title}: waiting for another process", file=sys.stderr))
    except OSError as error:
        raise FetchError(f"Expected to remove {title} from {cache.root()}. Received: {error.strerror}.") from error
    print(f"{title} is removed" if removed else f"{title} was not there")


def _print_list(as_json: bool) -> None:
    found: list[dict[str, Any]] = [
        {
            "name": original.name,
            "title": original.title,
            "state": cache.state(original.name),
            "download_bytes": sum(wheel.size for wheel in original.wheels),
            "bytes": cache.size(original.name),
            "folder": str(cache.folder(original.name)),
        }
        for original in ORIGINALS.values()
    ]
    if as_json:
        print(json.dumps(found, indent=2))
        return
    header = ("name", "original", "state", "download", "on disk", "folder")
    rows: list[tuple[str, ...]] = [
        (
            one["name"],
            one["title"],
            one["state"],
            megabytes(one["download_bytes"]),
            megabytes(one["bytes"]) if one["bytes"] else "",
            one["folder"],
        )
        for one in found
    ]
    if sys.stdout.isatty():
        _print_table(header, rows)
        return
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _print_table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Print a table that fits into a terminal; the common folder has its own line."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*header[:-1])
    for row in rows:
        table.add_row(*[Text(cell) for cell in row[:-1]])
    console = Console(highlight=False)
    console.print(table)
    console.print(Text(f"in {cache.root()}"), soft_wrap=True)
