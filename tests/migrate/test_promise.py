"""Each argument and member of Keras 2.2.4 and tf.keras 2.2 that Keras 3 refuses is rewritten, provided or listed.

The old signatures are those of `tests/data/legacy/list_signatures.py`, today's are the installed ones.
"""

from __future__ import annotations

import importlib
import inspect
import json
from functools import cache
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from parallel_compat.migrate.engine import Options, analyse
from parallel_compat.migrate.findings import Status
from parallel_compat.names import table
from tests.migrate.check import migrated

DATA = Path(__file__).parent.parent / "data" / "legacy"
ERAS = ("keras-2.2.4", "tf.keras-2.2")
# What all layers and optimizers took by `**kwargs`.
OF_EVERY_LAYER = ("name", "trainable", "dtype", "input_shape", "batch_input_shape", "batch_size", "weights")
OF_EVERY_OPTIMIZER = ("lr", "decay", "clipnorm", "clipvalue")
OBJECTS = {
    "Sequential": ("model = keras.models.Sequential(layers)\n", "model"),
    "Model": ("model = keras.models.Model(x, y)\n", "model"),
    "Layer": ("layer = keras.layers.Dense(3)\n", "layer"),
    "Optimizer": ("optimizer = keras.optimizers.get('sgd')\n", "optimizer"),
}


def fetch(path: str) -> Any:
    """Import what a dotted path names."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError:
        return getattr(fetch(module), name)
    except AttributeError as error:
        raise ImportError(path) from error


@cache
def old(era: str) -> dict[str, dict[str, list[str]]]:
    found = json.loads((DATA / f"signatures.{era}.json").read_text())
    assert len(found["calls"]) > 400
    return found


def head(era: str) -> str:
    return "import keras\n" if era == "keras-2.2.4" else "from tensorflow import keras\n"


def accepted(callable_: object) -> set[str] | None:
    """Return the arguments that a callable of today takes; None where it takes any."""
    if not inspect.isclass(callable_):
        parameters = inspect.signature(callable_).parameters.values()
        return None if any(each.kind is each.VAR_KEYWORD for each in parameters) else {each.name for each in parameters}
    names: set[str] = set()
    for class_ in callable_.__mro__:
        if "__init__" in vars(class_):
            parameters = inspect.signature(class_.__init__).parameters.values()
            names |= {each.name for each in parameters}
            if not any(each.kind is each.VAR_KEYWORD for each in parameters):
                return names | {"input_shape", "input_dim"}
    # What `Layer` and its like take out of theirs, and refuse the rest.
    return names | {"input_shape", "input_dim", "autocast", "name"}


def refused(era: str) -> list[tuple[str, str]]:
    """Return the arguments of callables that still are Keras's and do not take them."""
    found = []
    for path, arguments in old(era)["calls"].items():
        root = "keras" if era == "keras-2.2.4" else "tensorflow.keras"
        row = table.lookup(root + path[len("keras") :])
        target = row.target if row is not None else None
        if target is None or not target.startswith(("keras.", "tensorflow.keras.")):
            continue  # it is gone, or this package's: that is told of its name
        try:
            takes = accepted(fetch(target.replace("tensorflow.keras", "keras", 1)))
        except (ImportError, ValueError, TypeError):
            continue
        every = ()
        if path.startswith("keras.layers.") and path.rpartition(".")[2][:1].isupper():
            every = OF_EVERY_LAYER
        if path.startswith("keras.optimizers.") and path.rpartition(".")[2][:1].isupper():
            every = OF_EVERY_OPTIMIZER
        if takes is not None:
            found += [(path, name) for name in dict.fromkeys((*arguments, *every)) if name not in takes]
    return found


def messages(era: str, code: str) -> set[str]:
    return {one.message for one in analyse(head(era) + code, Options()).findings}


# Not arguments of the call, in the old Keras either; `Optimizer` itself nobody made.
NO_ARGUMENTS = {"Input": ("trainable", "input_shape"), "InputSpec": ("trainable",), "Optimizer": ("lr", "decay")}


@pytest.mark.parametrize("era", ERAS)
def test_arguments(era):
    assert len(refused(era)) > 300
    silent = [
        f"{path}({name}=)"
        for path, name in refused(era)
        if name not in NO_ARGUMENTS.get(path.rpartition(".")[2], ())
        and messages(era, f"x = {path}({name}=value)\n") == messages(era, f"x = {path}()\n")
    ]
    assert silent == []


@cache
def objects() -> dict[str, object]:
    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    sequential = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    for each in (model, sequential):
        each.compile("sgd", "mse")
        each.fit(np.ones((2, 3)), np.ones((2, 1)), verbose=0)
    return {"Model": model, "Sequential": sequential, "Layer": model.layers[-1], "Optimizer": model.optimizer}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("known", [True, False])
def test_members(era, kind, known):
    made, name = OBJECTS[kind]
    today = set(dir(objects()[kind]))
    gone = [member for member in old(era)["members"][kind.replace("Sequential", "Model")] if member not in today]
    assert len(gone) > 5
    before = made if known else f"{made}def f({name}):\n    "
    silent = [
        member
        for member in gone
        if not any(messages(era, f"{before}y = {name}.{member}{use}\n") for use in ("", "(z)", "()"))
    ]
    assert silent == []


# `save(include_optimizer=)` Keras 3 takes for `.h5` files; what is not known to be a model or a layer may have these.
TAKEN = {True: ("include_optimizer",), False: ("include_optimizer", "save_format", "signatures", "options", "mask")}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("known", [True, False])
def test_arguments_of_methods(era, known):
    silent = []
    for path, arguments in old(era)["methods"].items():
        kind, _, method = path.partition(".")
        today = getattr(type(objects().get(kind)), method, None)
        if kind not in OBJECTS or not inspect.isfunction(today):
            continue
        made, name = OBJECTS[kind]
        before = made if known else f"def f({name}):\n    "
        silent += [
            f"{path}({argument}=)"
            for argument in arguments
            if argument not in inspect.signature(today).parameters
            and argument not in TAKEN[known]
            and not messages(era, f"{before}{name}.{method}({argument}=value)\n")
        ]
    assert silent == []


@cache
def names_of_then(era: str) -> list[str]:
    """Return the dotted paths of an era: of Keras 2.2.4 all that could be imported, of tf.keras 2.2 what is called."""
    if era != "keras-2.2.4":
        return [f"tensorflow.{path}" for path in old(era)["calls"]]
    modules = json.loads((DATA / "keras-2.2.4.json").read_text())
    return [*modules, *(f"{module}.{name}" for module, names in modules.items() for name in names)]


def attended(source: str) -> bool:
    return any(one.status is not Status.REWRITTEN for one in analyse(source, Options()).findings)


def runs(source: str) -> bool:
    try:
        exec(source, {})
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("form", ["from {module} import {name}\nx = {name}\n", "import {root}\nx = {path}\n"])
@pytest.mark.parametrize("era", ERAS)
def test_names(era, form):
    silent = []
    for path in names_of_then(era):
        module, _, name = path.rpartition(".")
        if module:
            source = form.format(module=module, name=name, path=path, root=path.partition(".")[0])
            if not attended(source) and not runs(migrated(source)):
                silent.append((path, migrated(source)))
    assert len(names_of_then(era)) > 480
    assert silent == []


def test_the_function_that_became_a_module():
    called = migrated("import keras\ny = keras.layers.merge([a, b])\n")
    assert called == "import keras\nfrom parallel_compat.legacy.merging import merge\ny = merge([a, b])\n"
    assert (
        migrated("import keras\ny = keras.layers.merge.add([a, b])\n") == "import keras\ny = keras.layers.add([a, b])\n"
    )
