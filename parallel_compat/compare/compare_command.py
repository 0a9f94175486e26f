"""`parallel-compat compare SCRIPT`: run it on its original and rewritten for Keras 3, and say what differs.

`parallel-compat compare RECORDING SCRIPT` takes what `record_keras.py` wrote on an old machine for the original.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from parallel_compat import html_report
from parallel_compat.atomic_file import replacing, why_not_writable
from parallel_compat.names.eras import Era

if TYPE_CHECKING:
    from parallel_compat.compare.comparison import Comparison

EPILOG = """examples:
  parallel-compat compare train.py                    a migrated copy against the original, on this machine
  parallel-compat compare --unsafe train.py           migrated with --unsafe
  parallel-compat compare --with native train.py      migrated to plain Keras 3
  parallel-compat compare --with ported/ train.py     your own port, in a folder
  parallel-compat compare --report page.html --replicas 2 train.py --epochs 3

with a recording of an old machine:
  parallel-compat recorder > record_keras.py          one file, for the old environment
  python record_keras.py --out old.h5 train.py        there
  parallel-compat compare old.h5 train.py             here: unmodified, under `parallel-compat run`
  parallel-compat compare --plain old.h5 migrated/train.py
"""
DIFFERENT, COULD_NOT_RUN = 1, 2
_HDF5 = b"\x89HDF\r\n\x1a\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    _add_options(parser)
    parser.add_argument("script", metavar="SCRIPT", help="the old script, or a recording and then the script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="its arguments")


def _add_options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    add = parser.add_argument
    return [
        add(
            "--with",
            dest="other",
            default="migrated",
            metavar="WHAT",
            help="what is compared with the original: migrated (a copy that `migrate` rewrites, the default), native "
            "(a copy rewritten to plain Keras 3), a folder with your own port, or a recording of an old machine",
        ),
        add("--unsafe", action="store_true", help="rewrite the copy with `migrate --unsafe`"),
        add("--plain", action="store_true", help="with a recording: run the script unchanged, on Keras 3"),
        add("--replicas", type=int, metavar="N", help="simulate N GPUs in each run, as `run` does"),
        add(
            "--era",
            choices=[era.value for era in Era],
            metavar="NAME",
            help="the Keras of the original, see `parallel-compat run`",
        ),
        add("--steps", type=int, metavar="N", help="end each run after N steps of training"),
        add("--report", metavar="FILE", help="write --html to FILE if it ends in .html, else --json"),
        add("--json", metavar="FILE", help="write everything that was compared to FILE"),
        add("--html", metavar="FILE", help="write a page with verdict, loss curves and tables to FILE"),
        add("--max-bytes", type=int, metavar="N", help="limit of the total size of a recording's arrays, in bytes"),
        add("--verbose", action="store_true", help="show what the script prints"),
    ]


def run(arguments: argparse.Namespace) -> int:
    """Compare; 0 if everything is equal, 1 if something differs or was not compared, 2 if it could not run."""
    from parallel_compat.compare.runs import CannotRun
    from parallel_compat.recover.errors import CheckpointError

    recording = arguments.script if _is_hdf5(arguments.script) else None
    if recording is not None:
        if not arguments.arguments:
            return _fail(f"expected a script after the recording. Received: {recording} alone")
        arguments.script, arguments.arguments = arguments.arguments[0], arguments.arguments[1:]
    arguments = _options_after_script(arguments)
    if recording is None and _is_hdf5(arguments.other):
        recording = arguments.other
    if not os.path.isfile(arguments.script):
        return _fail(f"expected a script. Received: {arguments.script}, which is not a file")
    for number in (arguments.replicas, arguments.steps):
        if number is not None and number < 1:
            return _fail(f"expected a whole number from 1 for --replicas and --steps. Received: {number}")
    if arguments.report:
        setattr(arguments, "html" if html_report.is_page(arguments.report) else "json", arguments.report)
    for path in filter(None, (arguments.json, arguments.html)):
        if unwritable := why_not_writable(path):
            return _fail(f"expected a file that can be written. Received: {path}: {unwritable}")
    try:
        found = _compared(arguments, recording)
    except (CheckpointError, CannotRun) as error:
        return _fail(str(error))
    _write(found, arguments)
    print("\n".join(summary(found)))
    return 0 if found.is_equal else DIFFERENT


def _is_hdf5(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_HDF5)) == _HDF5


def _options_after_script(arguments: argparse.Namespace) -> argparse.Namespace:
    """Take options of this command that stand right after the script; `--` ends them."""
    parser = argparse.ArgumentParser(prog="parallel-compat compare", add_help=False, allow_abbrev=False)
    flags = {flag: action.nargs != 0 for action in _add_options(parser) for flag in action.option_strings}
    given: list[str] = []
    left = list(arguments.arguments)
    while left and left[0].partition("=")[0] in flags:
        has_value = flags[left[0].partition("=")[0]] and "=" not in left[0]
        given, left = given + left[: 1 + has_value], left[1 + has_value :]
    arguments.arguments = left[1:] if left[:1] == ["--"] else left
    return parser.parse_args(given, arguments)


def _compared(arguments: argparse.Namespace, recording: str | None) -> Comparison:
    from parallel_compat.compare.comparison import compare, era_of
    from parallel_compat.compare.differences import Finding
    from parallel_compat.compare.recordings import read_recording
    from parallel_compat.compare.runs import CannotRun, Runs, Script, original_era

    folder = Path(arguments.other) if recording is None and arguments.other not in ("migrated", "native") else None
    if folder is not None and not folder.is_dir():
        raise CannotRun(f"expected migrated, native, a folder or a recording for --with. Received: {folder}")
    script = Script.of(arguments.script, arguments.arguments)
    old = None if recording is None else read_recording(recording, arguments.max_bytes)
    era = Era(arguments.era) if arguments.era else None if old is None else era_of(old)
    if old is not None and arguments.plain:
        era = Era.TODAY
    with Runs(
        script,
        era or original_era(arguments.script, None),
        replicas=arguments.replicas,
        most=arguments.steps,
        verbose=arguments.verbose,
    ) as runs:
        if old is not None:
            found = compare(old, runs.recorded(old), sources=script.sources())
        else:
            old, again = runs.original(), runs.original_again()
            if folder is not None:
                new = runs.folder(folder)
            else:
                options = ["--era", arguments.era] * (arguments.era is not None)
                options += ["--unsafe"] * arguments.unsafe + ["--to", "native"] * (arguments.other == "native")
                new, _ = runs.migrated(*options)
            found = compare(old, new, again, script.sources(), runs.era)
            found.seconds = runs.seconds
        found.findings += [(None, Finding("not compared", "run", None, each)) for each in runs.failed]
        return found


def _write(found: Comparison, arguments: argparse.Namespace) -> None:
    if arguments.json:
        with replacing(arguments.json) as temporary:
            temporary.write_text(json.dumps(found.as_dict(), indent=1), "utf-8")
    if arguments.html:
        from parallel_compat.compare.page import page

        with replacing(arguments.html) as temporary:
            temporary.write_text(page(found, arguments.script, arguments.words), "utf-8")


def _fail(text: str) -> int:
    print(f"parallel-compat compare: error: {text}", file=sys.stderr)
    return COULD_NOT_RUN


def summary(found: Comparison) -> list[str]:
    """Return what a user reads: for each model what differs first, and why; then the verdict."""
    from parallel_compat.compare.differences import ulp

    lines = [f"{found.stacks[0]} ({found.first_run}) and {found.stacks[1]} (here)"]
    for number, name in enumerate(found.models):
        curve, steps = found.curves[number], found.steps[number]
        lines.append(f"  model {name}: {_state(found, number)}")
        if curve.again and curve.compared:
            lines.append(f"    loss of step {curve.compared - 1}: {curve.at(curve.compared - 1)}")
        if left_out := sum(step.left_out for step in steps):
            lines.append(f"    {left_out} weights left out: their gradients are only rounding")
        differing = {finding.kind for model, finding in found.findings if model == number}
        if results := {kind: value for kind, value in found.results[number].items() if kind not in differing}:
            lines.append(f"    {', '.join(results)}: within {ulp(list(results.values())):,.0f} ulp")
        lines += [f"    {sentence}" for model, sentence in found.notes if model == number]
    for sentence in dict.fromkeys(finding.text for _, finding in found.findings if finding.kind == "not compared"):
        lines.append(f"  not compared: {sentence}")
    return [*lines, found.verdict()]


def _state(found: Comparison, number: int) -> str:
    for model, place, finding in found.in_order():
        if model == number:
            reason = found.reason(model, finding)
            told = [f"{place.partition(', ')[2] or 'differs'}: {finding.text}"]
            told += [f"why: {reason.text}", f"what to do: {reason.remedy}"] if reason else []
            return "\n    ".join(told)
    detailed = found.steps[number]
    kinds = dict.fromkeys(kind for step in detailed for kind in step.differences)
    return f"equal ({len(detailed)} steps in detail: {', '.join(kinds)}; {found.curves[number].compared} losses)"
