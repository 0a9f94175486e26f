"""A ResNet50 that was saved until 2018: its layers have other names there, and another order.

A shortcut comes after the convolutions that it goes around, and one of those has weights of its shape: by their order
they would be taken for each other. Read in Keras-Applications 1.0.6 and 1.0.8.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from parallel_compat.names import resnet50
from parallel_compat.recover.layer_tree import Branch, Path
from parallel_compat.recover.reader import Stored
from parallel_compat.warning_category import ParallelCompatWarning

_Mine = TypeVar("_Mine")
_Theirs = TypeVar("_Theirs")


def names_in(stored: Stored, names: Iterable[str]) -> dict[str, str]:
    """Return name in a model -> name in a file, of the layers of a ResNet50 of 2018, and tell of its epsilon."""
    words = {word for weight in stored.weights for word in weight.name.split("/")}
    found = resnet50.names_in_file(names, words | {layer.name for layer in stored.layers})
    if found:
        _warn_of_epsilon(stored.path)
    return found


@contextlib.contextmanager
def named_as_in(stored: Stored, tree: Branch) -> Iterator[dict[Path, Path]]:
    """Let the layers of a model's ResNet50 have the names that they have in a file of 2018, for a while.

    Yields:
        Path by the names in the file -> path in the model, of every layer; nothing where there is no such network.
    """
    before = [(leaf, leaf.path, leaf.key) for leaf in tree.leaves()]
    names = names_in(stored, (path[-1] for _, path, _ in before))
    now: dict[Path, Path] = {}
    for leaf, path, key in before if names else ():
        leaf.path, leaf.key = (*path[:-1], names.get(path[-1], path[-1])), names.get(key, key)
        now[leaf.path] = path
    try:
        yield now
    finally:
        for leaf, path, key in before:
            leaf.path, leaf.key = path, key


def paired(
    mine: Sequence[_Mine], theirs: Sequence[_Theirs], my_name: Callable[[_Mine], str], name: Callable[[_Theirs], str]
) -> Iterator[tuple[_Mine, _Theirs]]:
    """Pair as many layers in their order, but those of a ResNet50 of 2018 by their names."""
    both = {my_name(each) for each in mine} & {name(each) for each in theirs} & resnet50.given_names().keys()
    by_name = {name(each): each for each in theirs if name(each) in both}
    rest = iter([each for each in theirs if name(each) not in both])
    for each in mine:
        yield each, by_name[my_name(each)] if my_name(each) in both else next(rest)


def _warn_of_epsilon(path: str) -> None:
    """Warn that the ResNet50 of 2018 normalised by another epsilon, which a file of weights does not say."""
    warnings.warn(
        f"{path} has the weights of the ResNet50 of 2018, whose BatchNormalization had `epsilon=1e-3`; "
        "since 2019 it is 1.001e-5. "
        "For the old predictions set it before the model is called: `for layer in model.layers: if "
        "isinstance(layer, BatchNormalization): layer.epsilon = 1e-3`.",
        ParallelCompatWarning,
        stacklevel=2,
    )
