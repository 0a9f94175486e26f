"""`parallel-compat run`: an old script, unmodified, on today's TensorFlow.

The script is run by a Python of its own (`os.execve`: the same process, where the system has it), started as the
user would start it. So `sys.argv`, `sys.path`, `__main__`, exit codes, signals and tracebacks are Python's own. What
is added comes from a `sitecustomize` module on PYTHONPATH, which child processes therefore find as well.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

from parallel_compat import missing_keras, startup_log
from parallel_compat.names import old_sources
from parallel_compat.names.eras import Era
from parallel_compat.names.project_era import Decision, era_of_project
from parallel_compat.originals import cache, fetching
from parallel_compat.run import script_argument, workers
from parallel_compat.run.environment import MAIN, SETTINGS, settings, startup_folder

EPILOG = """examples:
  parallel-compat run train.py --epochs 3
  parallel-compat run --replicas 2 train.py       two devices, also without a GPU
  parallel-compat run --workers 2 train.py        two processes, each with its part of each batch
  srun parallel-compat run train.py               several machines, under Slurm
  parallel-compat run -m my_project.train         a module, as `python -m` does
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.usage = (
        "parallel-compat run [--replicas N] [--workers N] [--era NAME] [--resume DIR [--every N]] [--report FILE] "
        "[--quiet] [--verbose] [--allow-lambdas] [--cache DIR] (SCRIPT | -m MODULE | -c CODE | -) [ARGS ...]"
    )
    parser.add_argument(
        "--replicas",
        type=_replicas,
        metavar="N",
        help="simulate N GPUs if there are fewer (default: use the real devices)",
    )
    parser.add_argument(
        "--workers",
        type=_replicas,
        metavar="N",
        help="train with N processes on this machine; `gpus=` then counts the devices of each process (default: what "
        "TF_CONFIG or Slurm says, else 1)",
    )
    parser.add_argument(
        "--era",
        choices=[era.value for era in Era],
        metavar="NAME",
        help="the Keras to run: "
        + ", ".join(era.value for era in Era if era is not Era.TODAY)
        + ", or today (the installed Keras 3) (default: detected from the project's files)",
    )
    parser.add_argument(
        "--resume",
        metavar="DIR",
        help="save the state of each `fit` in DIR after each epoch; after an interruption the same command continues "
        "from there",
    )
    parser.add_argument(
        "--every", type=_replicas, metavar="N", help="with --resume: also save the state after every N batches"
    )
    parser.add_argument(
        "--report", metavar="FILE", help="write the report to FILE: a page if it ends in .html, else JSON"
    )
    parser.add_argument("--quiet", action="store_true", help="print no report at the end")
    parser.add_argument("--verbose", action="store_true", help="show TensorFlow's start-up lines on stderr")
    parser.add_argument(
        "--allow-lambdas",
        action="store_true",
        help="let load_model execute the code of Lambda layers, as Keras 2 did: only for files that you trust",
    )
    parser.add_argument(
        "--cache",
        metavar="DIR",
        help=f"folder of the old libraries (default: the variable {cache.VARIABLE}, else the user's cache)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE", help="run a module")
    what.add_argument("-c", dest="code", nargs=argparse.REMAINDER, metavar="CODE", help="run this code")
    parser.add_argument("script", nargs="?", metavar="SCRIPT", help="the script to run, or - to read it from stdin")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="its arguments")
    parser.set_defaults(run_parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the script; where the system can replace a process, this does not return."""
    what = _what_to_run(arguments)
    if arguments.report:
        from parallel_compat.atomic_file import why_not_writable

        # Before hours of training rather than after.
        unwritable = why_not_writable(arguments.report)
        if unwritable:
            arguments.run_parser.error(f"argument --report: {unwritable}")
    if arguments.resume and os.path.exists(arguments.resume) and not os.path.isdir(arguments.resume):
        arguments.run_parser.error(f"argument --resume: expected a directory. Received: {arguments.resume}, a file")
    if arguments.every is not None and not arguments.resume:
        arguments.run_parser.error("argument --every: expected --resume DIR, too. Received: no directory")
    if sys.flags.ignore_environment:
        arguments.run_parser.error(
            "expected a Python that reads PYTHONPATH. Received: python -E or -I. Run parallel-compat without it"
        )
    if arguments.script not in (None, "-"):
        _look_at_script(arguments)
    if arguments.cache:
        os.environ[cache.VARIABLE] = os.path.abspath(arguments.cache)
    decision = _decide(arguments)
    if decision.python_2:
        script = arguments.script if arguments.script and os.path.isfile(arguments.script) else ""
        print(f"parallel-compat run: {_of_python_2(decision.python_2, script)}", file=sys.stderr)
        if os.path.basename(script) in decision.python_2:
            return 1
    if decision.era is not Era.TODAY:
        _refuse_workers(arguments)
        if not missing_keras.is_installed("tensorflow"):
            error = ModuleNotFoundError("No module named 'tensorflow'", name="tensorflow")
            print(f"parallel-compat run: {missing_keras.explain(error)}.", file=sys.stderr)
            return 2
        lacking = missing_keras.missing_of_old_keras() if decision.era in (Era.KERAS_2_2_4, Era.KERAS_2_3) else None
        if lacking:
            print(f"parallel-compat run: {lacking}", file=sys.stderr)
            return 2
        try:
            for name in _originals(decision):
                fetching.fetch(name)
        except cache.FetchError as error:
            print(f"parallel-compat run: {error}", file=sys.stderr)
            return 2
    command = [sys.executable, *subprocess._args_from_interpreter_flags(), *what]  # type: ignore[attr-defined]
    environment = _environment(arguments, decision)
    if arguments.workers is not None and arguments.workers > 1:
        if what == ["-"]:
            arguments.run_parser.error(
                "argument --workers: expected a file. Received: -, which only one process can read"
            )
        from parallel_compat.run import worker_processes

        return worker_processes.start(command, environment, arguments.workers)
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name != "nt":
        os.execve(sys.executable, command, environment)
    return subprocess.call(command, env=environment)


def _what_to_run(arguments: argparse.Namespace) -> list[str]:
    for flag, given in (("-m", arguments.module), ("-c", arguments.code)):
        if given is not None:
            if not given:
                arguments.run_parser.error(f"argument {flag}: expected one argument")
            return [flag, *given]
    if arguments.script is None:
        arguments.run_parser.error("expected SCRIPT, -m MODULE, -c CODE or -. Received: nothing to run")
    return [arguments.script, *arguments.arguments]


def _look_at_script(arguments: argparse.Namespace) -> None:
    """Refuse what Python cannot run, and say which options were probably meant for `run`."""
    script = arguments.script
    why_not = script_argument.why_not_a_script(script)
    if why_not:
        arguments.run_parser.error(why_not)
    own = re.findall(r"--[\w-]+", arguments.run_parser.format_usage())
    late = script_argument.options_after_script(script, arguments.arguments, own)
    if late:
        print(
            f"parallel-compat run: {' and '.join(late)} went to {script}, which does not use "
            f"{'it' if len(late) == 1 else 'them'}. Options of run come before the script: "
            f"parallel-compat run {late[0]} ... {script}",
            file=sys.stderr,
            flush=True,
        )


def _decide(arguments: argparse.Namespace) -> Decision:
    decision = _of_project(arguments)
    if arguments.era is None:
        return decision
    tensorflow = decision.tensorflow if decision.uses else 1
    era, reason = Era(arguments.era), f"--era {arguments.era}"
    return decision._replace(era=era, tensorflow=tensorflow, reason=reason, certain=True, hint="")


def _of_project(arguments: argparse.Namespace) -> Decision:
    if arguments.code is not None:
        return era_of_project(code=arguments.code[0])
    if arguments.module is not None:
        return era_of_project(module=arguments.module[0])
    if arguments.script == "-":
        return era_of_project(code=_read_and_give_back())
    return era_of_project(script=arguments.script)


def _read_and_give_back() -> str:
    """Read standard input, and let Python read it again."""
    read = sys.stdin.buffer.read()
    kept = tempfile.TemporaryFile()  # noqa: SIM115  # the script reads it after this process is replaced
    kept.write(read)
    kept.seek(0)
    os.dup2(kept.fileno(), 0)
    return read.decode("utf-8", "replace")


def _of_python_2(names: tuple[str, ...], script: str) -> str:
    """Return a sentence about sources of Python 2: the script, and how many of the project."""
    folder = os.path.dirname(os.path.abspath(script))
    old, count = old_sources.count_python_2(folder)
    rest = f" ({old} of {count} sources in its folder)" if count > 1 else ""
    what = os.path.relpath(folder) if count > 1 else names[0]
    return f"{names[0]} is Python 2 source{rest}. {old_sources.CONVERT_TO_RUN.replace('FILE', what)}"


def _originals(decision: Decision) -> list[str]:
    """Return the originals that a process needs, according to its sources."""
    names = [decision.era.value]
    if decision.era is Era.KERAS_2_3 and decision.tensorflow == 2:
        names.append(Era.TF_KERAS_2_2.value)
    elif decision.era is Era.KERAS_2_3 or (
        decision.era is Era.KERAS_2_2_4 and decision.uses & {"tf.keras", "tf.contrib", "tf.layers"}
    ):
        names.append(Era.TF_KERAS_1_15.value)
    return names


def _refuse_workers(arguments: argparse.Namespace) -> None:
    """Refuse several workers for an old script: its Keras does not support them."""
    by = workers.found() if arguments.workers is None else "--workers" if arguments.workers > 1 else None
    if by is None:
        return
    arguments.run_parser.error(
        f"expected a script that imports parallel_compat for several workers. Received: an old script, and {by}. "
        "Migrate it first: parallel-compat migrate --write SCRIPT (the report lists results that change). Or use one "
        "worker: --workers 1"
    )


def _environment(arguments: argparse.Namespace, decision: Decision) -> dict[str, str]:
    leave_out = not arguments.verbose and startup_log.LEVEL not in os.environ
    joins = workers.found() is not None if arguments.workers is None else arguments.workers > 1
    process_settings = settings(
        era=decision.era.value,
        why=decision.reason,
        certain=decision.certain,
        hint=decision.hint,
        tensorflow=decision.tensorflow,
        script=arguments.script if arguments.script not in (None, "-") else "",
        command=shlex.join(["parallel-compat", *arguments.words]),
        replicas=arguments.replicas,
        resume=os.path.abspath(arguments.resume) if arguments.resume else None,
        every=arguments.every,
        report=os.path.abspath(arguments.report) if arguments.report else None,
        quiet=arguments.quiet,
        allow_lambdas=arguments.allow_lambdas,
        startup_log=not leave_out,
        workers=joins,
    )
    log = {startup_log.LEVEL: startup_log.FATAL_ALONE} if leave_out else {}
    # Several devices make parts of one sample likely, for which oneDNN writes beyond a buffer: the gradient of a
    # convolution of 1 x 1 with strides of 2, as in a ResNet (TensorFlow 2.21 and 2.22, on a CPU). Originals run without
    # it anyway.
    kernels = {"TF_ENABLE_ONEDNN_OPTS": "0"} if arguments.replicas else {}
    paths = [startup_folder(), *filter(None, [os.environ.get("PYTHONPATH")])]
    same = workers.alike(dict(os.environ)) if joins and arguments.workers is None else {}
    return {
        **kernels,
        **os.environ,
        **log,
        **same,
        "PYTHONPATH": os.pathsep.join(paths),
        SETTINGS: json.dumps(process_settings),
        MAIN: "1",
    }


def _replicas(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1. Received: {text}")
    return int(text)
