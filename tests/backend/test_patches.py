"""One register of patches, which says where and why."""

from __future__ import annotations

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

        @staticmethod
        def static() -> str:
            return "static"

    return Owner, Patches("one"), Patches("another")


def test_set_twice_is_set_once():
    owner, one, another = fresh()
    one.wrap(owner, "x", lambda value: f"one({value})", why="an example")
    one.wrap(owner, "x", lambda value: f"again({value})", why="an example")
    assert owner.x == "again(original)"
    another.wrap(owner, "x", lambda value: f"another({value})", why="an example")
    one.wrap(owner, "x", lambda value: f"lost({value})", why="an example")
    assert owner.x == "another(again(original))"
    assert [each.set_by.name for each in patches.patches() if each.owner is owner] == ["one", "another"]


def test_what_is_inherited_is_wrapped():
    owner, one, _ = fresh()
    one.wrap(owner, "inherited", lambda original: lambda self: f"one({original(self)})", why="an example")
    assert owner().inherited() == "one(base)"
    assert Base().inherited() == "base"


def test_static_methods_and_modules():
    module = ModuleType("a_module")
    module.function = len  # type: ignore[attr-defined]
    owner, one, _ = fresh()
    one.wrap(module, "function", lambda original: lambda value: original(value) + 1, why="an example")
    one.wrap(owner, "static", lambda original: staticmethod(lambda: f"one({original()})"), why="an example")
    assert module.function("ab") == 3
    assert owner().static() == "one(static)"
    assert [each.place for each in patches.patches() if each.owner is module] == ["a_module.function"]


def test_what_is_not_there_is_no_longer_wrapped():
    owner, one, _ = fresh()
    with pytest.raises(AttributeError, match=r"Owner\.gone', which is wrapped: an example\. Received: none"):
        one.wrap(owner, "gone", lambda value: value, why="an example")
    assert not hasattr(owner, "gone")


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
