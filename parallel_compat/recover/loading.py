"""Load a checkpoint's weights into a living Keras model, whatever kind of file they are in."""

from __future__ import annotations

import itertools
import math
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np

from parallel_compat.backend.keras3.h5_files import weights_in_file
from parallel_compat.recover import keras1, resnet50_files, weight_edits
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.h5_writer import gather
from parallel_compat.recover.keras_models import Layers, layer_at, tree_of
from parallel_compat.recover.layer_tree import Branch, Leaf, Node, Path
from parallel_compat.recover.layer_weights import Spec
from parallel_compat.recover.parallel_wrapper import Wrapper
from parallel_compat.recover.placement import place, split
from parallel_compat.recover.reader import Stored, StoredArray, StoredLayer, read
from parallel_compat.recover.rules.activations import SEPARABLE, SUMMED
from parallel_compat.recover.rules.kernels import CORRELATING, TURNED
from parallel_compat.recover.single_model import (
    Template,
    template_of,
    wrappers_of_weights,
    written_by_keras3,
)
from parallel_compat.warning_category import ParallelCompatWarning

Array = np.ndarray[Any, Any]

_OF_MEANS = ("total", "count")
# Keras 2.2's `conv_layers`: the layers whose kernels `load_weights(reshape=True)` reshaped.
_CONVOLUTIONS = frozenset({"Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "ConvLSTM2D"})


@dataclass(frozen=True)
class LoadedWeights:
    """What `load_template_weights` found in a file, and did.

    Attributes:
        path: the file.
        form: "model" (a whole model) or "weights".
        wrappers: the parallel models around the single one, outermost first; none in a single model's file.
        keras_version: of the Keras that wrote it.
        weights: how many arrays were loaded.
        notes: what else a user should know.
    """

    path: str
    form: str
    wrappers: tuple[Wrapper, ...]
    keras_version: str | None
    weights: int
    notes: tuple[str, ...] = field(default=())

    @property
    def parallel(self) -> bool:
        """Whether a parallel model wrote the file."""
        return bool(self.wrappers)

    @property
    def gpus(self) -> int | None:
        """Over how many devices; None for a single model."""
        return self.wrappers[0].gpus if self.wrappers else None

    def __str__(self) -> str:
        kind = "whole model" if self.form == "model" else "weights"
        owner = f"a parallel model over {self.gpus} devices" if self.wrappers else "a single model"
        return f"Loaded {self.weights} weights from {self.path} ({kind} of {owner}, Keras {self.keras_version})."


def load_template_weights(
    model: Any, path: str | os.PathLike[str], *, reshape: bool = False, max_bytes: int | None = None
) -> LoadedWeights:
    """Load the weights of an old checkpoint into a single model, whether a parallel or a single model wrote them.

    The file may hold a whole model or weights, of Keras 1 to 3 or tf.keras. No code in it is executed. All weights are
    found and their shapes are compared before the first one changes.

    Examples:
        >>> import keras, parallel_compat
        >>> layers = [keras.layers.Dense(16, "tanh"), keras.layers.Dense(3, "softmax")]
        >>> model = keras.Sequential([keras.Input((8,)), *layers])
        >>> print(parallel_compat.load_template_weights(model, "old_parallel.h5"))
        Loaded 4 weights from old_parallel.h5 (whole model of a parallel model over 2 devices, Keras 2.2.4).

    Args:
        model: a built `keras.Model` of Keras 3.
        path: the checkpoint.
        reshape: reshape an array to a convolution's kernel of the same size, for example from a `Dense` layer that a
            1x1 convolution replaces. As `load_weights(reshape=True)` in Keras 2.2.
        max_bytes: limit of the total size of the arrays. Default: eight times the file's size, at least 32 MiB.

    Returns:
        A record of what was loaded. Printed, it is one sentence.

    Raises:
        CheckpointError: if the file is unreadable, would load nothing, or does not fit the model. The model is then
            unchanged.
    """
    if not model.built or not model.weights:
        raise CheckpointError(
            f"The model {model.name!r} has no weights yet. Build it (call it once, or give it "
            f"an Input) before loading {path}."
        )
    with read(path, max_bytes=max_bytes) as reading:
        stored = reading.stored
        arrays = [gather(array, pieces) for array, pieces in reading.arrays()]
    if stored.form == "keras3":
        return _load_by_keras(model, stored)
    if not arrays:
        raise CheckpointError(f"{stored.path}: it contains no weights; nothing would be loaded.")
    stored = _as_keras2(stored)
    tree = tree_of(model)
    if not isinstance(tree, Branch):
        raise CheckpointError(f"Expected a model of layers. Received: {type(model).__name__}.")
    template = _template(stored) if not written_by_keras3(stored) and stored.form == "model" else None
    wrappers = tuple(template.wrappers) if template is not None else ()
    with resnet50_files.named_as_in(stored, tree) as now:
        indices = _by_layers(template, tree, arrays) or {} if template is not None else {}
        if not indices:
            wrappers = wrappers if template is not None else tuple(wrappers_of_weights(stored))
            indices = _by_groups(stored, tree, arrays, parallel=bool(wrappers), reshape=reshape)
    indices = {now.get(path, path): positions for path, positions in indices.items()}
    notes: list[str] = []
    values = _values(model, tree, indices, arrays, template, notes, stored, reshape=reshape)
    mine = {id(variable) for variable, _ in values}
    left = [variable.path for variable in model.weights if id(variable) not in mine]
    if left:
        raise CheckpointError(f"{stored.path}: there are no weights in it for {', '.join(left[:5])} of the model.")
    for variable, value in values:
        variable.assign(value)
    return LoadedWeights(stored.path, stored.form, wrappers, stored.keras_version, len(values), tuple(notes))


def load_weights_by_name(
    model: Any,
    path: str | os.PathLike[str],
    *,
    names: Callable[[Stored], Mapping[Any, str]] = lambda stored: {},
    skip_mismatch: bool = False,
    reshape: bool = False,
) -> LoadedWeights:
    """Load the weights of those layers of a living model that a file has by name.

    A parallel model's file has one layer with weights, the template: it is loaded as `load_template_weights` does.

    Args:
        model: a `keras.Model`, or what has `layers`.
        names: given the file, returns layer -> its name in the file, where that is another.

    Raises:
        CheckpointError: the file is unreadable, or a layer's weights do not fit. The model is then as it was before.
    """
    with read(path) as reading:
        stored = reading.stored
        arrays = [gather(array, pieces) for array, pieces in reading.arrays()]
    stored = _as_keras2(stored)
    template = _template(stored) if stored.form == "model" and not written_by_keras3(stored) else None
    if (template is not None and template.wrappers) or wrappers_of_weights(stored):
        return load_template_weights(model, path, reshape=reshape)
    groups: dict[str, tuple[StoredLayer | None, int]] = {}
    start = 0
    for stored_layer in stored.layers:
        groups[stored_layer.name] = (stored_layer, start)
        start += len(stored_layer.weights)
    of_resnet50 = resnet50_files.names_in(stored, [layer.name for layer in model.layers])
    renamed = {layer: of_resnet50[layer.name] for layer in model.layers if layer.name in of_resnet50} | dict(
        names(stored)
    )
    notes: list[str] = []
    pairs: list[tuple[Any, Array]] = []
    for layer in model.layers:
        group, first = groups.get(renamed.get(layer, layer.name), (None, 0))
        if group is None or (not group.weights and not weights_in_file(layer)):
            continue
        try:
            given = arrays[first : first + len(group.weights)]
            pairs += _of_layer(layer, group, given, notes, stored, reshape=reshape)
        except CheckpointError as error:
            if not skip_mismatch:
                raise
            fitting = _that_fit(layer, group, given, notes, stored)
            pairs += fitting
            count = len(weights_in_file(layer))
            kept = f"{count - len(fitting)} of its {count} weights are not changed."
            warnings.warn(f"{error} {kept}", ParallelCompatWarning, stacklevel=3)
    for variable, value in pairs:
        variable.assign(value)
    return LoadedWeights(stored.path, stored.form, (), stored.keras_version, len(pairs), tuple(notes))


def _of_layer(
    layer: Any,
    group: StoredLayer,
    arrays: list[Array],
    notes: list[str],
    stored: Stored,
    *,
    reshape: bool,
    any_shape: bool = False,
) -> list[tuple[Any, Array]]:
    """Pair the variables of one layer with their values in its group."""
    node = tree_of(layer, (layer.name,))
    _loosen(node, kernels=reshape, everything=any_shape)
    _lay_out(stored, node, group.weights)
    tree = Branch((), [node])
    with resnet50_files.named_as_in(stored, tree) as now:
        found = place(node, group.weights, f"{stored.path}: layer {group.name[:80]!r} for {layer.name!r}")
    indices = {now.get(path, path): positions for path, positions in found.items()}
    return _values(Layers([layer]), tree, indices, arrays, None, notes, stored, reshape=reshape, any_shape=any_shape)


def _that_fit(
    layer: Any, group: StoredLayer, arrays: list[Array], notes: list[str], stored: Stored
) -> list[tuple[Any, Array]]:
    """Pair those variables of a layer whose values have their shapes, as Keras 2 did with `skip_mismatch`."""
    try:
        pairs = _of_layer(layer, group, arrays, notes, stored, reshape=False, any_shape=True)
    except CheckpointError:
        return []
    return [(variable, value) for variable, value in pairs if tuple(variable.shape) == value.shape]


def _as_keras2(stored: Stored) -> Stored:
    return keras1.as_keras2(stored) if keras1.is_keras1(stored) else stored


def _lay_out(stored: Stored, node: Node, arrays: Sequence[StoredArray]) -> None:
    """Set the weights that the layers of a model expect to those of a file of Keras 1."""
    gate_by_gate = any(split(array.name)[1] in ("W_i", "W_z") for array in arrays)
    for leaf in node.leaves() if (stored.keras_version or "").startswith(("0.", "1")) else ():
        keras1.lay_out(leaf, gate_by_gate=gate_by_gate)


def _template(stored: Stored) -> Template | None:
    """Understand a whole model's file by its config, where it has one that can be understood."""
    try:
        return template_of(stored)
    except CheckpointError:
        # Subclassed, or of a Keras between 2.4 and 2.15: its lists of names remain.
        if not wrappers_of_weights(stored) and stored.keras_version is not None and _before_2_4(stored.keras_version):
            raise
        return None


def _before_2_4(version: str) -> bool:
    return tuple(int(number) for number in re.findall(r"\d{1,4}", version)[:2]) < (2, 4)


def _load_by_keras(model: Any, stored: Stored) -> LoadedWeights:
    """Let Keras 3 read its own format; the reading process has looked at every object in the file."""
    try:
        model.load_weights(stored.path)
    except Exception as error:
        raise CheckpointError(
            f"{stored.path}: Keras cannot load these weights of its own format into "
            f"{model.name!r} ({str(error)[:500]})."
        ) from error
    return LoadedWeights(stored.path, "weights", (), "3", len(model.weights))


def _by_layers(template: Template, tree: Branch, arrays: list[Array]) -> dict[Path, list[int]] | None:
    """Match the file's layers with the model's: by their names, or one by one in order."""
    assert template.tree is not None
    mine = [leaf for leaf in tree.leaves() if leaf.specs]
    theirs = [leaf for leaf in template.tree.leaves() if leaf.path in template.indices]
    if len(mine) != len(theirs):
        again = _listed_again(template.stored, arrays, [template.indices[leaf.path] for leaf in theirs])
        theirs = [leaf for leaf, twice in zip(theirs, again, strict=True) if not twice]
    paths = {leaf.path for leaf in mine}
    if paths == {leaf.path for leaf in theirs}:
        return {path: template.indices[path] for path in paths}
    if len(mine) != len(theirs):
        raise CheckpointError(
            f"{template.stored.path}: expected weights for the {len(mine)} layers of the "
            f"model ({_listed(mine)}). "
            f"Received: {len(theirs)} layers ({_listed(theirs)})."
        )
    for length in range(1, len(mine[0].path)):  # of a model around the template: a parallel model was given
        around = mine[0].path[:length]
        if paths == {(*around, *leaf.path) for leaf in theirs}:
            return {(*around, *path): indices for path, indices in template.indices.items()}
    pairs = resnet50_files.paired(mine, theirs, lambda leaf: leaf.path[-1], lambda leaf: leaf.path[-1])
    return {leaf.path: template.indices[other.path] for leaf, other in pairs}


def _listed_again(stored: Stored, arrays: list[Array], groups: list[list[int]]) -> list[bool]:
    """Return for each group of weights whether all of them are in groups before it, under the same names.

    After `add_loss` of a tensor from within a model inside, as in the example of a variational autoencoder, tf.keras
    listed the layers that made it beside that model, and wrote their weights twice.
    """
    names = [weight.name for weight in stored.weights]
    before: dict[str, Array] = {}
    found = []
    for group in groups:
        found.append(all(names[at] in before and np.array_equal(before[names[at]], arrays[at]) for at in group))
        before.update((names[at], arrays[at]) for at in group)
    return found


def _by_groups(
    stored: Stored, tree: Branch, arrays: list[Array], *, parallel: bool, reshape: bool
) -> dict[Path, list[int]]:
    """Match a file without a usable config: its groups are the model's layers, or one is the whole template."""
    flat = stored.weights
    _loosen(tree, kernels=reshape)
    if parallel:
        _lay_out(stored, tree, flat)
        return place(tree, flat, f"{stored.path}: the template in it")
    kept = _without_metrics(flat, tree)
    starts = list(itertools.accumulate((len(layer.weights) for layer in stored.layers), initial=0))
    held = {
        layer.name: [at for at in range(start, end) if at in kept]
        for layer, start, end in zip(stored.layers, starts, starts[1:], strict=False)
    }
    full = [layer for layer in stored.layers if held[layer.name]]
    tops = [child for child in tree.children if any(leaf.specs for leaf in child.leaves())]
    while len(tops) != len(full) and len(tops) == 1 and isinstance(tops[0], Branch):
        tops = [
            child for child in tops[0].children if any(leaf.specs for leaf in child.leaves())
        ]  # a parallel model was given
    if len(tops) != len(full):
        again = _listed_again(stored, arrays, [held[layer.name] for layer in full])
        full = [layer for layer, twice in zip(full, again, strict=True) if not twice]
    if len(tops) != len(full):
        raise CheckpointError(
            f"{stored.path}: expected weights for {len(tops)} layers "
            f"({', '.join(top.path[-1] for top in tops[:8])}). Received: {len(full)} layers "
            f"({', '.join(layer.name for layer in full[:8])})."
        )
    by_name = {layer.name: layer for layer in full}
    named = set(by_name) == {top.path[-1] for top in tops}
    found: dict[Path, list[int]] = {}
    pairs = resnet50_files.paired(tops, full, lambda top: top.path[-1], lambda layer: layer.name)
    for top, in_order in pairs:
        layer = by_name[top.path[-1]] if named else in_order
        where = f"{stored.path}: layer {layer.name[:80]!r} for {top.path[-1]!r}"
        _lay_out(stored, top, layer.weights)
        for path, own in place(top, [flat[at] for at in held[layer.name]], where).items():
            found[path] = [held[layer.name][number] for number in own]
    return found


def _without_metrics(flat: Sequence[StoredArray], tree: Branch) -> set[int]:
    """Return the positions of a file's weights, but for those of metrics where the model has no weights for them.

    In TensorFlow 2.2 a `Mean` that a layer or model kept as an attribute was one of its layers: its `total` and
    `count` stand in files of weights.
    """
    everything = set(range(len(flat)))
    specs = [leaf.specs for leaf in tree.leaves()]
    without = {at for at in everything if split(flat[at].name)[1] not in _OF_MEANS or flat[at].shape != ()}
    fits = all(each is not None for each in specs) and sum(len(each or ()) for each in specs) == len(without)
    return without if fits else everything


def _loosen(node: Node, *, kernels: bool, everything: bool = False) -> None:
    """Let biases of LSTM and GRU pass in cuDNN's shape, too, and kernels in any; `_values` converts them."""
    for leaf in node.leaves():
        if everything and leaf.specs:
            leaf.specs = tuple(Spec(spec.name, None, spec.trainable) for spec in leaf.specs)
            continue
        loose = "bias" if leaf.class_name in ("LSTM", "GRU") else None
        if kernels and leaf.class_name in _CONVOLUTIONS:
            loose = "kernel"
        if loose is not None and leaf.specs:
            leaf.specs = tuple(
                Spec(spec.name, None if spec.name == loose else spec.shape, spec.trainable) for spec in leaf.specs
            )


def _values(
    model: Any,
    tree: Branch,
    indices: dict[Path, list[int]],
    arrays: list[Array],
    template: Template | None,
    notes: list[str],
    stored: Stored,
    *,
    reshape: bool,
    any_shape: bool = False,
) -> list[tuple[Any, Array]]:
    """Pair each of the model's variables with its value; raise before anything is changed if one does not fit."""
    pairs: list[tuple[Any, Array]] = []
    path, old = stored.path, not written_by_keras3(stored)
    for leaf in tree.leaves():
        if not leaf.specs:
            continue
        where = "/".join(leaf.path)
        if leaf.path not in indices:
            raise CheckpointError(f"{path}: there are no weights in it for the layer {where!r}.")
        layer = layer_at(model, leaf.path)
        values = [arrays[position] for position in indices[leaf.path]]
        variables = weights_in_file(layer)
        if old:
            edits = [*_layout(leaf, layer, values, stored, notes), *_edits(leaf, layer, values, notes)]
            values = weight_edits.apply(edits, leaf.class_name, values)
        if reshape and leaf.class_name in _CONVOLUTIONS and values[0].size == math.prod(variables[0].shape):
            values = [values[0].reshape(variables[0].shape), *values[1:]]
        shapes, received = ([tuple(variable.shape) for variable in variables], [value.shape for value in values])
        if shapes != received and not (any_shape and len(shapes) == len(received)):
            raise CheckpointError(
                f"{path}: layer {where!r}: expected weights of the shapes {shapes}. Received: {received}."
            )
        pairs += list(zip(variables, values, strict=True))
    if template is not None:
        _check_hard_sigmoid(model, template, indices, path)
    return pairs


def _layout(leaf: Leaf, layer: Any, values: list[Array], stored: Stored, notes: list[str]) -> list[str]:
    """Return the edits that turn kernels of Keras 1 and Theano into those of Keras 2 on TensorFlow."""
    edits = []
    if (stored.keras_version or "").startswith(("0.", "1")):
        edits += keras1.edits(leaf.class_name, getattr(layer, "data_format", None), len(values))
    if leaf.class_name in TURNED and stored.backend is not None and stored.backend not in CORRELATING:
        if stored.backend != "theano":
            raise CheckpointError(
                f"{stored.path}: expected kernels of Keras on TensorFlow or Theano. Received: those of "
                f"{stored.backend[:40]!r} for the layer {layer.name!r}; their orientation is not known."
            )
        edits.append("turned")
        even = any(side % 2 == 0 for side in layer.kernel_size)
        if getattr(layer, "padding", None) == "same" and (even or set(layer.strides) != {1}):
            notes.append(
                f"layer {layer.name!r}: Theano placed the windows of `padding='same'` differently, so the layer gives "
                "other results here. `recover_template` writes a model with the old results."
            )
    return edits


def _edits(leaf: Leaf, layer: Any, values: list[Array], notes: list[str]) -> list[str]:
    """Return the edits that make an old layer's weights fit a layer of today."""
    edits = []
    bias = values[2].shape if len(values) == 3 else ()
    if leaf.class_name == "LSTM" and bias == (8 * layer.units,):
        edits.append("cudnn_lstm")
    if leaf.class_name == "GRU" and bias == (6 * layer.units,):
        if not layer.reset_after:
            raise CheckpointError(
                f"layer {layer.name!r}: weights of a CuDNNGRU fit a GRU with "
                "`reset_after=True` only. Received: reset_after=False."
            )
        edits.append("cudnn_gru")
    new = keras.activations.hard_sigmoid
    if not edits and getattr(layer, "recurrent_activation", None) is new and leaf.class_name in weight_edits.GATES:
        edits.append("old_hard_sigmoid_gates")
    if getattr(layer, "activation", None) is new and leaf.class_name in SUMMED:
        edits.append("old_hard_sigmoid")
    if getattr(layer, "activation", None) is new and leaf.class_name in SEPARABLE:
        edits.append(weight_edits.part_of("old_hard_sigmoid", leaf.class_name, 1, len(values)))
    start = 0
    for cell in _cells(layer):
        stop = start + len(cell.weights)
        if getattr(cell, "recurrent_activation", None) is new:
            edits.append(weight_edits.part_of("old_hard_sigmoid_gates", type(cell).__name__, start, stop))
        start = stop
    if any(edit.startswith("old_hard_sigmoid") for edit in edits):
        notes.append(
            f"layer {layer.name!r}: Keras 3's hard_sigmoid is another function; its weights "
            "were multiplied by 1.2, which gives the old values."
        )
    return edits


def _cells(layer: Any) -> list[Any]:
    """Return the cells that a living RNN has: one, or those of a stack."""
    if type(layer).__name__ != "RNN":
        return []
    waiting, found = [layer.cell], []
    while waiting:
        cell = waiting.pop(0)
        if type(cell).__name__ == "StackedRNNCells":
            waiting = [*cell.cells, *waiting]
        else:
            found.append(cell)
    return found


def _check_hard_sigmoid(model: Any, template: Template, indices: dict[Path, list[int]], path: str) -> None:
    """Refuse a model whose gates are Keras 3's default where the file's were Keras 2's default."""
    assert template.translation is not None
    where = {tuple(positions): leaf for leaf, positions in indices.items()}
    for leaf, edits in template.translation.edits.items():
        target = where.get(tuple(template.indices.get(leaf, ())))
        if target is None or not any(edit.startswith("old_hard_sigmoid_gates") for edit in edits):
            continue
        layer = layer_at(model, target)
        gated = _cells(layer) or [layer]
        if any(getattr(one, "recurrent_activation", None) is keras.activations.sigmoid for one in gated):
            raise CheckpointError(
                f"{path}: layer {layer.name!r}: expected recurrent_activation='hard_sigmoid', "
                "as in the file (it was Keras 2's default). "
                "Received: 'sigmoid' (Keras 3's default). Give the layer that argument, or "
                "use `recover_template`."
            )


def _listed(leaves: list[Leaf]) -> str:
    names = ["/".join(leaf.path) for leaf in leaves]
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


__all__ = ["LoadedWeights", "load_template_weights"]
