"""`parallel-compat names`: what the names of old Keras are today."""

from __future__ import annotations

import argparse
import re
import sys

from parallel_compat.names import results_page, table
from parallel_compat.names.error_messages import page
from parallel_compat.names.search import answers, is_message, near, search_term
from parallel_compat.names.table import Status

SPELLINGS = ("keras", "tf.keras", "tensorflow.keras", "tensorflow.python.keras")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="name such as keras.utils.np_utils, K.int_shape or fit_generator, or an error message in quotes",
    )
    parser.add_argument("--errors", action="store_true", help="print the error messages of old code, and what helps")
    parser.add_argument("--differences", action="store_true", help="print which results differ, and by which tool")
    parser.add_argument(
        "--patches",
        action="store_true",
        help="list the attributes of Keras and TensorFlow that this package replaces, and why",
    )
    parser.add_argument(
        "--contract",
        action="store_true",
        help="check that the installed Keras and TensorFlow have every private name that this package needs of them",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the counts, what became of the names that are given, the patches or the page of errors."""
    if arguments.errors:
        print(page(), end="")
        return 0
    if arguments.differences:
        print(results_page.page(), end="")
        return 0
    if arguments.contract:
        return check_contract()
    if arguments.patches:
        print("\n".join(patches_of_everything()))
        return 0
    if not arguments.names:
        print("\n".join(counts()))
        return 0
    unknown = 0
    together = " ".join(arguments.names)  # a message whose quotes the shell took away
    is_one = re.match(r"\w+(?:Error|Exception|Warning):", together) or is_message(together)
    for name in [together] if len(arguments.names) > 1 and is_one else arguments.names:
        found = answers(name)
        print("\n".join(found)) if found else print(f"{name}: {_unknown(name)}", file=sys.stderr)
        unknown += not found
    return 1 if unknown else 0


def _unknown(name: str) -> str:
    if re.search(r"\s", name.strip()):
        missing = search_term(name)
        text = re.sub(r"^\w+(?:Error|Exception|Warning):\s*", "", name.strip())
        what = (
            f"looked for the message `{text}` on the page of errors, and for a name in quotes, which it does not have"
        )
        if missing:
            what = f"looked for {' and '.join(missing)}, which the tables do not have"
        way = "Give the last line of the traceback, or only the name; `--errors` prints the messages that are known."
        return f"no answer: {what}. {way}"
    similar = near(name)
    return "not a name that the table knows." + (f" Is it {' or '.join(similar)}?" if similar else "")


def patches_of_everything() -> list[str]:
    """Return a line for each patch that is set when a model is parallel."""
    # Here, for the names need neither Keras nor TensorFlow.
    import parallel_compat.parallel_model  # noqa: F401  # which sets those of the core
    from parallel_compat.backend.patches import KERAS, patches

    return [f"{each.place}\n    {each.set_by.name}: {each.why} (read in {KERAS})" for each in patches()]


def check_contract() -> int:
    """Print which private names are gone, or how many are there; return the exit code."""
    # Here, for the names need neither Keras nor TensorFlow.
    import keras
    import tensorflow as tf

    from parallel_compat.backend import contract
    from parallel_compat.originals import contract as of_originals

    versions = f"Keras {keras.__version__}, TensorFlow {tf.__version__}"
    gone = contract.check() + of_originals.check()
    for sentence in gone:
        print(sentence)
    needed = len(contract.KERAS), len(contract.TENSORFLOW), len(of_originals.needed())
    print(f"{versions}: {len(gone)} of the {sum(needed)} private names that are needed are gone or have changed")
    return 1 if gone else 0


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
