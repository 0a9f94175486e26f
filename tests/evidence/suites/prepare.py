"""Writes the tests of Keras's commit 4fd825d so that tf.keras 2.2 can be asked them.

    git clone https://github.com/keras-team/keras && git -C keras checkout 4fd825ddf93d3dc9ecc7b50178ce1d015393bed2
    python -m tests.evidence.suites.prepare keras/keras TESTS

By this commit tf.keras came back to its own repository, with its tests. They are written, with the helpers that they
share, with the imports of a user of tf.keras 2.2 and without the graphs of TensorFlow 1. What fails on the real stack,
as it is of a later version, does not count.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

_FOLDERS = ("layers", "optimizer_v2", "engine", "saving", "utils", ".")
_HELPERS = "tf_keras_test_helpers"  # a package beside the tests

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


def with_users_imports(source: str) -> str:
    """Return a test file with the imports of an old user.

    >>> with_users_imports("import keras")
    'from tensorflow.python import keras'
    """
    for pattern, written in _EDITS:
        source = re.sub(pattern, written, source, flags=re.MULTILINE)
    return source


def prepare(keras: Path, into: Path) -> None:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("keras", type=Path)
    parser.add_argument("tests", type=Path)
    given = parser.parse_args()
    prepare(given.keras, given.tests)


if __name__ == "__main__":
    main()
