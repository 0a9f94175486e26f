"""Modules that answer the user's code with legacy names, and everybody else with what they hold.

Two means, both undone by `LegacyModules.undo`:

- A module of today (`keras.utils`) keeps its identity and its contents; only its class becomes a subclass of its
  own that looks at who asks. A name that today's module lacks, or that means something else today, is answered from
  the table when the user's code asks.
- A module that is no more (`keras.layers.core`) is made by a finder on `sys.meta_path` when the user's code
  imports it.

The user's modules are imported by Python's own machinery: no frame of this package is on the stack while they run.
"""

from __future__ import annotations

import gc
import importlib.util
import opcode
import random
import sys
import threading
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from parallel_compat.names import class_versions, lookup, run_only, table
from parallel_compat.names.eras import Era
from parallel_compat.names.table import Status
from parallel_compat.run import callers, tensorflow_arguments, usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import FrameType

    from parallel_compat.names.table import Path


ROOTS = ("keras", "tensorflow", "keras_preprocessing", "alt_model_checkpoint")

_IMPORT_FROM = opcode.opmap["IMPORT_FROM"]
_IMPORT_STAR = opcode.opmap.get("IMPORT_STAR")  # until Python 3.11
_INTRINSIC = opcode.opmap.get("CALL_INTRINSIC_1")  # since 3.12; its argument 2 is the star import
# How code reads an attribute that it names itself; until Python 3.11 a method had an instruction of its own.
_READS = frozenset(opcode.opmap[name] for name in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM") if name in opcode.opmap)
_NOTHING = object()
_FOUND_BY_NAME = frozenset(
    f"keras.{name}"
    for name in (
        "activations",
        "constraints",
        "initializers",
        "layers",
        "losses",
        "metrics",
        "optimizers",
        "regularizers",
    )
)
_thread = threading.local()


class GoneAttributeError(AttributeError):
    """A legacy name that cannot mean what it meant was reached as an attribute."""


class GoneNameError(NotImplementedError):
    """A legacy name that cannot mean what it meant was imported, and now it is used."""


class GoneImportError(ModuleNotFoundError):
    """A legacy name that cannot mean what it meant was imported."""


class LegacyModules:
    """The finder on `sys.meta_path` that also changes and restores the modules of today.

    Args:
        after_import: module name -> what to call when that module has been imported.
    """

    def __init__(self, after_import: dict[str, Callable[[], None]]) -> None:
        self._after_import = after_import
        self._changed: list[tuple[ModuleType, type[ModuleType]]] = []
        self._made: list[str] = []

    def install(self) -> None:
        """Change the modules that are already imported, and watch for those to come."""
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in ROOTS and isinstance(module, ModuleType) and _is_watched(name):
                self.change(module)
        sys.meta_path.insert(0, self)
        for name, call in self._after_import.items():
            if name in sys.modules:
                call()

    def undo(self) -> None:
        """Give every module its class back and take the made ones out of `sys.modules`."""
        sys.meta_path.remove(self)
        while self._changed:
            module, kind = self._changed.pop()
            _set_class(module, kind)
        while self._made:
            name = self._made.pop()
            sys.modules.pop(name, None)
            parent, _, child = name.rpartition(".")
            if isinstance(vars(sys.modules.get(parent, sys)).get(child), _MadeModule):
                delattr(sys.modules[parent], child)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of today whose answers change, or one that is no more and that the user's code imports."""
        if name not in self._after_import:
            if name.partition(".")[0] not in ROOTS:
                return None
            if not (_is_watched(name) or _gone_module(name) or lookup.moved_module(name)):
                return None
        spec = self._spec_of_today(name, path, target)
        if spec is not None:
            if spec.loader is not None:
                spec.loader = _ChangeWhenLoaded(spec.loader, self)  # type: ignore[assignment]
            return spec
        if not _is_importing_for_user() and callers.user_frame(sys._getframe(1)) is None:
            return None
        if not lookup.is_module(name):
            _refuse_if_gone(name, sys._getframe(1))
            if not (_gone_module(name) or lookup.moved_module(name)):
                return None
        return importlib.util.spec_from_loader(name, _MakeModule(self), is_package=True)  # type: ignore[arg-type]

    def change(self, module: ModuleType) -> None:
        """Let a module look at who asks it."""
        kind = type(module)
        if getattr(kind, "_parallel_compat_answers_legacy_names", False):
            return
        try:
            _set_class(module, _answering(kind, module.__name__, alone=_names_alone(module)))
        except TypeError:  # a module type of C, or with slots of its own: it stays as it is
            return
        self._changed.append((module, kind))

    def loaded(self, module: ModuleType) -> None:
        """Take note of a module of today that has just been imported."""
        if module.__name__.partition(".")[0] in ROOTS:
            self.change(module)
        call = self._after_import.get(module.__name__)
        if call is not None:
            call()

    def made(self, name: str) -> None:
        """Take note of a module that was made."""
        self._made.append(name)

    def _spec_of_today(self, name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None


def _set_class(module: ModuleType, kind: type[ModuleType]) -> None:
    # Past `__setattr__`: TensorFlow's wrapper around `tf.compat.v1` passes that on to the module that it wraps.
    vars(object)["__class__"].__set__(module, kind)


class _ChangeWhenLoaded:
    """A loader that hands everything to the real one, then lets the module look at who asks."""

    def __init__(self, loader: Any, modules: LegacyModules) -> None:
        self._loader = loader
        self._modules = modules

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        drawn = random.getstate()  # TensorFlow draws from it today: a script may have seeded it before its imports
        with _collector_paused():
            self._loader.exec_module(module)
            self._modules.loaded(sys.modules.get(module.__name__, module))
        random.setstate(drawn)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Collect no garbage for the length of the block: what an import makes stays.

    A fifth of the time that TensorFlow and Keras take to be imported is the collector's, which walks over all that is
    there again and again (six times over everything, TensorFlow 2.21 with Python 3.11).
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class _MakeModule:
    """The loader of modules that are no more."""

    def __init__(self, modules: LegacyModules) -> None:
        self._modules = modules

    def __repr__(self) -> str:
        return "names of Keras 2, answered by parallel_compat"

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = _MadeModule(spec.name)
        module.__class__ = _answering(_MadeModule, spec.name)  # type: ignore[assignment]
        today = lookup.moved_module(spec.name)
        if today is not None:
            vars(module)["of_today"] = lookup.fetch(today)
        return module

    def exec_module(self, module: ModuleType) -> None:
        self._modules.made(module.__name__)


class _MadeModule(ModuleType):
    """A module that is no more; all it holds is answered from the table.

    `tf.losses` was a module of TensorFlow 1, and is another name of `tf.keras.losses` today: what the table does not
    have is in that one (`of_today`), as it is in a module of TensorFlow's own tree that has moved.
    """

    of_today: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self.of_today is None or name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(self.of_today, name)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """`keras.layers.merge` was a function in Keras 1 and a module in Keras 2."""
        if table.canonical(lookup.spelled(self.__name__)) != "keras.layers.merge":
            raise TypeError("'module' object is not callable")
        frame = callers.user_frame(sys._getframe(1))
        if frame is not None:
            usage.record("keras.layers.merge(...)", "the layer of that mode", frame)
        return lookup.fetch("parallel_compat.legacy.layers.merge")(*arguments, **keywords)


def _is_watched(name: str) -> bool:
    return name in ROOTS or lookup.is_module(name)


def _refuse_if_gone(name: str, asking: FrameType) -> None:
    row = _gone_module(name)
    frame = callers.user_frame(asking) if row is not None else None
    if row is not None and frame is not None and _is_guarded(frame):
        raise GoneImportError(_sentence(row, frame), name=name)


def _gone_module(name: str) -> Path | None:
    parent, _, child = name.rpartition(".")
    row = lookup.answer(parent, child) if isinstance(sys.modules.get(parent), _MadeModule) else None
    return row if row is not None and row.status is Status.GONE else None


def _is_importing_for_user() -> bool:
    return getattr(_thread, "importing_for_user", False)


def _sentence(row: Path, frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno}: `{row.path}` is gone. {row.note}"


class _Missing:
    """`__getattr__` of a module: C code where there is nothing to say, so that no frame of ours is in the traceback."""

    def __get__(self, module: ModuleType, kind: type[ModuleType]) -> Callable[[str], Any]:
        error = getattr(_thread, "refusal", None)
        if error is None:
            plain = super(_answers_class(kind), module)
            return getattr(plain, "__getattr__", plain.__getattribute__)
        _thread.refusal = None

        def refuse(name: str) -> Any:
            raise error

        return refuse


def _answers_class(kind: type) -> type:
    return next(k for k in kind.__mro__ if "_parallel_compat_answers_legacy_names" in vars(k))


def _names_alone(module: ModuleType) -> frozenset[str] | None:
    """Return the names that a module answers, or None for all: `tf.compat.v1` has most of what it had itself."""
    return {
        "tensorflow.compat.v1": run_only.OF_COMPAT_V1 | {"keras"},
        "tensorflow.compat.v1.train": run_only.OPTIMIZERS_OF_COMPAT_V1,
    }.get(lookup.spelled(module.__name__))


def _has_graphs(frame: FrameType) -> bool:
    """Say whether code has the graphs of `tf.compat.v1`: without Keras, or in a graph that it made itself."""
    return callers.era_of(frame) is Era.TODAY or _is_in_graph()


def _is_in_graph() -> bool:
    tf = sys.modules["tensorflow"]
    return not (tf.executing_eagerly() or tf.inside_function())


def _answering(kind: type[ModuleType], name: str, alone: frozenset[str] | None = None) -> type[ModuleType]:
    held = lookup.held(name) | {"__all__"} if alone is None else alone
    # Below a module that is gone as a whole every name is gone with it, and under a private spelling of Keras every
    # name is that of Keras 3.
    everything = _is_gone_or_private(name)
    if everything and table.root_of(lookup.spelled(name)) == lookup.spelled(name):
        held |= {"__version__"}
    plain = kind.__getattribute__
    of_keras = f"{lookup.spelled(name)}.".startswith(("keras.", "tensorflow.keras."))
    assigned: dict[str, Any] = {}  # what the user's code has put here -> what stood there before

    def __getattribute__(module: ModuleType, attribute: str) -> Any:
        if (
            (attribute in held or (everything and not attribute.startswith("__")))
            and attribute not in assigned
            and not _is_importing_for_user()
        ):
            caller = sys._getframe(1)
            frame = callers.user_frame(caller)
            if frame is not None and not (alone and attribute != "keras" and _has_graphs(frame)):
                return _answer(module, name, attribute, caller, frame, plain)
        return plain(module, attribute)

    def __setattr__(module: ModuleType, attribute: str, value: Any) -> None:
        # The import system hangs a made module on its parent; there it would be seen by everybody.
        if isinstance(value, _MadeModule):
            return
        # Of Keras alone: `tf.get_default_graph = tf.compat.v1.get_default_graph` would put today's in its place.
        if of_keras and not isinstance(value, ModuleType) and not _is_importing_for_user():
            frame = callers.user_frame(sys._getframe(1))
            if attribute in assigned and value is assigned[attribute]:
                del assigned[attribute]  # `unittest.mock` puts back what it read past this class
                _forget_by_name(attribute, vars(module)[attribute])
            elif frame is not None:
                assigned.setdefault(attribute, vars(module).get(attribute, _NOTHING))
                _find_by_name(name, attribute, value, frame)
        kind.__setattr__(module, attribute, value)

    def __delattr__(module: ModuleType, attribute: str) -> None:
        if attribute in assigned:
            del assigned[attribute]
            _forget_by_name(attribute, vars(module).get(attribute))
        kind.__delattr__(module, attribute)

    def __dir__(module: ModuleType) -> list[str]:
        present = set(kind.__dir__(module))
        if callers.user_frame(sys._getframe(1)) is not None:
            present |= {attribute for attribute in held if not _is_gone(name, attribute)}
        return sorted(present - {"__all__"} | ({"__all__"} & vars(module).keys()))

    return type(
        kind.__name__,
        (kind,),
        {
            "__module__": kind.__module__,
            "__getattribute__": __getattribute__,
            "__getattr__": _Missing(),
            "__setattr__": __setattr__,
            "__delattr__": __delattr__,
            "__dir__": __dir__,
            "_parallel_compat_answers_legacy_names": True,
        },
    )


def _find_by_name(module: str, attribute: str, value: Any, frame: FrameType) -> None:
    """Let Keras find by its name what the user's code has put into one of its modules.

    Keras 2.2.4 looked names up among a module's globals, so that `keras.losses.my_loss = my_loss` was enough for
    `load_model`. The public modules of `tf.keras` were not those that it looked into.
    """
    if module not in _FOUND_BY_NAME or not callers.era_of(frame).is_standalone or not callable(value):
        return
    known = sys.modules["keras"].utils.get_custom_objects()
    own = vars(sys.modules[module]).get(attribute)  # what is replaced now may be the user's as well
    if attribute not in known or known[attribute] is own:
        known[attribute] = value
    elif known[attribute] is not value:
        raise ValueError(
            f"{module}.{attribute} was expected to be the object that Keras knows by the name {attribute!r} already, "
            f"{known[attribute]!r}, and is another, {value!r}; give one of them another name"
        )


def _forget_by_name(attribute: str, value: Any) -> None:
    known = sys.modules["keras"].utils.get_custom_objects()
    if value is not None and known.get(attribute) is value:
        del known[attribute]


def _answer(
    module: ModuleType,
    name: str,
    attribute: str,
    caller: FrameType,
    frame: FrameType,
    plain: Callable[[Any, str], Any],
) -> Any:
    if attribute == "__all__":
        return _names_for_star(module, name, caller, frame, plain)
    if attribute == "__version__":
        return plain(sys.modules["keras"], attribute)
    if _asks_whether_it_is_there(caller, frame) and _is_of_tensorflow_1(module, name, attribute, plain):
        return plain(module, attribute)
    row = lookup.answer(name, attribute)
    if row is not None and lookup.spelled(name) == "tensorflow" and callers.era_of(frame).has_graphs and _is_in_graph():
        of_graphs = getattr(sys.modules["tensorflow"].compat.v1, attribute, None)
        if of_graphs is not None and not isinstance(of_graphs, ModuleType):
            return of_graphs  # `tf.placeholder` in a graph that a program made itself
    version = None if row is None else class_versions.era_of_path(row.path)
    if row is not None and version is not None and version is callers.era_of(frame):  # who asks is in the report
        row = table.lookup(row.path) or row  # the version that `tf.keras` itself had
    if row is not None and (argument := run_only.BY_ARGUMENT.get(row.path)):
        row = row if tensorflow_arguments.passes(frame.f_code, argument) else None
    today = vars(module).get("of_today")
    if today is not None and hasattr(today, attribute) and not callers.era_of(frame).has_graphs:
        return getattr(today, attribute)  # `tf.losses.mean_squared_error` of TensorFlow 2 is Keras's
    submodule = lookup.submodule(name, attribute) if row is not None else None
    if (
        row is None
        or (row.status is Status.GONE and submodule)
        or (submodule and class_versions.are_below(submodule))  # not today's module: they are known by this path
    ):
        with importing_for_user():
            found = tensorflow_arguments.function(f"{lookup.spelled(name)}.{attribute}", caller, frame)
        if found is not None:
            return found
        return _same(module, name, attribute, plain, of_graphs=callers.era_of(frame).has_graphs)
    importing = caller.f_code.co_filename.startswith("<frozen importlib")
    if row.status is Status.GONE:
        text = _sentence(row, frame)
        if not importing and _instruction(caller) == _IMPORT_FROM:
            if _is_guarded(caller):
                raise GoneImportError(text, name=attribute)
            return stand_in(row)
        _thread.refusal = None if importing else GoneAttributeError(text, name=attribute, obj=module)
        raise AttributeError
    with importing_for_user():
        value = lookup.fetch(row.target or row.path)
    # `from x import y` asks twice: once by the import system, to see whether y is a submodule.
    if not importing and not _is_star_import(caller) and row.path not in run_only.QUIET:
        usage.record(row.path, _told(row), frame)
    return value


def _told(row: table.Path) -> str:
    """Return what a name has become, for the report: of this package's stand-ins, what a rewritten source gets."""
    known = table.lookup(row.path)
    return (known if known is not None and known.status is Status.PROVIDED else row).target or row.path


def _same(module: ModuleType, name: str, attribute: str, plain: Callable[[Any, str], Any], *, of_graphs: bool) -> Any:
    submodule = lookup.submodule(name, attribute)
    if submodule is None:
        return plain(module, attribute)
    known = sys.modules.get(submodule)
    if of_graphs and isinstance(known, _MadeModule) and known.of_today is not None:
        return known  # TensorFlow itself puts today's module there, once a name of it was used
    try:
        found = plain(module, attribute)
    except AttributeError:
        found = None
    if found is not None and not isinstance(found, ModuleType):
        return found
    if found is not None and type(found).__name__ != "KerasLazyLoader" and not _is_another(found, submodule):
        return found
    with importing_for_user():
        made = importlib.import_module(submodule)
    if isinstance(made, _MadeModule) and found is not None and table.root_of(submodule) is None:
        vars(made)["of_today"] = found
    return made


def _is_another(found: ModuleType, name: str) -> bool:
    """Say whether Keras 3 gives another module for one of `tf.keras` than an import of its full name.

    `tf.keras.utils` is `keras.utils` there, and `import tensorflow.keras.utils` makes a second one: what code puts into
    the one (`tf.keras.utils.plot_model = ...`) is not seen by who imports from the other.
    """
    return name.startswith("tensorflow.keras.") and found is not sys.modules.get(name)


def _names_for_star(
    module: ModuleType, name: str, caller: FrameType, frame: FrameType, plain: Callable[[Any, str], Any]
) -> Any:
    """Answer `from module import *`: what is public today, and the legacy names that have an answer."""
    try:
        listed = plain(module, "__all__")
    except AttributeError:
        if not _is_star_import(caller) and not caller.f_code.co_filename.startswith("<frozen importlib"):
            raise
        listed = [key for key in vars(module) if not key.startswith("_")]
    legacy = [
        key for key in lookup.held(name) if not key.startswith("_") and _is_provided(name, key) and key not in listed
    ]
    if callers.era_of(frame).is_standalone:
        legacy += [*run_only.MODULES_OF_PACKAGES.get(lookup.spelled(name), ())]
    if _is_star_import(caller) and legacy:
        usage.record(f"from {name} import *", f"{len(legacy)} legacy names with those of today", frame)
    return [*listed, *sorted(legacy)]


def _is_gone_or_private(module: str) -> bool:
    parent, _, name = module.rpartition(".")
    root = table.root_of(lookup.spelled(module))
    return (root is not None and root not in ("keras", "tensorflow.keras")) or (bool(parent) and _is_gone(parent, name))


def _is_gone(module: str, name: str) -> bool:
    row = lookup.answer(module, name)
    return row is not None and row.status is Status.GONE


def _is_provided(module: str, name: str) -> bool:
    row = lookup.answer(module, name)
    return row is not None and row.status is not Status.GONE


def _instruction(frame: FrameType) -> int:
    return frame.f_code.co_code[frame.f_lasti]


def _asks_whether_it_is_there(caller: FrameType, frame: FrameType) -> bool:
    """Say whether code of TensorFlow 2 chooses by `hasattr(tf, "Session")` what it runs on.

    What such code names itself is answered: it is of a time in which one of the two was on its way to the other.
    """
    return caller is frame and callers.era_of(frame) is Era.TF_KERAS_2_2 and _instruction(caller) not in _READS


def _is_of_tensorflow_1(module: ModuleType, name: str, attribute: str, plain: Callable[[Any, str], Any]) -> bool:
    submodule = lookup.submodule(name, attribute)
    if submodule is None:
        return table.is_of_tensorflow_1(f"{lookup.spelled(name)}.{attribute}")
    try:
        return table.root_of(submodule) is None and isinstance(plain(module, attribute), _MadeModule)
    except AttributeError:
        return table.root_of(submodule) is None


def _is_guarded(frame: FrameType) -> bool:
    """Say whether the running instruction stands in a `try` (or `with`) of its function: code that knows two ways."""
    table = getattr(frame.f_code, "co_exceptiontable", None)
    if table is None:  # Python 3.10 does not tell
        return True
    return any(start <= frame.f_lasti < end for start, end in _handled(table))


def _handled(table: bytes) -> Iterator[tuple[int, int]]:
    """Yield the ranges of instructions with a handler (CPython's `Objects/exception_handling_notes.txt`)."""
    rest = iter(table)

    def number() -> int:
        byte = next(rest)
        value = byte & 63
        while byte & 64:
            byte = next(rest)
            value = (value << 6) | (byte & 63)
        return value

    while True:
        try:
            start = number() * 2
        except StopIteration:
            return
        length = number() * 2
        number()  # the handler
        number()  # its depth
        yield start, start + length


class _Gone(type):
    """The class of stand-ins: whatever is done with one says that the name is gone, and where it was done."""

    row: Path

    def __call__(cls, *_arguments: Any, **_keywords: Any) -> Any:
        raise cls._error()

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise cls._error()

    def __instancecheck__(cls, instance: Any) -> bool:
        return False

    def _error(cls) -> GoneNameError:
        frame = callers.user_frame(sys._getframe(2))
        return GoneNameError(
            _sentence(cls.row, frame) if frame is not None else f"`{cls.row.path}` is gone. {cls.row.note}"
        )


def stand_in(row: Path) -> Any:
    """Return what an import of a gone name gives: importing it is harmless, using it fails with the row's sentence.

    A class derived from it is harmless, too: a package has many classes, and a script may use none of these.

    Args:
        row: the table's row of the name.
    """
    return _Gone(row.path.rpartition(".")[2], (), {"row": row})


def _is_star_import(frame: FrameType) -> bool:
    code, at = frame.f_code.co_code, frame.f_lasti
    return code[at] == _IMPORT_STAR or (code[at] == _INTRINSIC and code[at + 1] == 2)


@contextmanager
def importing_for_user() -> Iterator[None]:
    """While we import for the user, made modules are found, and modules show what they hold."""
    before = getattr(_thread, "importing_for_user", False)
    _thread.importing_for_user = True
    try:
        yield
    finally:
        _thread.importing_for_user = before


__all__ = ["ROOTS", "GoneAttributeError", "GoneImportError", "LegacyModules", "importing_for_user"]
