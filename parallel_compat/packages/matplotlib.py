"""What matplotlib had: `gca(projection=)`, colour maps and styles by their old names, backends that are not here."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

from parallel_compat.packages.arguments import around, member
from parallel_compat.packages.notes import note

_BACKENDS = {"gtk", "gtkagg", "gtkcairo", "qt4agg", "qt4cairo", "wx", "wxagg", "macosx", "tkagg", "qt5agg", "gtk3agg"}


# Colour maps with another name since matplotlib 2.2 and 3.
_COLOUR_MAPS = {"spectral": "nipy_spectral", **{f"Vega{name}": f"tab{name}" for name in ("10", "20", "20b", "20c")}}
_GONE_SETTINGS = ("animation.avconv_path", "axes.color_cycle", "savefig.frameon", "text.latex.unicode", "verbose.level")


def _axes(module: Any) -> None:
    member(
        [module.Axes],
        get_axis_bgcolor=lambda self: self.get_facecolor(),
        set_axis_bgcolor=lambda self, color: self.set_facecolor(color),
    )


def _gca(original: Any, self: Any, **options: Any) -> Any:
    """Let `gca` make axes of a kind, as before matplotlib 3.7."""
    if not options:
        return original(self)
    note(f"matplotlib.figure.Figure.gca({', '.join(sorted(options))})", "as matplotlib 3.6 did it")
    kind = options.get("projection") or ("polar" if options.get("polar") else "rectilinear")
    current = self.axes[-1] if self.axes else None
    return current if getattr(current, "name", None) == kind else self.add_subplot(1, 1, 1, **options)


def _canvas(module: Any) -> None:
    def set_window_title(self: Any, title: str) -> None:
        if self.manager is not None:
            self.manager.set_window_title(title)

    member([module.FigureCanvasBase], set_window_title=set_window_title)


def _set_parameter(original: Any, self: Any, key: str, value: Any) -> None:
    if key in _GONE_SETTINGS and key not in self:
        note(f"matplotlib.rcParams[{key!r}]", "it is gone and has no effect")
    else:
        original(self, key, value)


def _pyplot(module: Any) -> None:
    maps = importlib.import_module("matplotlib").colormaps
    for old, new in _COLOUR_MAPS.items():
        if old not in maps and new in maps:
            maps.register(maps[new], name=old)
    around(module, "gca", lambda gca, **options: module.gcf().gca(**options) if options else gca())
    for name in ("xticks", "yticks"):
        around(module, name, _ticks)


def _ticks(original: Any, ticks: Any = None, labels: Any = None, **options: Any) -> Any:
    if ticks is not None and labels is not None and len(ticks) != len(labels):
        name = original.__name__
        note(f"matplotlib.pyplot.{name}", "different numbers of labels and ticks, as in matplotlib 3.2")
        fewer = min(len(ticks), len(labels))
        ticks, labels = ticks[:fewer], labels[:fewer]
    return original(ticks, labels, **options)


def _use(original: Any, backend: str, *args: Any, **options: Any) -> Any:
    windows = backend.lower() in _BACKENDS
    try:
        if not (windows and _is_headless()):
            return original(backend, *args, **options)
    except (ImportError, ValueError):
        if not windows:
            raise
    note(f"matplotlib.use({backend!r})", "there is no such backend here: Agg, which draws into files")
    return original("Agg")


def _matplotlib(module: Any) -> None:
    around(module.RcParams, "__setitem__", _set_parameter)
    around(module, "use", _use)


def _is_headless() -> bool:
    return sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _style(module: Any) -> None:
    def today(style: Any) -> Any:
        if isinstance(style, list | tuple):
            return [today(each) for each in style]
        if isinstance(style, str) and style.startswith("seaborn") and style not in module.available:
            new = style.replace("seaborn", "seaborn-v0_8", 1)
            if new in module.available:
                note(f"matplotlib.style.use({style!r})", f"it is {new} today")
                return new
        return style

    around(module, "use", lambda use, style: use(today(style)))


CHANGES: dict[str, Callable[[Any], None]] = {
    "matplotlib": _matplotlib,
    "matplotlib.axes": _axes,
    "matplotlib.backend_bases": _canvas,
    "matplotlib.contour": lambda module: member([module.ContourSet], collections=property(lambda self: [self])),
    "matplotlib.figure": lambda module: around(module.Figure, "gca", _gca),
    "matplotlib.pyplot": _pyplot,
    "matplotlib.style": _style,
}
