"""tf.keras 2.2's own tests under `run`: what passes of those that pass on the real stack, and why each other does not.

    git clone https://github.com/keras-team/keras && git -C keras checkout 4fd825ddf93d3dc9ecc7b50178ce1d015393bed2
    python benchmarks/tf_keras_tests.py prepare keras/keras TESTS
    PYTHON-OF-TENSORFLOW-2.2 benchmarks/tf_keras_tests.py then --write THEN.jsonl TESTS [FILE...]
    python benchmarks/tf_keras_tests.py run --write RESULTS.jsonl TESTS [FILE...]
    python benchmarks/tf_keras_tests.py count --real THEN.jsonl RESULTS.jsonl  # into `tests/data`, and the page

The commit is that by which tf.keras came back to its own repository, with its tests. `prepare` writes them, and the
helpers that they share, with the imports of a user of tf.keras 2.2, and leaves out the graphs of TensorFlow 1. `then`
runs them on the real TensorFlow 2.2: what fails there, of a later version, is no test.

This file runs on Python 3.8 as well.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import signal
import sys
import unittest
from pathlib import Path

try:
    import keras_tests  # which needs pytest, for `run` and `count`
except ImportError:
    keras_tests = None

COMMIT = "4fd825ddf93d3dc9ecc7b50178ce1d015393bed2"
ERAS = ("tf.keras-1.15", "tf.keras-2.2")

_ROOT = Path(__file__).resolve().parent.parent
DATA, PAGE = _ROOT / "tests" / "data" / "tf_keras_tests.json", _ROOT / "docs" / "evidence" / "tf_keras_tests.md"

_FOLDERS = ("layers", "optimizer_v2", "engine", "saving", "utils", ".")
_HELPERS = "tf_keras_test_helpers"  # a package beside the tests
_LIMIT_OF_TEST = 180  # seconds

_EDITS = [
    (r"^import keras$", "from tensorflow.python import keras"),
    (r"^from keras import (combinations|keras_parameterized|testing_utils)\b", rf"from {_HELPERS} import \1"),
    (r"^from keras import optimizer_v1$", "from tensorflow.python.keras import optimizers as optimizer_v1"),
    (r"^from keras\.utils import tf_(contextlib|inspect)$", r"from tensorflow.python.util import tf_\1"),
    (r"^from keras(?=[. ])", "from tensorflow.python.keras"),
    (r"^from tensorflow\.python\.keras\.engine import (base_layer_utils|keras_tensor)$", rf"from {_HELPERS} import \1"),
    (r"^from tensorflow\.python\.keras\.mixed_precision import policy$", f"from {_HELPERS} import policy"),
    (r"^from tensorflow\.python\.training\.tracking import util\b", f"from {_HELPERS} import trackable_util"),
    (r"\bNonFusedAdam\b", "Adam"),  # which is not fused in 2.2
    (r"\btf\.__internal__\.tf2\.enabled\(\)", "True"),
    (r"\btf\.__internal__\.decorator\.make_decorator\(fn, wrapper\)", "__import__('functools').wraps(fn)(wrapper)"),
    (r"\btf\.__internal__\.eager_context\.eager_mode\(\)", "__import__('contextlib').nullcontext()"),
    # Names that are the same wherever the classes are kept.
    (
        r"^        '_\{\}_\{\}'\.format\(''\.join\(filter\(str\.isalnum, key\)\),$",
        "        '_{}_{}'.format(len(named_combinations),",
    ),
    (r"str\(value\)\)\)\)$", "getattr(value, '__name__', str(value)))))"),
    # One way to run, that of users: eager, with compiled functions.
    (
        r"^  skip_keras_tensors = kwargs\.pop\('skip_keras_tensors', False\)$",
        "  kwargs.clear(); skip_keras_tensors = always_skip_eager = True",
    ),
    (r"^@test_util\.for_all_test_methods\(test_util\.disable_xla,\s+'[^']*'\)$", ""),
]

# What the tests import of the insides of TensorFlow, as far as they need it.
_STAND_INS = {
    "__init__": "",
    "base_layer_utils": "V2_DTYPE_BEHAVIOR = True\n",
    "keras_tensor": (
        "def keras_tensors_enabled(): return False\n"
    ),
    "policy": "from tensorflow.keras.mixed_precision.experimental import *\n",
    "trackable_util": (
        "try:\n  from tensorflow.python.training.tracking.util import *\n"
        "except ImportError:\n  from tensorflow.python.checkpoint.checkpoint import *\n"
    ),
    "combinations": '''
import itertools
from absl.testing import parameterized


def combine(mode=("eager",), **options):
  """Every combination of the options, in eager mode."""
  of_each = [[(name, value) for value in (values if isinstance(values, list) else [values])]
             for name, values in sorted(options.items())]
  return [dict(each) for each in itertools.product(*of_each)] if "eager" in mode else []


def times(*combined):
  return [{name: value for one in each for name, value in one.items()} for each in itertools.product(*combined)]


def keras_mode_combinations(mode=None, run_eagerly=None):
  return [{}]


def keras_model_type_combinations():
  return [{"model_type": each} for each in ("functional", "subclass", "sequential")]


def keras_tensor_combinations():
  return [{}]


def generate(combined):
  """A decorator of a test or of a class of tests."""

  def of_method(method):
    if combined == [{}]:
      return method
    if not combined:
      return None
    named = [
      dict(each, testcase_name="_" + "_".join(filter(str.isalnum, "".join(f"{name}{each[name]}" for name in each))))
      for each in combined
    ]
    return parameterized.named_parameters(*named)(method)

  def decorate(given):
    if isinstance(given, type):
      for name, value in list(given.__dict__.items()):
        if name.startswith("test") and callable(value):
          setattr(given, name, of_method(value))
      return type(given).__new__(type(given), given.__name__, given.__bases__, dict(given.__dict__))
    return of_method(given)

  return decorate
''',
}  # fmt: skip


def with_users_imports(source):
    """Return a test file with the imports of an old user.

    >>> with_users_imports("import keras")
    'from tensorflow.python import keras'
    """
    for pattern, written in _EDITS:
        source = re.sub(pattern, written, source, flags=re.MULTILINE)
    return source


def prepare(keras, into):
    """Write the tests and their helpers below a folder."""
    helpers = into / _HELPERS
    helpers.mkdir(parents=True, exist_ok=True)
    for name, source in _STAND_INS.items():
        (helpers / f"{name}.py").write_text(source)
    for name in ("keras_parameterized", "testing_utils"):
        (helpers / f"{name}.py").write_text(with_users_imports((keras / f"{name}.py").read_text()))
    for folder in _FOLDERS:
        for path in sorted((keras / folder).glob("*_test.py")):
            to = into / folder / path.name
            to.parent.mkdir(exist_ok=True)
            to.write_text(with_users_imports(path.read_text()))


def _load(path):
    import importlib.util

    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _tests_of(suite):
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from _tests_of(each)
        else:
            yield each


def then(folder, files, write):
    """Run the tests on the TensorFlow of this Python, each in turn, and write what became of them."""
    sys.path.insert(0, str(folder))

    def late(signum, frame):
        raise TimeoutError(f"not done after {_LIMIT_OF_TEST} s")

    signal.signal(signal.SIGALRM, late)
    with write.open("a") as out:
        for file in files:
            try:
                tests = list(_tests_of(unittest.defaultTestLoader.loadTestsFromModule(_load(folder / file))))
            except Exception as error:
                print(json.dumps({"test": file, "outcome": "not collected", "why": repr(error)}), file=out, flush=True)
                continue
            counts = collections.Counter()
            for test in tests:
                result = unittest.TestResult()
                signal.alarm(_LIMIT_OF_TEST)
                try:
                    test(result)
                except TimeoutError as error:
                    result.errors.append((test, repr(error)))
                signal.alarm(0)
                bad = result.failures + result.errors
                outcome = "failed" if bad else "skipped" if result.skipped else "passed"
                name = f"{file}::{type(test).__name__}::{test._testMethodName}"
                line = {"test": name, "outcome": outcome, "why": bad[0][1][-1500:] if bad else ""}
                print(json.dumps(line), file=out, flush=True)
                counts[outcome] += 1
            print(file, dict(counts), flush=True)


def page(data):
    """Return the page of the data."""
    lines = [
        "# tf.keras's own tests",
        "",
        "The tests of `tensorflow/python/keras` on the originals that `parallel-compat run` runs: with graphs for",
        "TensorFlow 1.15, in eager mode with compiled functions for TensorFlow 2.2. A test counts if it passes on the",
        "real stack on a CPU: TensorFlow 1.15.5 or 2.2.3. `benchmarks/tf_keras_tests.py` runs them, and writes this",
        "page.",
        *keras_tests.sections(data),
    ]
    return "\n".join([*lines, ""])


def main():
    """Prepare, run or count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("prepare")
    command.add_argument("keras", type=Path)
    command.add_argument("tests", type=Path)
    for name in ("then", "run"):
        command = commands.add_parser(name)
        command.add_argument("tests", type=Path)
        command.add_argument("files", nargs="*")
        command.add_argument("--write", type=Path, required=True, metavar="FILE")
        command.add_argument("-k", help="as pytest's")
        command.add_argument("--era", choices=ERAS, default=ERAS[1])
    command = commands.add_parser("count")
    command.add_argument("--era", choices=ERAS, default=ERAS[1])
    command.add_argument("--real", type=Path, required=True, metavar="FILE", help="what `then` wrote")
    command.add_argument("results", type=Path, nargs="+")
    given = parser.parse_args()
    if given.command == "count":
        sys.exit(keras_tests.write_count(given.era, given.real, given.results, DATA, PAGE, page))
    if given.command == "prepare":
        prepare(given.keras, given.tests)
        return
    tests = given.tests.resolve()
    files = given.files or [str(path.relative_to(tests)) for path in sorted(tests.rglob("*_test.py"))]
    if given.command == "then":
        then(tests, files, given.write)
        return
    os.environ["PYTHONPATH"] = os.pathsep.join([str(tests), *filter(None, [os.environ.get("PYTHONPATH")])])
    extra = ["--legacy-era", given.era, *(["-k", given.k] if given.k else [])]
    keras_tests.run_all(files, tests, extra, sys.executable, True, given.write)


if __name__ == "__main__":
    main()
