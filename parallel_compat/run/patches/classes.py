"""What `run` puts on Keras's own classes: old arguments, methods and attributes, for the user's code.

The classes stay what they are, so `isinstance`, subclasses and pickles work. An old member looks as if it were not
there when anybody but the user's code asks for it; an old argument is taken from the user's code alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parallel_compat.backend.keras3 import graphs_of_programs, patch_points
from parallel_compat.backend.patches import TENSORFLOW
from parallel_compat.names.identifiers import FUNCTIONS_TODAY, SHORT_FUNCTIONS, identifiers
from parallel_compat.run import own_optimizers
from parallel_compat.run.patches import (
    callbacks,
    configs,
    constructors,
    graph,
    layer_members,
    layers,
    members,
    models,
    numbers,
    refused_numbers,
    strategies,
)
from parallel_compat.run.patches.wrapping import looking_alike

if TYPE_CHECKING:
    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches) -> None:
    """Put everything on the classes of an imported Keras."""
    import keras
    import tensorflow as tf

    # `losses.mse(K.variable(a), K.variable(b))`: Keras 3's operations ask for it, and take TensorFlow's tensors.
    patches.set(
        tf.Variable,
        "ndim",
        property(lambda variable: variable.shape.rank),
        why="Keras's operations take TensorFlow's variables",
        read_in=TENSORFLOW,
    )
    for owner, name, wrap in graphs_of_programs.points():  # below those that ask who calls
        patches.wrap(owner, name, looking_alike(wrap), why="Keras has no part in a graph that a program made itself")
    members.put_on(patches, keras)
    layers.put_on_constructors(patches, keras)
    refused_numbers.put_on(patches, keras)
    constructors.put_on(patches, keras)
    callbacks.put_on(patches, keras)
    layer_members.put_on(patches, keras)
    graph.put_on(patches)
    strategies.put_on(patches)
    models.put_on(patches, keras)
    patches.set(
        keras.layers.Layer,
        "__init_subclass__",
        classmethod(constructors.reads_its_regularizer),
        why="a user's class may compute `activity_regularizer`, which no constructor of a layer assigned",
    )
    patches.set(
        patch_points.image_iterator_class(),
        "next",
        lambda batches: next(batches),
        why="`batches.next()`, the spelling of Python 2",
    )
    for owner, name, wrap in patch_points.of_names_of_functions(_function_of_old_name):
        patches.wrap(owner, name, looking_alike(wrap), why="names are looked up in `get_custom_objects()` first")
    for owner, name, wrap in patch_points.of_reductions(_with_auto):
        patches.wrap(owner, name, looking_alike(wrap), why="`Reduction.AUTO`, which was the mean over the batch")
    layers.put_on(patches, keras)
    numbers.put_on(patches, keras)
    configs.put_on(patches, keras)  # around what others put on `get_config`
    own_optimizers.put_on(patches, keras)


def _with_auto(original: Any) -> Any:
    def standardize_reduction(reduction: Any) -> Any:
        return original("sum_over_batch_size" if reduction == "auto" else reduction)

    return standardize_reduction


def _function_of_old_name(kind: str, name: str) -> Any:
    """Return what a name that Keras 3 does not know stands for: a function, a regularizer, or today's name."""
    if (kind, name) == ("regularizers", "l1_l2"):
        from keras import regularizers

        return regularizers.L1L2(0.01, 0.01)
    if kind == "constraints":
        row = identifiers()["constraint"].get(name)
        return None if row is None else row.new
    today = FUNCTIONS_TODAY.get(SHORT_FUNCTIONS.get(name, name)) if kind in ("losses", "metrics") else None
    if today is None:
        return None
    from keras import losses

    return getattr(losses, today)
