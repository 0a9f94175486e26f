"""Collections of a graph of TensorFlow 1, asked by way of `tf.compat.v1`: no variable of Keras 3 is in one.

`sum(tf.nn.l2_loss(each) for each in tf.compat.v1.trainable_variables())` would be 0 without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from parallel_compat.backend.keras3 import graphs_of_programs
from parallel_compat.legacy import execution
from parallel_compat.run import callers

if TYPE_CHECKING:
    from collections.abc import Callable


def _of_model(name: str, instead: str) -> Callable[..., Any]:
    def function(*given: Any, **keywords: Any) -> Any:
        # Code of TensorFlow 2 got an empty list, too.
        if execution.computes_in_graphs(callers.era_of_caller()) and not graphs_of_programs.is_in_one():
            raise NotImplementedError(
                f"`tf.compat.v1.{name}`: the variables and losses of Keras 3 are in no collection of a graph, what it "
                f"gives would be empty. Use {instead}."
            )
        return getattr(tf.compat.v1, name)(*given, **keywords)

    function.__name__ = name
    return function


global_variables = _of_model("global_variables", "`model.weights`")
trainable_variables = _of_model("trainable_variables", "`model.trainable_weights`")
model_variables = _of_model("model_variables", "`model.weights`")
get_collection = _of_model("get_collection", "`model.weights` or `model.losses`")
get_collection_ref = _of_model("get_collection_ref", "`model.weights` or `model.losses`")
