"""The `parallel-compat` command: one line per subcommand, each imported only when it is called."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

TYPE_CHECKING = False  # as in `__init__.py`
if TYPE_CHECKING:
    from collections.abc import Sequence

# name -> (module with `add_arguments(parser)` and `run(arguments) -> int`, what the help says of it)
SUBCOMMANDS: dict[str, tuple[str, str]] = {
    "run": ("parallel_compat.run.run_command", "run an old script unmodified on today's TensorFlow"),
    "migrate": (
        "parallel_compat.migrate.migrate_command",
        "rewrite old sources for today's Keras, and report the rest",
    ),
    "names": ("parallel_compat.names.names_command", "say what the names of old Keras are today"),
    "inspect": ("parallel_compat.recover.inspect_command", "say what an old checkpoint is"),
    "recover": (
        "parallel_compat.recover.recover_command",
        "write the single model that is in an old checkpoint",
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    parser = argparse.ArgumentParser(prog="parallel-compat", description=__import__("parallel_compat").__doc__)
    subparsers = parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True)
    for name, (module, text) in SUBCOMMANDS.items():
        subparser = subparsers.add_parser(name, help=text, description=text)
        # Only the chosen subcommand's module is imported: `--help` stays fast.
        if name in arguments[:1]:
            import_module(module).add_arguments(subparser)
    parsed = parser.parse_args(arguments)
    code: int = import_module(SUBCOMMANDS[parsed.subcommand][0]).run(parsed)
    return code
