"""One register of patches: the same in the end, in whatever order they are set and undone."""

from __future__ import annotations

from itertools import permutations
from types import ModuleType

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
    below.add(module, "other", 1, why="an example")
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


def test_what_is_not_there_is_no_longer_wrapped():
    owner, below, _ = fresh()
    with pytest.raises(AttributeError, match=r"Owner\.gone', which is wrapped: an example\. Received: none"):
        below.wrap(owner, "gone", lambda value: value, why="an example")
    with pytest.raises(AttributeError, match=r"Owner\.gone'"):
        below.set(owner, "gone", 1, why="an example")
    assert not hasattr(owner, "gone")


def test_what_is_there_is_not_added():
    owner, below, _ = fresh()
    with pytest.raises(AttributeError, match=r"Expected no attribute '.*Owner\.x', which is added: an example"):
        below.add(owner, "x", 1, why="an example")
    for _ in range(2):
        below.add(owner, "new", 1, why="an example")
    assert owner.new == 1
    below.undo()
    assert not hasattr(owner, "new")


def test_each_patch_of_the_core_says_where_and_why():
    import parallel_compat.parallel_model  # noqa: F401

    listed = [each for each in patches.patches() if each.set_by is patches.CORE]
    assert len(listed) > 10
    for each in listed:
        assert each.place.partition(".")[0] in ("keras", "tensorflow"), each.place
        assert len(each.why) > 8, each.place


def test_the_command_lists_them(capsys):
    from parallel_compat import command

    assert command.main(["names", "--patches"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("keras.src.callbacks.callback.Callback.model")
    assert lines[at + 1] == "    import parallel_compat: old callbacks assign their `model` (read in Keras 3.15.1)"
