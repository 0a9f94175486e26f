"""`parallel-compat compare RECORDING SCRIPT`: run the script here, from the recorded weights, and say what differs."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from parallel_compat.names.eras import Era

if TYPE_CHECKING:
    from parallel_compat.compare.comparison import Comparison

EPILOG = """examples:
  parallel-compat recorder > record_keras.py          writes the recorder
  python record_keras.py --out old.h5 train.py        in the old environment
  parallel-compat compare old.h5 train.py             here, under `parallel-compat run`
  parallel-compat compare --plain old.h5 migrated/train.py
  parallel-compat compare --replicas 2 one_device.h5 train.py
"""
DIFFERENT, COULD_NOT_RUN = 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the subcommand takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("--plain", action="store_true", help="run the script with plain Python, without `run`")
    parser.add_argument("--replicas", metavar="N", help="see `parallel-compat run --help`")
    parser.add_argument(
        "--era", choices=[era.value for era in Era], metavar="NAME", help="see `parallel-compat run --help`"
    )
    parser.add_argument("--json", metavar="FILE", help="write all compared values to FILE")
    parser.add_argument("--html", metavar="FILE", help="write a page that plots the differences to FILE")
    parser.add_argument("--max-bytes", type=int, metavar="N", help="limit of the total size of the arrays")
    parser.add_argument("recording", metavar="RECORDING", help="the file that record_keras.py wrote")
    parser.add_argument("script", metavar="SCRIPT", help="the script, old or migrated")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="its arguments")


def run(arguments: argparse.Namespace) -> int:
    """Compare; 0 if everything is equal, 1 if something differs or was not compared, 2 if it could not run."""
    from parallel_compat.compare.comparison import compare
    from parallel_compat.compare.recordings import read_recording
    from parallel_compat.recover.errors import CheckpointError

    try:
        old = read_recording(arguments.recording, arguments.max_bytes)
    except CheckpointError as error:
        return _fail(str(error))
    if not os.path.isfile(arguments.script):
        return _fail(f"expected a script. Received: {arguments.script}, which is no file")
    for path in filter(None, (arguments.json, arguments.html)):
        if not os.access(os.path.dirname(os.path.abspath(path)), os.W_OK):
            return _fail(f"expected a file in a folder that can be written. Received: {path}")
    with tempfile.TemporaryDirectory(prefix="parallel-compat-") as folder:
        out = os.path.join(folder, "here.h5")
        steps = max((len(model["steps"]) for model in old.models), default=1)
        code = subprocess.call(_command(arguments, out, max(steps, 1), bool(old.facts.get("no_dropout"))))
        if not os.path.exists(out):
            return _fail(f"the script trained no model here (it ended with {code})")
        try:
            found = compare(old, read_recording(out, arguments.max_bytes))
        except CheckpointError as error:
            return _fail(str(error))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(found.as_dict(), file, indent=1)
    if arguments.html:
        from parallel_compat.compare.page import page

        with open(arguments.html, "w", encoding="utf-8") as file:
            file.write(page(found, arguments.script, arguments.words))
    print("\n".join(summary(found)))
    if code:
        print(f"parallel-compat compare: the script ended with {code}", file=sys.stderr)
    return 0 if found.is_equal and not code else DIFFERENT


def _command(arguments: argparse.Namespace, out: str, steps: int, silent: bool) -> list[str]:
    from parallel_compat.compare.recorder_command import PATH

    recorder = [PATH, "--steps", str(steps), "--replay", os.path.abspath(arguments.recording), "--out", out]
    recorder += ["--no-dropout"] if silent else []
    script = [arguments.script, *arguments.arguments]
    if arguments.plain:
        return [sys.executable, *recorder, *script]
    options = ["--quiet"]
    options += ["--replicas", arguments.replicas] if arguments.replicas else []
    options += ["--era", arguments.era] if arguments.era else []
    return [sys.executable, "-m", "parallel_compat", "run", *options, *recorder, *script]


def _fail(text: str) -> int:
    print(f"parallel-compat compare: error: {text}", file=sys.stderr)
    return COULD_NOT_RUN


def summary(found: Comparison) -> list[str]:
    """Return what a user reads: each model and step in a line, the first difference with its reason, the verdict.

    Args:
        found: what was compared.
    """
    from parallel_compat.compare.differences import ulp
    from parallel_compat.compare.reasons import reason_of

    lines = [f"{found.stacks[0]} (recorded) and {found.stacks[1]} (here)"]
    for name, steps in zip(found.models, found.steps, strict=False):
        for number, step in enumerate(steps):
            kinds = ", ".join(dict.fromkeys(finding.kind for finding in step.findings))
            state = f"differs: {kinds}" if step.findings else "equal"
            compared = {kind: value for kind, value in step.differences.items() if kind != "step"}
            line = f"  model {name}, step {number}: {state}"
            if compared:
                line += f" (all but the weights within {ulp(list(compared.values())):,.0f} ulp)"
            if step.left_out:
                line += f"; {step.left_out} weights with a gradient of rounding alone left out"
            lines.append(line)
    for name, results in zip(found.models, found.results, strict=False):
        if results:
            kinds = ", ".join(results)
            lines.append(f"  model {name}, {kinds}: within {ulp(list(results.values())):,.0f} ulp")
    lines += [f"  model {found.models[model]}: {sentence}" for model, sentence in found.notes]
    for sentence in dict.fromkeys(finding.text for _, finding in found.findings if finding.kind == "not compared"):
        lines.append(f"  not compared: {sentence}")
    first = found.first()
    if first is None:
        return [*lines, "equal"]
    place, finding = first
    lines.append(f"first difference: {place}: {finding.text}")
    reason = reason_of(finding)
    if reason is not None:
        lines += [f"  why: {reason.text}", f"  what to do: {reason.remedy}"]
    return lines
