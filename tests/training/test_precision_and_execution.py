"""Mixed precision, several steps per execution, eager execution, XLA."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import ops as K

from parallel_compat import parallelize
from tests.one_device import classes, mlp, train_both


def compiled(**arguments):
    return lambda: {
        "optimizer": keras.optimizers.Adam(0.01),
        "loss": "categorical_crossentropy",
        "metrics": ["accuracy"],
        **arguments,
    }


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision(policy):
    keras.config.set_dtype_policy(policy)
    # float16 keeps 11 bits and bfloat16 8: the replicas' sums round differently.
    tolerance = 5e-3 if policy == "mixed_float16" else 5e-2
    sgd = compiled(optimizer=keras.optimizers.SGD(0.1))
    _, parallel = train_both(mlp, lambda: {**sgd(), "optimizer": keras.optimizers.SGD(0.1)}, *classes(101), replicas=3,
                             tolerance=tolerance)  # fmt: skip
    scaled = isinstance(parallel.optimizer, keras.optimizers.LossScaleOptimizer)
    assert scaled == (policy == "mixed_float16")
    assert parallel.predict(classes(4)[0], verbose=0).dtype == "float16" or policy == "mixed_bfloat16"


def test_policy_of_the_template_counts_not_the_global_one():
    keras.config.set_dtype_policy("mixed_float16")
    template = mlp()
    keras.config.set_dtype_policy("float32")
    parallel = parallelize(template, 2)
    parallel.compile("sgd", "mse")
    assert isinstance(parallel.optimizer, keras.optimizers.LossScaleOptimizer)
    assert parallel.predict(classes(4)[0], verbose=0).dtype == "float16"


def test_float64():
    keras.config.set_dtype_policy("float64")
    train_both(mlp, compiled(), *classes(101), replicas=3)


@pytest.mark.parametrize("steps", [2, 3])
def test_steps_per_execution(steps):
    train_both(mlp, compiled(steps_per_execution=steps), *classes(101), replicas=3)


def test_steps_per_execution_merged():
    def dice(y_true, y_pred):
        return 1 - 2 * K.sum(y_true * y_pred) / K.sum(y_true + y_pred)

    train_both(mlp, compiled(steps_per_execution=2, loss=dice, metrics=[dice]), *classes(101), replicas=3)


def test_run_eagerly():
    train_both(mlp, compiled(run_eagerly=True), *classes(101), replicas=3)


def test_run_eagerly_runs_functions_that_need_values():
    def with_numpy(y_true, y_pred):
        assert np.isfinite(y_pred.numpy()).all()
        return K.mean(K.square(y_true - y_pred))

    train_both(mlp, compiled(run_eagerly=True, loss=with_numpy, metrics=[with_numpy]), *classes(40), replicas=2)


def test_xla_is_refused():
    parallel = parallelize(mlp(), 2)
    with pytest.raises(ValueError, match="jit_compile"):
        parallel.compile("sgd", "mse", jit_compile=True)
    parallel.compile("sgd", "mse", jit_compile="auto")
    assert not parallel.jit_compile
