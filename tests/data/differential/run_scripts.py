"""Runs many scripts, each in a process of its own that is forked after the imports: run_scripts.py OUT.json SCRIPT...

With `TOGETHER=1` in the environment all run in one process.

The same file for all stacks: under `parallel-compat run`, and by the Python of an old environment (Keras 2.2.4 with
TensorFlow 1.15, TensorFlow 2.2), where `multi_gpu_model` gets names of GPUs that there are not (TensorFlow puts the
towers on the CPU) and Keras 2.2.4's step counter is written after everything of the step has read it; there it raced.
A script that stops leaves what it had noted, and the error; one that ends the process leaves the signal.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ.setdefault("OMP_NUM_THREADS", "1")

SECONDS = 600  # for one script


def prepare_old_stack():
    """Let an old stack run on a CPU what was written for GPUs, the same from run to run."""
    import tensorflow as tf

    logging = tf.compat.v1.logging
    logging.set_verbosity(logging.ERROR)
    devices = ["/device:CPU:0"] + ["/device:GPU:%d" % i for i in range(8)]
    if tf.__version__.startswith("1."):
        tf.compat.v1.enable_resource_variables()
        from tensorflow.python.keras.utils import multi_gpu_utils

        multi_gpu_utils._get_available_devices = lambda: devices
        try:
            import keras.utils.multi_gpu_utils as standalone
        except ImportError:
            return
        standalone._get_available_devices = lambda: devices
        try:  # which Keras 2.3 has not
            import keras.utils.training_utils as training_utils

            training_utils._get_available_devices = lambda: devices
        except ImportError:
            pass
        from keras import optimizers

        for name in ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam"):
            cls = getattr(optimizers, name)
            cls.get_updates = counting_last(cls.get_updates)
    else:
        tf.config.set_soft_device_placement(True)
        from tensorflow.python.keras.utils import multi_gpu_utils

        multi_gpu_utils._get_available_devices = lambda: devices


def counting_last(get_updates):
    """Return an optimizer's updates with its step counter written after all others have read it."""

    def updates_in_order(self, loss, params):
        import tensorflow as tf
        from keras import backend as K
        from keras import optimizers

        real = optimizers.K.update_add
        counted = []

        def update_add(variable, by):
            if variable is not self.iterations:
                return real(variable, by)
            counted.append(by)
            return None

        optimizers.K.update_add = update_add
        try:
            get_updates(self, loss, params)
        finally:
            optimizers.K.update_add = real
        updates = [update for update in self.updates if update is not None]
        # Nadam's schedule is given as a pair: a variable and its next value.
        pairs = [update for update in updates if isinstance(update, tuple)]
        done = [update for update in updates if not isinstance(update, tuple)]
        before = [getattr(update, "op", update) for update in done] + [value.op for _, value in pairs]
        with tf.control_dependencies(before):
            done += [K.update(variable, tf.identity(value)) for variable, value in pairs]
            done += [real(self.iterations, by) for by in counted]
        self.updates = done
        return done

    return updates_in_order


def too_long(*_):
    raise RuntimeError("takes more than %d s" % SECONDS)


def run(file):
    """Return what a script noted."""
    with open(file) as opened:
        code = compile(opened.read(), file, "exec")
    namespace = {"__name__": "__main__", "__file__": file}
    start, stopped = time.time(), None
    os.chdir(tempfile.mkdtemp())
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        exec(code, namespace)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        stopped = "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:300])
        frames = [f for f in traceback.extract_tb(sys.exc_info()[2]) if f.filename == file]
        stopped += " | line %s: %s" % ((frames[-1].lineno, frames[-1].line) if frames else ("?", "?"))
        if os.environ.get("TRACEBACKS"):
            traceback.print_exc()
    finally:
        signal.alarm(0)
    noted = json.loads(json.dumps(namespace.get("RESULT", {}), default=str))
    return dict(noted, **({"stopped": stopped} if stopped else {})), time.time() - start


def run_forked(file):
    """Return what a script noted in a process of its own, which begins with TensorFlow and Keras imported."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        values = run(file)
        with os.fdopen(write, "w") as opened:
            json.dump(values, opened)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as opened:
        text = opened.read()
    _, status = os.waitpid(child, 0)
    if not text:
        return {"stopped": "the process ended: status %d" % status}, 0.0
    return json.loads(text)


def main():
    out, files = os.path.abspath(sys.argv[1]), [os.path.abspath(file) for file in sys.argv[2:]]
    if sys.version_info < (3, 9):
        prepare_old_stack()
    import tensorflow

    tensorflow.keras.Sequential  # imports the modules that are imported when they are first used
    try:
        import keras.layers
    except (ImportError, AttributeError):  # none of the time: Keras 3 does not find its TensorFlow
        pass
    noted = {}
    real = sys.stdout
    for file in files:
        sys.stdout = open(os.devnull, "w")
        try:
            values, seconds = (run if os.environ.get("TOGETHER") else run_forked)(file)
        finally:
            sys.stdout = real
        name = os.path.basename(file)[:-3]
        noted[name] = values
        print("%s %.1f s %s" % (name, seconds, values.get("stopped", "")), flush=True)
        with open(out, "w") as opened:
            json.dump(noted, opened)


if __name__ == "__main__":
    main()
