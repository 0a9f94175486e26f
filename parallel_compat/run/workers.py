"""`run` in one of several workers, which were started by `--workers`, Slurm, Kubernetes or hand, with `TF_CONFIG`.

Each runs the whole script and computes its part of each global batch; so all must read and draw the same. What Python,
numpy and TensorFlow draw is seeded alike before the script begins, and strings hash alike.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import threading
from collections.abc import Iterator
from typing import Any

from parallel_compat.backend.patches import Patches

SEED = "PARALLEL_COMPATSEED"


def found(environment: dict[str, str] | os._Environ[str] = os.environ) -> str | None:
    """Return what made this process one of several workers: "TF_CONFIG", "Slurm", or None if it is alone.

    >>> found({"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"})
    'Slurm'
    """
    cluster = _cluster(environment)
    if sum(len(cluster.get(job, ())) for job in ("chief", "worker")) > 1:
        return "TF_CONFIG"
    if int(environment.get("SLURM_STEP_NUM_TASKS", "1")) > 1 and "SLURM_PROCID" in environment:
        return "Slurm"
    return None


def _cluster(environment: dict[str, str] | os._Environ[str]) -> dict[str, Any]:
    try:
        cluster = json.loads(environment.get("TF_CONFIG") or "{}").get("cluster", {})
    except (ValueError, AttributeError):
        return {}
    return cluster if isinstance(cluster, dict) else {}


def alike(environment: dict[str, str]) -> dict[str, str]:
    """Return the environment variables that give all workers the same random numbers and hashes of strings."""
    import hashlib

    job = ("SLURM_JOB_ID", "SLURM_STEP_ID")
    job_text = json.dumps([_cluster(environment), *(environment.get(name) for name in job)], sort_keys=True)
    seed = environment.get(SEED) or str(int(hashlib.sha256(job_text.encode()).hexdigest()[:8], 16))
    return {SEED: seed, "PYTHONHASHSEED": environment.get("PYTHONHASHSEED", seed)}


def seed() -> None:
    """Let Python and numpy draw the same on all workers, before the script begins."""
    given = os.environ.get(SEED)
    if given is not None:
        import random

        import numpy as np

        random.seed(int(given))
        np.random.seed(int(given) % 2**32)


def join(replicas: int | None) -> None:
    """Make this process one of the workers, when TensorFlow was imported and has not started.

    Args:
        replicas: how many devices each worker has, simulated where there are fewer GPUs; None for its GPUs, or one.
    """
    import tensorflow as tf

    from parallel_compat import workers

    resolver = _by_slurm() if found() == "Slurm" else tf.distribute.cluster_resolver.TFConfigClusterResolver()
    workers.join(resolver, replicas or len(tf.config.list_physical_devices("GPU")) or 1)
    given = os.environ.get(SEED)
    if given is not None:
        tf.random.set_seed(int(given))  # what `tf.data` shuffles and draws


def _by_slurm() -> Any:
    """Read the workers of a Slurm step. Each sees only its own GPUs (`srun --gpus-per-task`), as Slurm sets them."""
    import tensorflow as tf

    port = 10_000 + int(os.environ.get("SLURM_JOB_ID", "0")) % 20_000  # not that of another job on the machine
    # TensorFlow would share the machine's GPUs out among its tasks, and finds no worker where there are none.
    tasks = int(os.environ["SLURM_STEP_NUM_TASKS"])
    return tf.distribute.cluster_resolver.SlurmClusterResolver(
        port_base=port, gpus_per_node=tasks, gpus_per_task=1, auto_set_gpu=False
    )


def write_files_by_chief() -> None:
    """Let only the chief write models, logs of callbacks and checkpoints; the others wait for it."""
    import tempfile

    import keras

    from parallel_compat.checkpoints import ParallelModelCheckpoint
    from parallel_compat.legacy import model_files, models

    why = "only the chief of several workers writes files"
    patches = Patches("run with several workers")
    saving = threading.local()

    @contextlib.contextmanager
    def by_chief() -> Iterator[bool]:
        """Say whether to write; all workers leave together."""
        from parallel_compat import workers

        inside = getattr(saving, "inside", False)
        saving.inside = True
        try:
            yield inside or workers.is_chief()
        finally:
            saving.inside = inside
        if not inside:
            workers.wait_for_all()

    def write(original: Any, *given: Any, **keywords: Any) -> Any:
        with by_chief() as writes:
            return original(*given, **keywords) if writes else None

    for name in ("save", "save_weights", "export"):
        owner = next(each for each in keras.Model.__mro__ if name in vars(each))
        patches.around(owner, name, write, why=why)
    for module in (model_files, models):
        for name in ("save_model", "save_weights"):
            patches.around(module, name, write, why=why)
    patches.around(ParallelModelCheckpoint, "write_file", write, why=why)
    patches.around(keras.saving, "save_model", write, why=why)
    patches.around(keras.models, "save_model", write, why=why)

    def redirect(attribute: str, place: Any, original: Any, self: Any, *given: Any, **keywords: Any) -> None:
        from parallel_compat import workers

        original(self, *given, **keywords)
        if not workers.is_chief():
            setattr(self, attribute, place())

    to_nowhere = functools.partial(redirect, "filename", lambda: os.devnull)
    to_temporary = functools.partial(redirect, "log_dir", tempfile.mkdtemp)
    patches.around(keras.callbacks.CSVLogger, "__init__", to_nowhere, why=why)
    patches.around(keras.callbacks.TensorBoard, "__init__", to_temporary, why=why)
