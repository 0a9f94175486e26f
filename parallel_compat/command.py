"""The `parallel-compat` command: one line per subcommand, each imported only when it is called."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

TYPE_CHECKING = False  # as in `__init__.py`

# name -> (module with `add_arguments(parser)` and `run(arguments) -> int`, what the help says of it)
SUBCOMMANDS: dict[str, tuple[str, str]] = {
    "run": ("parallel_compat.run.run_command", "run an old script unmodified on today's TensorFlow"),
    "migrate": (
        "parallel_compat.migrate.migrate_command",
        "rewrite old sources for Keras 3, and report what needs attention",
    ),
    "originals": (
        "parallel_compat.originals.originals_command",
        "list, fetch and remove the old libraries that `run` uses",
    ),
    "check": ("parallel_compat.check.check_command", "list what a project needs before it can run"),
    "names": ("parallel_compat.names_command", "look up what became of an old name or an error message"),
    "inspect": ("parallel_compat.recover.inspect_command", "show what is in an old checkpoint"),
    "recover": ("parallel_compat.recover.recover_command", "extract the single model from an old checkpoint"),
    "recorder": ("parallel_compat.compare.recorder_command", "print the recorder, a script for the old environment"),
    "compare": (
        "parallel_compat.compare.compare_command",
        "say whether rewriting a script changes its results, and why",
    ),
}
COULD_NOT_RUN = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("parallel-compat: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has what it wanted. Python would complain once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ImportError as error:
        from parallel_compat import tested_versions
        from parallel_compat.missing_keras import explain

        reason = explain(error) or tested_versions.what_is_gone()
        if reason is None:
            raise
        print(f"parallel-compat: error: {reason}.", file=sys.stderr)
        return COULD_NOT_RUN
    return code


def _run(arguments: list[str]) -> int:
    description = __import__("parallel_compat").__doc__
    parser = argparse.ArgumentParser(prog="parallel-compat", description=description)
    parser.add_argument("--version", action="store_true", help="print versions and devices, for bug reports")
    subparsers = parser.add_subparsers(dest="subcommand", metavar="COMMAND")
    for name, (module, text) in SUBCOMMANDS.items():
        subparser = subparsers.add_parser(name, help=text, description=text)
        # Only the chosen subcommand's module is imported: `--help` stays fast.
        if name in arguments[:1]:
            import_module(module).add_arguments(subparser)
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown:  # said by the subcommand that does not know them, with its own usage
        subparsers.choices.get(parsed.subcommand, parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    if parsed.version:
        from parallel_compat.versions import versions

        print("\n".join(versions()))
        return 0
    if parsed.subcommand is None:
        parser.print_help()
        return 0
    parsed.words = arguments  # for reports, which say how they were made
    code: int = import_module(SUBCOMMANDS[parsed.subcommand][0]).run(parsed)
    return code
