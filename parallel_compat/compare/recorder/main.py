"""Run a Keras script, unmodified, and write down what it computes.

    python record_keras.py [--steps N] [--out recording.h5] [--no-dropout] [--masks] train.py ARGS...

One file without dependencies beyond numpy and h5py, for Python 2.7 to 3.13: standalone Keras 1.2 to 2.3, tf.keras of
TensorFlow 1.13 to 1.15 and 2.2 to 2.15, tf_keras, and Keras 3 on TensorFlow. For each model that is trained it writes
the configuration, the initial weights, and for the first N steps the batch, what the model put out, loss and metrics,
gradients, weights and optimizer state after the step; then the history, and what `evaluate` and `predict` returned. It
draws no random number and changes no result, but for one thing: on TensorFlow 1 weights and the step's counter are
written after everything in a step has read them, which was left to chance. What it cannot write down it names.

With `--masks` Dropout and noise layers draw from numpy, by the number of the model, the layer and the step, so that
another run draws the same: results are then those of other draws.

The recording is an HDF5 file of plain numbers, one array for each type and one of the JSON text that cuts them up.
`parallel-compat compare recording.h5 train.py` runs the script on today's TensorFlow, from the recorded weights and on
the recorded batches, and says what differs.
"""

from __future__ import print_function

import argparse
import os
import runpy
import sys

from parallel_compat.compare.recorder.hooks import Recorder
from parallel_compat.compare.recorder.recording import Recording, Replay
from parallel_compat.compare.recorder.values import tried


def installed(name):
    """Return the version of a package: under `parallel-compat run` TensorFlow says that it is an older one."""
    try:
        from importlib.metadata import version

        return version(name)
    except Exception:  # an older Python, or tensorflow-cpu
        return getattr(sys.modules[name], "__version__", "?")


def machine():
    """Return the versions of the packages that compute, and the GPUs that TensorFlow sees."""
    found = ["%s %s" % (name, installed(name)) for name in ("tensorflow", "numpy", "h5py") if name in sys.modules]
    gpus = tried(lambda: sys.modules["tensorflow"].config.list_logical_devices("GPU"))
    return found + (["%d GPUs" % len(gpus)] if gpus else ["CPU"])


def files_of_modules(before):
    """Return the sources of modules that were imported since, but for those of Python and of installed packages."""
    modules = [sys.modules[name] for name in list(sys.modules) if name not in before]
    files = {os.path.realpath(getattr(each, "__file__", None) or "") for each in modules}
    starts = tuple(os.path.realpath(each) + os.sep for each in (sys.prefix, getattr(sys, "base_prefix", sys.prefix)))
    own = [each for each in files if each.endswith(".py") and not each.startswith(starts)]
    return sorted(each for each in own if "-packages" + os.sep not in each)  # site-packages, dist-packages


def main(arguments=None):
    """Run the script, and write the recording when it ends."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--steps", type=int, default=5, help="how many steps of each model (default: 5)")
    add("--out", default="recording.h5", help="where to write (default: recording.h5)")
    add("--max-mb", type=int, default=256, help="how many MB of arrays at most (default: 256)")
    add("--no-dropout", action="store_true", help="let Dropout and noise layers return their input")
    add("--masks", action="store_true", help="let Dropout and noise layers draw what others can repeat")
    add("--replay", type=Replay, help=argparse.SUPPRESS)
    add("--free", action="store_true", help=argparse.SUPPRESS)
    add("--nudge", action="store_true", help=argparse.SUPPRESS)
    add("--most", type=int, help=argparse.SUPPRESS)
    add("--seed", action="store_true", help=argparse.SUPPRESS)
    add("script", help="the script")
    add("arguments", nargs=argparse.REMAINDER, help="its arguments")
    given = parser.parse_args(arguments)
    if given.steps < 1:
        parser.error("argument --steps: expected a whole number from 1. Received: %d" % given.steps)
    if not os.path.isfile(given.script):
        parser.error("expected a script. Received: %s, which is not a file" % given.script)
    out = os.path.abspath(given.out)
    if not os.access(os.path.dirname(out), os.W_OK):
        parser.error("argument --out: expected a place that can be written. Received: %s" % given.out)
    recording = Recording(out, given.max_mb * 1000000)
    recording.facts["no_dropout"] = given.no_dropout
    recording.facts["masks"] = given.masks
    recorder = Recorder(
        recording,
        given.steps,
        given.replay,
        given.no_dropout,
        given.masks,
        given.free,
        given.nudge,
        given.most,
        given.seed,
    )
    before = set(sys.modules)
    unwatch = recorder.watch_imports()
    sys.argv = [given.script] + given.arguments
    sys.path[0] = os.path.dirname(os.path.abspath(given.script))
    recorder.look()
    recorder.random.at("start")
    try:
        runpy.run_path(given.script, run_name="__main__")
    finally:
        unwatch()
        if recording.facts["models"]:
            recording.facts["machine"] = machine()
            if given.free:  # of the same machine: a recording names no folder
                recording.facts["files"] = files_of_modules(before)
            recording.write()
            print("record_keras: %s written" % given.out, file=sys.stderr)
            for note in recording.facts["notes"]:
                print("record_keras: %s" % note, file=sys.stderr)
        else:
            print("record_keras: no model was trained; nothing is written", file=sys.stderr)


if __name__ == "__main__":
    main()
