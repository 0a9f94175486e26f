"""Records `own_optimizers.json`: `parallel-compat run --era keras-2.2.4 record_own_optimizers.py`, in this folder.

The classes are those of `tests/legacy/test_graph_optimizers.py`, on Keras 2.2.4's own code. `run` orders the reads and
writes of a step; on TensorFlow 1 they raced, and the number of a step was read before or after it was counted up.
"""

import ast
import json
from pathlib import Path

import keras
import numpy as np
from keras import backend as K
from keras import optimizers
from keras.optimizers import Adam, Optimizer

HERE = Path(__file__).parent
TEST = (HERE.parent.parent / "legacy" / "test_graph_optimizers.py").read_text()
NAMES = ("Decayed", "Accumulating", "Looking", "Partial", "MADE", "SHAPES", "numbers", "X", "Y", "model", "train")


def names_of(node):
    if isinstance(node, ast.Assign):
        return [name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    return [getattr(node, "name", "")]


def rate_first(kind):
    return lambda rate, **settings: kind(lr=rate, **settings)


class Of224:
    """`keras.optimizers.Adam(0.02)` of Keras 3, where Keras 2.2.4 had `lr` first as well."""

    serialize = staticmethod(optimizers.serialize)
    Adam, RMSprop, Adagrad, Adamax, Nadam = map(
        rate_first, (Adam, optimizers.RMSprop, optimizers.Adagrad, optimizers.Adamax, optimizers.Nadam)
    )


class Keras:
    optimizers = Of224
    constraints, layers = keras.constraints, keras.layers

    @staticmethod
    def Sequential(layers):
        layers[0].batch_input_shape, layers[0].dtype = (None, 4), "float32"
        made = keras.models.Sequential(layers)
        made.build = lambda shape: None
        return made


keras.constraints.MaxNorm = keras.constraints.max_norm
space = {"K": K, "np": np, "Optimizer": Optimizer, "Adam": Adam, "keras": Keras, "get": optimizers.get}
space["optimizers"] = optimizers
tree = ast.parse(TEST)
tree.body = [node for node in tree.body if set(names_of(node)) & set(NAMES)]
exec(compile(tree, "classes", "exec"), space)
results = {}
for name, make in space["MADE"].items():
    K.clear_session()
    trained = space["model"]()
    trained.compile(loss="mse", optimizer=make())
    losses = space["train"](trained, 30)
    sums = [float(np.sum(weight)) for weight in trained.get_weights()]
    results[name] = {"losses": losses, "sums": sums, "weights": len(trained.optimizer.get_weights())}
(HERE / "own_optimizers.json").write_text(json.dumps(results, indent=1) + "\n")
