"""`parallel-compat inspect FILE`: say what a checkpoint is."""

from __future__ import annotations

import argparse
import json
import sys

from parallel_compat import startup_log
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.inspecting import InspectedCheckpoint
from parallel_compat.recover.safe_names import printable

MOST_LINES = 40  # of one kind
FORMS = {
    "model": "whole model",
    "weights": "weights only",
    "keras3": "weights, in Keras 3's own format",
    "recording": "the recording of a training",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="an .h5 or .hdf5 file")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    add_max_bytes(parser)


def add_max_bytes(parser: argparse.ArgumentParser) -> None:
    """Add the limit that a user may raise."""
    parser.add_argument(
        "--max-bytes",
        type=int,
        metavar="N",
        help="limit of the total size of the arrays (default: eight times the file's size)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print what the file is; 2 if it cannot be read."""
    startup_log.leave_out()
    from parallel_compat.recover.inspecting import inspect_checkpoint

    try:
        found = inspect_checkpoint(arguments.file, max_bytes=arguments.max_bytes)
    except CheckpointError as error:
        print(f"parallel-compat inspect: error: {printable(str(error))}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(found.as_dict(), indent=2))
    else:
        _print_table(found)
    return 0


def some(sentences: list[str]) -> list[str]:
    """Return the first sentences of what may be very many, and how many more there are."""
    left = len(sentences) - MOST_LINES
    return sentences if left <= 0 else [*sentences[:MOST_LINES], f"... and {left:,} more"]


def _print_table(found: InspectedCheckpoint) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)

    def line(what: str, said: object) -> None:
        console.print(Text(printable(f"{what:<11}{said}")), soft_wrap=True)

    line("file", f"{found.path} ({found.bytes:,} bytes)")
    line("holds", FORMS[found.form])
    around = [f"a parallel model over {one.gpus} devices ({one.style})" for one in found.parallel]
    if found.form == "recording":
        line("written by", found.keras_version)
    else:
        line("written by", f"{', around '.join(around) if around else 'a single model'}, Keras {found.keras_version}")
    if found.name is not None:
        line("template", f"{found.name} ({found.class_name})" if found.class_name else found.name)
    line("parameters", f"{found.parameters:,}")
    line("optimizer", f"{found.optimizer or 'not said'}, {found.optimizer_arrays} arrays of state")
    if found.loss is not None:
        line("loss", found.loss)
    table = Table("layer", "class", "shapes", "parameters", title=None)
    for layer in found.layers:
        shapes = ", ".join(str(shape) for shape in layer.shapes)
        table.add_row(
            *(Text(printable(cell)) for cell in (layer.name, layer.class_name or "", shapes, f"{layer.parameters:,}"))
        )
    console.print(table)
    if found.lambdas:
        line("Lambda", f"{', '.join(some(list(found.lambdas)))} (bytecode, not run)")
    for sentence in some([f"{name} in {', '.join(places[:5])}" for name, places in found.custom.items()]):
        line("not Keras", sentence)
    for sentence in some([*found.refused, *found.notes]):
        line("note", sentence)
