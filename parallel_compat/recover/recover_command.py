"""`parallel-compat recover FILE -o OUT`: write the single model that is in a file."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable

from parallel_compat import startup_log
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.inspect_command import add_max_bytes, some
from parallel_compat.recover.safe_names import printable

LONG_WORK = 64 << 20  # bytes from which a progress bar is of use


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        help="an .h5 or .hdf5 file of Keras 1, Keras 2 or tf.keras, of a parallel or a single model",
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", required=True, help="output file: .keras, .h5, .hdf5 or .weights.h5"
    )
    parser.add_argument("--weights-only", action="store_true", help="write the weights without the config")
    parser.add_argument(
        "--architecture",
        metavar="FILE",
        help="for a file of weights: file with the model's config, as JSON or another old file",
    )
    parser.add_argument(
        "--keep-lambda", action="store_true", help="keep the model's own Lambda layers, as data that is not executed"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing OUT")
    add_max_bytes(parser)


def run(arguments: argparse.Namespace) -> int:
    """Recover the file; 2 if that is not possible."""
    startup_log.leave_out()
    from parallel_compat.recover.recovering import recover

    with contextlib.ExitStack() as stack:
        try:
            found = recover(
                arguments.file,
                arguments.output,
                weights_only=arguments.weights_only,
                architecture=arguments.architecture,
                keep_lambda=arguments.keep_lambda,
                force=arguments.force,
                max_bytes=arguments.max_bytes,
                started=lambda total: _bar(stack, total),
            )
        except (CheckpointError, OSError) as error:
            stack.close()
            print(f"parallel-compat recover: error: {printable(str(error))}", file=sys.stderr)
            return 2
    for note in some(found.notes):
        print(f"note: {printable(note)}", file=sys.stderr)
    wrappers = found.template.wrappers
    source = f"a parallel model over {wrappers[0].gpus} devices" if wrappers else "a single model"
    print(
        f"{arguments.output}: {len(found.template.stored.weights)} weights, from "
        f"{printable(arguments.file)} ({source}, Keras {printable(str(found.template.stored.keras_version))})"
    )
    return 0


def _bar(stack: contextlib.ExitStack, total: int) -> Callable[[int], object]:
    """Show a progress bar where somebody looks and the work is long."""
    if total < LONG_WORK or not sys.stderr.isatty():
        return lambda count: None
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    progress = stack.enter_context(
        Progress(
            BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(), console=Console(stderr=True)
        )
    )
    work = progress.add_task("recover", total=total)
    return lambda count: progress.advance(work, count)
