"""`parallel-compat recorder`: print the one file that records a script in an old environment."""

from __future__ import annotations

import argparse
import os
import sys

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "record_keras.py")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the subcommand takes: nothing."""
    parser.epilog = (
        "Write it to a file: parallel-compat recorder > record_keras.py. Copy that to the old environment and run: "
        "python record_keras.py --out recording.h5 train.py ARGS"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the file."""
    with open(PATH, encoding="utf-8") as file:
        sys.stdout.write(file.read())
    return 0
