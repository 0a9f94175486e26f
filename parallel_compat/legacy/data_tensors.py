"""Tensors in the place of data: `Input(tensor=variable)`, and `compile(target_tensors=[variable])`.

In a graph an input or a target of a model could be a variable, or what an iterator's `get_next()` returned: each step
read it again, and `fit` was not given it. Here `fit` and its relatives read it for each step, as a part of the batch.
Read in Keras 2.2.4's `keras/engine/training.py` and `keras/engine/network.py` (`_feed_inputs`, `target_tensors`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3.symbolic_values import history_kept
from parallel_compat.batches import ordered_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Bound here: under `run` an attribute of Keras's modules is found by a function of python.
_flatten, _map = keras.tree.flatten, keras.tree.map_structure

_MARK = "_parallel_compat_data"
_TARGETS = "_parallel_compat_target_tensors"


class Element:
    """What one `get_next()` of an iterator stands for in a graph: the iterator's next element, in each step.

    Args:
        iterator: returns the iterator.
        first: the element that it gave already, which is the first step's.
    """

    def __init__(self, iterator: Callable[[], Any], first: Any) -> None:
        self._iterator = iterator
        self._waiting = [first]
        for place, tensor in enumerate(_flatten(first)):
            if hasattr(tensor, "numpy"):
                setattr(tensor, _MARK, (self, place))

    def take(self, step: Step) -> list[Any]:
        """Return the tensors of the next step.

        Args:
            step: the values of that step; not used.

        Raises:
            tf.errors.OutOfRangeError: there are no more.
        """
        flat: list[Any] = _flatten(self._waiting.pop() if self._waiting else self._iterator().get_next())
        return flat

    def forget(self) -> None:
        """Leave the first element out: the iterator has begun anew."""
        self._waiting.clear()


class Computed:
    """What a function of the backend computed from variables, or from other tensors in the place of data.

    Args:
        function: the function.
        arguments: its positional arguments.
        keywords: its arguments by name.
    """

    def __init__(self, function: Callable[..., Any], arguments: Any, keywords: Any) -> None:
        self._function, self._given = function, (arguments, keywords)

    def take(self, step: Step) -> list[Any]:
        """Return what it computes in a step.

        Args:
            step: the values of that step.
        """

        def value(leaf: Any) -> Any:
            return tf.convert_to_tensor(step.value(leaf)) if hasattr(leaf, _MARK) else leaf

        arguments, keywords = _map(value, self._given)
        return [self._function(*arguments, **keywords)]


def remember(result: Any, function: Callable[..., Any], arguments: Any, keywords: Any) -> None:
    """Let a tensor that was computed from what is in the place of data be in that place as well.

    Args:
        result: what the function gave.
        function: the function.
        arguments: its positional arguments.
        keywords: its arguments by name.
    """
    if hasattr(result, "numpy") and any(is_data(leaf) for leaf in _flatten((arguments, keywords))):
        setattr(result, _MARK, (Computed(function, arguments, keywords), 0))


class Initializer:
    """What `tf.global_variables_initializer()` returns: variables are initialised when they are made.

    A session runs it; that of an iterator begins it anew.
    """

    def run(self, *_arguments: Any, **_keywords: Any) -> None:
        """Do nothing."""

    def __call__(self) -> None:
        """Do nothing: `tf.test.TestCase.evaluate` calls what is no tensor."""


class InitializableIterator:
    """An iterator over a data set that a session begins anew: `session.run(iterator.initializer)`.

    Args:
        dataset: the data set.
    """

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.initializer = _Beginning(self)
        self.elements: list[Element] = []
        self.begin()

    def begin(self) -> None:
        """Begin with the first element of the data set."""
        self._iterator = iter(self.dataset)
        for element in self.elements:
            element.forget()

    def __iter__(self) -> InitializableIterator:
        return self

    def __next__(self) -> Any:
        return next(self._iterator)

    def get_next(self, name: str | None = None) -> Any:
        """Return the next element, which stands for each of them.

        Args:
            name: not used.
        """
        found = self._iterator.get_next()
        self.elements.append(Element(lambda: self._iterator, found))
        return found


class _Beginning(Initializer):
    def __init__(self, iterator: InitializableIterator) -> None:
        self._iterator = iterator

    def run(self, *_arguments: Any, **_keywords: Any) -> None:
        """Begin the iterator anew."""
        self._iterator.begin()


def make_one_shot_iterator(dataset: Any) -> Any:
    """Return an iterator over a data set (`dataset.make_one_shot_iterator()` of TensorFlow 1)."""
    return tf.compat.v1.data.make_one_shot_iterator(dataset)


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> InitializableIterator:
    """Return an iterator that a session begins anew.

    Args:
        dataset: the data set.
        shared_name: not used: there are no sessions of several processes.
    """
    return InitializableIterator(dataset)


class Step:
    """The values of one step, in which every tensor of one element is of the same draw."""

    def __init__(self) -> None:
        self._taken: dict[int, list[Any]] = {}

    def value(self, tensor: Any) -> Any:
        """Return the value that a tensor in the place of data has in this step, as an array."""
        element, place = getattr(tensor, _MARK, (None, 0))
        if element is None:
            return np.asarray(keras.ops.convert_to_numpy(tensor))
        if id(element) not in self._taken:
            self._taken[id(element)] = element.take(self)
        return self._taken[id(element)][place].numpy()


def read_by(x: Any) -> Any:
    """Return the tensor that an input of a model is read from, None where it is fed."""
    return getattr(x, _MARK, None)


def is_data(tensor: Any) -> bool:
    """Whether a tensor can be in the place of data: a variable, an iterator's element, or computed from them."""
    return isinstance(tensor, (tf.Variable, keras.Variable)) or hasattr(tensor, _MARK)


def check(tensor: Any, what: str) -> None:
    """Refuse a tensor that was computed once: in a graph each step computed it again.

    Args:
        tensor: the tensor.
        what: where it was given, for the message.

    Raises:
        TypeError: if it is one.
    """
    if not is_data(tensor):
        raise TypeError(
            f"Expected {what} to be a variable, what an iterator's `get_next()` returns, or a symbolic tensor. "
            f"Received: {type(tensor).__name__}, a value that was computed once; in a graph each step computed it "
            "again. If it is a constant, give `K.variable(value)`; else feed the data to `fit`."
        )


def as_input(tensor: Any) -> Any:
    """Return a symbolic tensor as it is, and for one in the place of data an input that is read from it.

    Args:
        tensor: the tensor.

    Raises:
        TypeError: for a tensor that was computed once.
    """
    if isinstance(tensor, keras.KerasTensor):
        return tensor
    check(tensor, "an input")
    made = keras.Input(batch_shape=tuple(tensor.shape), dtype=keras.backend.standardize_dtype(tensor.dtype))
    setattr(made, _MARK, tensor)
    return made


def make_input(initialize: Callable[..., None], layer: Any, arguments: dict[str, Any]) -> None:
    """Make an input of a model on a tensor (`InputLayer(input_tensor=...)`).

    Args:
        initialize: the layer's `__init__`.
        layer: the layer.
        arguments: those of `__init__`, by name.

    Raises:
        TypeError: for a tensor that was computed once.
    """
    tensor = arguments["input_tensor"]
    if isinstance(tensor, keras.KerasTensor):
        # A model may begin in the middle of a graph, and gradients go on to what the tensor was computed from.
        with history_kept(tensor):
            initialize(**arguments)
        return
    check(tensor, "the `tensor` of an input")
    dtype = keras.backend.standardize_dtype(tensor.dtype)
    initialize(batch_shape=tuple(tensor.shape), dtype=dtype, name=arguments.get("name"))
    setattr(layer.output, _MARK, tensor)


def set_targets(model: Any, tensors: Any) -> Any:
    """Read targets of a model from tensors from now on, those that are in the place of data.

    Args:
        model: the model that is compiled.
        tensors: `target_tensors` as given: a tensor, a list with one for each output, or a dict of them by output.

    Returns:
        The placeholders among them, for each output; None for the others.

    Raises:
        TypeError: for anything else, and for a tensor that was computed once.
        ValueError: for tensors of other outputs than the model has.
    """
    vars(model).pop(_TARGETS, None)
    if tensors is None:
        return []
    names = _output_names(model)
    if isinstance(tensors, dict):
        unknown = [name for name in tensors if name not in names]
        if unknown:
            raise ValueError(f"Expected names of outputs in `target_tensors`: {names}. Received: {unknown}")
        tensors = [tensors.get(name) for name in names]
    elif isinstance(tensors, (list, tuple)):
        if len(tensors) != len(names):
            raise ValueError(
                "When passing a list as `target_tensors`, it should have one entry per model output. The model has "
                f"{len(names)} outputs, but you passed target_tensors={list(tensors)}"
            )
    elif not isinstance(tensors, keras.KerasTensor) and not tf.is_tensor(tensors) and not is_data(tensors):
        raise TypeError(
            "Expected `target_tensors` to be a tensor, a list of tensors, or dict of tensors. Received: "
            f"{type(tensors).__name__}"
        )
    elif len(names) != 1:
        raise ValueError(
            f"The model has {len(names)} outputs, but you passed a single tensor as `target_tensors`. Expected a list "
            "or a dict of tensors."
        )
    else:
        tensors = [tensors]
    read = {}
    for place, tensor in enumerate(tensors):
        if isinstance(tensor, keras.KerasTensor) and not keras3.is_input(tensor):
            raise TypeError(
                "Expected `target_tensors` to be variables, what an iterator's `get_next()` returns, or placeholders. "
                f"Received: {tensor.name!r}, which a layer computes. Give it as an output of the model, or add what is "
                "made of it with `add_loss`. Targets that are data: pass them to `fit`."
            )
        if tensor is not None and not isinstance(tensor, keras.KerasTensor):
            check(tensor, "`target_tensors`")
            read[place] = tensor
    if read:
        vars(model)[_TARGETS] = read
    return [tensor if keras3.is_input(tensor) else None for tensor in tensors]


def _output_names(model: Any) -> list[str]:
    if isinstance(model, keras.Sequential):
        return [model.layers[-1].name]
    return list(getattr(model, "output_names", None) or ["output"])


def of_model(model: Any) -> DataTensors | None:
    """Return the tensors in the place of a model's data, None if there are none."""
    inputs = getattr(model, "inputs", None)
    inputs = inputs if isinstance(inputs, (list, tuple)) else ()
    read = {place: getattr(x, _MARK) for place, x in enumerate(inputs) if hasattr(x, _MARK)}
    targets = vars(model).get(_TARGETS, {})
    return DataTensors(model, read, targets) if read or targets else None


class DataTensors:
    """The inputs and targets of a model that are read from tensors, and not fed.

    Args:
        model: the model.
        inputs: the tensors by the place of the input.
        targets: the tensors by the place of the output.
    """

    def __init__(self, model: Any, inputs: dict[int, Any], targets: dict[int, Any]) -> None:
        self._model = model
        self._inputs = inputs
        self._targets = targets

    def is_all(self, x: Any, y: Any) -> bool:
        """Whether nothing is fed: then only the number of steps says how much there is."""
        return not any(leaf is not None for leaf in (*_flatten(x), *_flatten(y)))

    def whole(self, x: Any, y: Any, weights: Any = None) -> tuple[Any, Any, Any]:
        """Return the inputs, targets and sample weights of a step.

        Args:
            x: what the other inputs are fed: an array, a list, a dict by name, or nothing.
            y: what the other targets are fed.
            weights: sample weights, by the output's name or as Keras takes them.

        Raises:
            ValueError: for data of an input or target that is read from a tensor.
        """
        step = Step()
        names = [tensor.name for tensor in self._model.inputs]
        x = self._filled(x, names, self._inputs, step, "inputs")
        if self._targets:
            names = _output_names(self._model)
            y = self._filled(y, names, self._targets, step, "targets")
        if isinstance(weights, dict) and isinstance(y, list):
            weights = [weights.get(name, np.ones(len(each))) for name, each in zip(names, y, strict=True)]
        return x, y, weights

    def _filled(self, given: Any, names: list[str], read: dict[int, Any], step: Step, what: str) -> Any:
        others = [name for place, name in enumerate(names) if place not in read]
        if isinstance(given, dict):
            fed = {name: value for name, value in given.items() if value is not None}
        else:
            arrays = given if isinstance(given, (list, tuple)) else [] if given is None else [given]
            if len(arrays) == len(names) > len(others):
                arrays = [each for place, each in enumerate(arrays) if place not in read or each is not None]
            fed = dict(zip(others, arrays, strict=False))
            if len(arrays) != len(others):
                raise ValueError(self._sentence(what, others, names, f"{len(arrays)} arrays"))
        if set(fed) != set(others):
            raise ValueError(self._sentence(what, others, names, f"{sorted(fed)}"))
        values = [step.value(read[place]) if place in read else fed[name] for place, name in enumerate(names)]
        return values if len(values) > 1 else values[0]

    def _sentence(self, what: str, others: list[str], names: list[str], received: str) -> str:
        from_tensors = [name for name in names if name not in others]
        return (
            f"Expected the {what} {others} of '{self._model.name}', for {from_tensors} are read from tensors. "
            f"Received: {received}"
        )

    def steps(self) -> Iterator[Any]:
        """Yield batches of what is read from tensors, for ever."""
        while True:
            yield self.whole(None, None)[:2]

    def completed(self, batches: Any) -> Iterator[Any]:
        """Yield the batches of a generator with what is read from tensors."""
        for batch in batches:
            x, y, weights = keras.utils.unpack_x_y_sample_weight(tuple(batch))
            x, y, weights = self.whole(x, y, weights)
            yield (x, y) if weights is None else (x, y, weights)

    def batches(self, data: tuple[Any, ...], batch_size: int | None, draw: Callable[[int, int], Any]) -> Any:
        """Return what to give to `fit`: arrays, cut into batches, each with what is read from tensors.

        Args:
            data: `(x, y, sample_weight)` as given.
            batch_size: samples of a batch.
            draw: draws the order of an epoch.
        """
        at_once = int(getattr(self._model, "steps_per_execution", None) or 1)
        data = _map(lambda leaf: leaf if leaf is None else np.asarray(leaf), data)
        return keras3.BatchAdapter(_Completed(self, data, batch_size or 32, draw, at_once), False)


class _Completed(ordered_batches.ArrayEpochs):
    def __init__(self, tensors: DataTensors, *given: Any) -> None:
        super().__init__(*given)
        self._tensors = tensors

    def __next__(self) -> Any:
        x, y, weights = self._tensors.whole(*super().__next__())
        batch = _map(tf.convert_to_tensor, tuple(each for each in (x, y, weights) if each is not None))
        return keras.tree.lists_to_tuples(batch)
