"""One register of patches: the same in the end, in whatever order they are set and undone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import permutations
from types import ModuleType
from typing import Any

import pytest

from parallel_compat.backend import patches
from parallel_compat.backend.patches import Patches


class Base:
    def inherited(self) -> str:
        return "base"


def fresh() -> tuple[type, Patches, Patches]:
    class Owner(Base):
        x = "original"

    return Owner, Patches("below", 0), Patches("above", 1)


def test_a_chain_is_the_same_in_every_order_of_setting():
    for order in permutations(("below", "above", "above, for something else")):
        owner, below, above = fresh()
        for step in order:
            setter = below if step == "below" else above
            setter.wrap(owner, "x", lambda value, step=step: f"{step}({value})", why=step)
        assert owner.x.endswith("(below(original)))"), owner.x
        above.undo()
        assert owner.x == "below(original)"
        below.undo()
        assert owner.x == "original"
        assert not [each for each in patches.patches() if each.owner is owner]


def test_set_twice_is_set_once_and_undone_twice_is_undone_once():
    owner, below, above = fresh()
    for _ in range(2):
        below.wrap(owner, "x", lambda value: f"below({value})", why="an example")
        above.wrap(owner, "x", lambda value: f"above({value})", why="an example")
    assert owner.x == "above(below(original))"
    assert [each.set_by.name for each in patches.patches() if each.owner is owner] == ["below", "above"]
    for _ in range(2):
        above.undo()
        assert owner.x == "below(original)"
    below.undo()


def test_what_is_inherited_is_wrapped_and_inherited_again():
    owner, below, above = fresh()
    above.wrap(owner, "inherited", lambda original: lambda self: f"above({original(self)})", why="an example")
    below.wrap(owner, "inherited", lambda original: lambda self: f"below({original(self)})", why="an example")
    assert owner().inherited() == "above(below(base))"
    above.undo()
    below.undo()
    assert "inherited" not in vars(owner)
    assert owner().inherited() == "base"


def test_static_methods_and_modules():
    module = ModuleType("a_module")
    module.function = len  # type: ignore[attr-defined]
    _, below, above = fresh()
    above.wrap(module, "function", lambda original: lambda value: original(value) + 1, why="an example")
    below.set(module, "other", 1, why="an example")
    assert module.function("ab") == 3
    assert [each.place for each in patches.patches() if each.owner is module] == [
        "a_module.function",
        "a_module.other",
    ]
    above.undo()
    below.undo()
    assert module.function is len
    assert not hasattr(module, "other")


def test_what_others_set_above_stays_where_it_can():
    owner, below, above = fresh()
    below.wrap(owner, "x", lambda value: f"below({value})", why="an example")
    owner.x = f"somebody({owner.x})"
    above.wrap(owner, "x", lambda value: f"above({value})", why="an example")
    assert owner.x == "above(somebody(below(original)))"
    above.undo()
    assert owner.x == "somebody(below(original))"
    below.undo()
    assert owner.x == "original"


def test_for_a_while():
    owner, below, above = fresh()
    with above.for_a_while(owner, "x", lambda value: f"above({value})", why="an example"):
        below.wrap(owner, "x", lambda value: f"below({value})", why="an example")
        with above.for_a_while(owner, "x", lambda value: f"again({value})", why="an example"):
            assert owner.x == "again(above(below(original)))"
        assert owner.x == "above(below(original))"
    assert owner.x == "below(original)"
    below.undo()


# In one process that has imported Keras, a fork for each order. `describe` follows the closures of a patch down to
# what it wraps, so that a patch that is missing, or there twice, is seen.
ORDERS = """
import itertools, json, os, sys, types
import keras, tensorflow, parallel_compat
from parallel_compat.backend import patches

def core():
    import parallel_compat.parallel_model

STEPS = {"import": core, "install": parallel_compat.install, "uninstall": parallel_compat.uninstall}

def describe(value, depth=0):
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if isinstance(value, property):
        return ["property", *(describe(each, depth) for each in (value.fget, value.fset))]
    if isinstance(value, types.SimpleNamespace):
        return ["namespace", *(describe(each, depth) for each in vars(value).values())]
    if not isinstance(value, types.FunctionType) or depth > 8:
        return type(value).__name__
    code = value.__code__
    cells = [each.cell_contents for each in value.__closure__ or ()]
    return [f"{code.co_filename}:{code.co_firstlineno}", *(describe(each, depth + 1) for each in cells)]

def value_at(module, owner, attribute):
    found = sys.modules.get(module)
    for name in filter(None, owner.split(".")):
        found = vars(found)[name] if found is not None else None
    return describe(vars(found).get(attribute, "nothing")) if found is not None else "not imported"

def place(each):
    owner = each.owner
    return (owner.__module__, owner.__qualname__) if isinstance(owner, type) else (owner.__name__, "")

def after(order, places=None):
    for step in order:
        STEPS[step]()
    listed = patches.patches()
    callback = keras.callbacks.Callback()
    try:
        callback.model = "assigned"
    except AttributeError:
        pass
    return {
        "places": sorted({(*place(each), each.attribute) for each in listed}),
        "listed": sorted((each.place, each.set_by.name, each.why, each.read_in) for each in listed),
        # Modules of this package may be imported by then or not; what they hold is no patch of anybody's.
        "values": [value_at(*each) for each in places or () if not each[0].startswith("parallel_compat.")],
        "settable": callback.model == "assigned",
        "old names": "predict_classes" in vars(keras.Model),
    }

def forked(*arguments):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        try:
            answer = after(*arguments)
        except BaseException as error:
            answer = {"error": repr(error)}
        with os.fdopen(write, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)

orders = [["import", "install"]] if sys.argv[1] == "one" else []
orders = orders or [order for length in range(4) for order in itertools.product(STEPS, repeat=length)]
if sys.argv[1] == "all":
    orders += [order for order in itertools.product(STEPS, repeat=4) if all(a != b for a, b in zip(order, order[1:]))]
places = forked(("import", "install"))["places"]
json.dump([(order, forked(order, places)) for order in orders], sys.stdout)
"""


def answers(orders: str) -> list[tuple[list[str], dict[str, Any]]]:
    """Ask about "all" orders, which takes a minute, or about "one"."""
    result = subprocess.run(
        [sys.executable, "-c", ORDERS, orders], capture_output=True, text=True, timeout=900, check=False, env=os.environ
    )
    assert result.returncode == 0, result.stderr[-3000:]
    found: list[tuple[list[str], dict[str, Any]]] = json.loads(result.stdout)
    return found


@pytest.mark.slow
def test_every_order_of_import_install_and_uninstall_ends_the_same():
    ends: dict[tuple[bool, bool], dict[str, Any]] = {}
    for order, answer in answers("all"):
        assert "error" not in answer, (order, answer)
        is_imported = "import" in order
        is_installed = "install" in order and "uninstall" not in order[len(order) - order[::-1].index("install") :]
        end = ends.setdefault((is_imported, is_installed), answer)
        assert answer == end, order
        assert answer["settable"] == (is_imported or is_installed), order
        assert answer["old names"] == is_installed, order
    assert len(ends) == 4
    assert not ends[False, False]["listed"]
    core, run, both = (ends[key] for key in ((True, False), (False, True), (True, True)))
    alone = [*core["listed"], *run["listed"]]
    of_this_package = [
        entry for entry in both["listed"] if entry[0].startswith("parallel_compat.") and entry not in alone
    ]
    assert sorted([*alone, *of_this_package]) == both["listed"]
    assert len(core["listed"]) > 14
    assert len(run["listed"]) > 100


def test_each_patch_says_where_why_and_in_what_it_was_read():
    [(_, answer)] = answers("one")
    for place, setter, why, read_in in answer["listed"]:
        assert place.partition(".")[0] in ("keras", "tensorflow", "parallel_compat", "numpy", "h5py", "pandas"), place
        assert setter in ("import parallel_compat", "legacy names (run, install)"), place
        assert len(why) > 8, place
        assert read_in.partition(" ")[0] in ("Keras", "TensorFlow", "numpy", "h5py", "pandas"), place


def test_the_command_lists_them(capsys):
    from parallel_compat import command

    assert command.main(["names", "--patches"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("keras.src.callbacks.callback.Callback.model")
    assert lines[at + 1] == "    import parallel_compat: old callbacks assign their `model` (read in Keras 3.15.1)"
    assert any(line.startswith("    legacy names (run, install): ") for line in lines)
    assert not any(each.set_by is patches.RUN for each in patches.patches())
