"""Train the same model on one device and on replicas, and hold the two against each other."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat import parallelize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from parallel_compat import ParallelModel

TOLERANCE = 5e-5


def mlp(**dense: Any) -> keras.Model:
    """8 features to 3 classes."""
    inputs = keras.Input((8,), name="x")
    hidden = keras.layers.Dense(16, activation="tanh", **dense)(inputs)
    return keras.Model(inputs, keras.layers.Dense(3, activation="softmax", name="probs")(hidden))


def classes(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Inputs `(rows, 8)` and one-hot targets `(rows, 3)`, both float32."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(rows, 8)).astype("float32")
    return x, np.eye(3, dtype="float32")[generator.integers(0, 3, rows)]


def difference(first: Any, second: Any) -> float:
    """The largest absolute difference of two structures of arrays."""
    pairs = zip(keras.tree.flatten(first), keras.tree.flatten(second), strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - np.asarray(b)), initial=0)) for a, b in pairs)


@contextlib.contextmanager
def plain_graphs() -> Iterator[None]:
    """TensorFlow runs graphs as they are: to optimize them takes longer than to run them a few times."""
    before = tf.config.optimizer.get_experimental_options().get("disable_meta_optimizer", False)
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": before})


def train_both(
    build: Callable[[], keras.Model],
    compile_arguments: Callable[[], dict[str, Any]],
    *data: Any,
    replicas: int = 2,
    merge: Any = "auto",
    weights: str = "auto",
    tolerance: float = TOLERANCE,
    fit: dict[str, Any] | None = None,
    evaluate: bool = True,
    predict: bool = True,
) -> tuple[keras.Model, ParallelModel]:
    """Train on one device and on replicas, three epochs on batches of 32, and compare all that comes out.

    Args:
        build: makes the model, the same each time.
        compile_arguments: makes the arguments of `compile`, anew each time.
        *data: what `fit` gets as `x`, `y`, ...
        replicas: how many.
        merge: as in `parallelize`.
        weights: as in `parallelize`.
        tolerance: on weights, history, evaluation and predictions.
        fit: further arguments of `fit`.
        evaluate: whether evaluations are compared, too: an optimizer does not change them.
        predict: whether predictions are compared, too: what a model is compiled with does not change them.

    Returns:
        The model of one device and the parallel model.
    """
    arguments = {"batch_size": 32, "epochs": 3, "shuffle": False, "verbose": 0, **(fit or {})}
    runs = []
    for n in (1, replicas):
        keras.utils.set_random_seed(0)
        template = build()
        model = parallelize(template, n, merge=merge, weights=weights) if n > 1 else template
        model.compile(**compile_arguments())
        if n == 1:  # Keras's own trainer does it while it traces, and loses what ScheduleFreeAdamW assigns there
            model.optimizer.build(model.trainable_variables)
        with plain_graphs() if n == 1 else contextlib.nullcontext():
            before = template.get_weights()
            history = model.fit(*data, **arguments).history
            trained = template.get_weights()
            assert difference(before, trained) > 1e-3, "the training moved nothing, so it compares nothing"
            results = {"weights": trained, "history": history}
            if evaluate:
                results["evaluate"] = model.evaluate(*data[:2], batch_size=32, verbose=0, return_dict=True)
            if predict:
                results["predict"] = model.predict(data[0], batch_size=32, verbose=0)
        runs.append((model, results))
    (one, expected), (parallel, actual) = runs
    for name, e in expected.items():
        a = actual[name]
        if name in ("history", "evaluate") and keras.__version__.startswith("3.16.0.dev"):
            # That nightly logs the loss of one of several outputs with the weight 1 for a smaller last batch.
            e, a = ({of: logged for of, logged in logs.items() if not of.endswith("_loss")} for logs in (e, a))
        found = difference(e, a)
        assert found <= tolerance, f"{name} differ by {found}: expected {e}, received {a}"
    return one, parallel
