"""Error messages that old code meets today, and what helps. `docs/reference/errors.md` is written from them."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

RUN = "`parallel-compat run SCRIPT`"
MIGRATE = "`parallel-compat migrate --write PATH`"


class Error(NamedTuple):
    """An error message and what helps.

    Attributes:
        title: the part of the text that people search for.
        pattern: a regular expression that finds the message.
        group: who raises it.
        cause: one sentence.
        remedy: what to do, with the command or line.
        also: other texts of the same error that people search for.
    """

    title: str
    pattern: str
    group: str
    cause: str
    remedy: str
    also: tuple[str, ...] = ()

    def matches(self, text: str) -> str | None:
        """Return the part of a text that is this error, or None; the whole text of a traceback will do, and one whose
        quotes a shell has taken away."""
        match = re.search(self.pattern.replace("'", r"(?:['\"`‘’]|\b)"), text)
        return match[0] if match else None


KERAS_3 = "Keras 3 and TensorFlow 2, with old code"
FILES = "Keras 3, with old files"
STRATEGY = "A plain MirroredStrategy under Keras 3"
OURS = "This package"

_BOTH = f"{RUN} runs it unmodified; {MIGRATE} rewrites it."
_RECOVER = "`parallel-compat recover OLD.h5 -o NEW.keras` extracts the single model. No code in the file is executed."

_ERRORS: tuple[Error, ...] = (
    Error(
        "cannot import name 'multi_gpu_model'",
        r"cannot import name 'multi_gpu_model'|has no attribute 'multi_gpu_model'",
        KERAS_3,
        "TensorFlow 2.4 removed it.",
        f"`from parallel_compat import multi_gpu_model` is the same function for Keras 3. Or {_BOTH}",
    ),
    Error(
        "module 'tensorflow' has no attribute 'Session'",
        r"module 'tensorflow' has no attribute '(Session|InteractiveSession)'",
        KERAS_3,
        "TensorFlow 2 has no sessions. Old Keras code used them to choose GPUs and limit their memory.",
        _BOTH,
    ),
    Error(
        "module 'tensorflow' has no attribute 'ConfigProto'",
        r"module 'tensorflow' has no attribute '(ConfigProto|GPUOptions)'",
        KERAS_3,
        "It configured which GPUs a session used, and how much of their memory.",
        f"{_BOTH} In new code: `parallel_compat.use_gpus([0, 1])`, `parallel_compat.limit_gpu_memory(growth=True)`.",
    ),
    Error(
        "module 'tensorflow' has no attribute 'placeholder'",
        r"module 'tensorflow' has no attribute '\w+'",
        KERAS_3,
        "The name is of TensorFlow 1. `parallel-compat names tf.NAME` says what replaced it.",
        _BOTH,
    ),
    Error(
        "has no attribute 'fit_generator'",
        r"has no attribute '(fit|evaluate|predict)_generator'",
        KERAS_3,
        "Keras 3's `fit` takes generators, with other arguments, and loses batches under a strategy.",
        f"`parallel_compat.fit_generator(model, generator, steps_per_epoch=...)` has the old arguments. Or {_BOTH}",
    ),
    Error(
        "No module named 'keras.layers.core'",
        r"No module named '(tensorflow\.(python\.)?)?keras\.(layers|engine|utils|legacy|objectives|backend)\b[\w.]*'",
        KERAS_3,
        "The modules of Keras 2 moved. `parallel-compat names keras.layers.core` says where to.",
        _BOTH,
        also=("No module named 'keras.engine'", "No module named 'keras.utils.np_utils'"),
    ),
    Error(
        "Argument(s) not recognized: {'lr'",
        r"Argument\(s\) not recognized",
        KERAS_3,
        "Arguments of optimizers and layers were renamed: `lr` is `learning_rate`.",
        _BOTH,
    ),
    Error(
        "unexpected keyword argument 'nb_epoch'",
        r"unexpected keyword argument '(nb_epoch|samples_per_epoch|nb_val_samples|workers|use_multiprocessing"
        r"|max_queue_size|max_q_size|validation_freq|nb_worker|target_tensors|period|batch_size|write_grads|lr)'",
        KERAS_3,
        "Keras 1 and 2 had this argument.",
        _BOTH,
        also=("unexpected keyword argument 'workers'", "unexpected keyword argument 'period'"),
    ),
    Error(
        "Argument `decay` is no longer supported and will be ignored",
        r"`decay` is no longer supported|unexpected keyword argument 'decay'|decay is deprecated in the new Keras",
        KERAS_3,
        "The learning rate no longer decays, so the results change. It was `lr / (1 + decay * iterations)`.",
        f"Pass `learning_rate=keras.optimizers.schedules.InverseTimeDecay(lr, 1, decay)`. Or {_BOTH}",
    ),
    Error(
        "KeyError: 'acc'",
        r"KeyError: '(val_)?acc'",
        KERAS_3,
        "Metrics are logged under the name passed to `compile`: `accuracy`.",
        _BOTH,
        also=("KeyError: 'val_acc'",),
    ),
    Error(
        "The filepath provided must end in `.keras`",
        r"filepath provided must end in",
        KERAS_3,
        "Keras 3 accepts few suffixes.",
        f"`parallel_compat.ParallelModelCheckpoint` accepts the old names and saves the single model. Or {_BOTH}",
    ),
    Error(
        "The filename must end in `.weights.h5`",
        r"must end in `?\.weights\.h5",
        KERAS_3,
        "Keras 3 writes weights only to such names.",
        f"Call `parallel_compat.legacy.models.save_weights(model, 'weights.h5')`. Or {_BOTH}",
    ),
    Error(
        "Requested the deserialization of a `Lambda` layer",
        r"[Rr]equested the deserialization of a `?Lambda`?",
        FILES,
        "The file contains Python bytecode. Files of multi-GPU models always do: Lambda layers split the batch.",
        f"{_RECOVER} If the model itself has Lambda layers: `--keep-lambda` or `--weights-only`.",
    ),
    Error(
        "bad marshal data",
        r"bad marshal data|EOF read where object expected|marshal data too short",
        FILES,
        "The bytecode of a Lambda layer is of another Python.",
        _RECOVER,
        also=("EOFError: EOF read where object expected",),
    ),
    Error(
        "Unknown layer",
        r"Unknown layer|Could not locate class",
        FILES,
        "The file names a class that Keras 3 does not have: a custom class, or a removed one.",
        f"{_RECOVER} Pass custom classes in `custom_objects=`.",
    ),
    Error(
        "Could not deserialize 'keras.metrics.mse'",
        r"[Cc]ould not (locate function|deserialize)",
        FILES,
        "Losses and metrics in files of Keras 2 have other names in Keras 3.",
        f"Call `load_model(path, compile=False)`, then `compile`. To keep the optimizer's state: {_RECOVER}",
    ),
    Error(
        "Weight count mismatch for layer",
        r"(Weight|Layer) count mismatch|expected \d+ layers?,? but (found|got)|layers into a model with",
        FILES,
        "The file is of a multi-GPU model: all weights are in one layer.",
        "`parallel_compat.load_template_weights(model, 'weights.h5')` reads it.",
    ),
    Error(
        "AddN ... must have the same size and shape",
        r"AddN.*must have the same size and shape|Inputs to operation .*AddN",
        STRATEGY,
        "The first batch has fewer samples than there are replicas, or does not divide by them.",
        "`parallelize(model, gpus=n)` splits uneven batches and counts each sample once.",
    ),
    Error(
        "You must feed a value for placeholder tensor",
        r"[Yy]ou must feed a value for placeholder tensor",
        STRATEGY,
        "`steps_per_execution > 1` does not work with a strategy.",
        "It works with `parallelize(model, gpus=n)`.",
    ),
    Error(
        "merge_call called while defining a new graph or a tf.function",
        r"`?merge_call`? called while defining a new graph",
        STRATEGY,
        "`use_ema` and `gradient_accumulation_steps` do not work with a strategy.",
        "They work with `parallelize(model, gpus=n)`.",
    ),
    Error(
        "Expected at least 2 devices for `gpus`",
        r"Expected (at least 2 devices|the devices .*) for `gpus`|To call `multi_gpu_model` with `gpus=",
        OURS,
        "TensorFlow sees fewer GPUs than `gpus`.",
        "Try `parallel-compat run --replicas 2 SCRIPT`, or `parallel_compat.simulate_devices(2)` directly after the "
        "imports. With GPUs on Linux: `pip install 'tensorflow[and-cuda]'`.",
    ),
    Error(
        "before TensorFlow starts, but it has started",
        r"before TensorFlow starts, but it has started",
        OURS,
        "TensorFlow fixes its devices when it is first used.",
        "Call it directly after the imports, before any model, variable or operation.",
    ),
    Error(
        "Expected `jit_compile` to be False or 'auto'",
        r"Expected `jit_compile` to be False or 'auto'",
        OURS,
        "A step spans several devices, and XLA compiles for one.",
        "Leave `jit_compile` out for the parallel model.",
    ),
)


@cache
def errors() -> tuple[Error, ...]:
    """Return the rows, in the order in which they are tried."""
    return _ERRORS


def page() -> str:
    """Return `docs/reference/errors.md`."""
    lines = [
        "# Error messages, and what helps",
        "",
        'Search for a part of the message, or run `parallel-compat names "the message"`. A test causes each message.',
    ]
    for group in (KERAS_3, FILES, STRATEGY, OURS):
        lines += ["", f"## {group}"]
        for error in errors():
            if error.group == group:
                lines += ["", f"### {error.title}", ""]
                if error.also:
                    lines += ["Also: " + ", ".join(f"`{text}`" for text in error.also) + ".", ""]
                lines.append(f"{error.cause} {error.remedy}")
    return "\n".join(lines) + "\n"
