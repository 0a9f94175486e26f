"""Arguments and names of matplotlib that are gone: `normed=`, `axisbg=`, `grid(b=)`, seaborn's styles, backends."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from parallel_compat.packages.arguments import accept
from parallel_compat.packages.notes import note

_BACKENDS = {"gtk", "gtkagg", "gtkcairo", "qt4agg", "qt4cairo", "wx", "wxagg", "macosx", "tkagg", "qt5agg", "gtk3agg"}


def _axes(module: Any) -> None:
    Axes = module.Axes
    accept(Axes, "hist", normed="density")
    accept(Axes, "hist2d", normed="density")
    accept(Axes, "grid", b="visible")
    accept(Axes, "text", withdash=None)
    accept(Axes, "annotate", s="text")
    accept(Axes, "boxplot", labels="tick_labels", manage_xticks="manage_ticks")
    accept(Axes, "__init__", axisbg="facecolor", axis_bgcolor="facecolor")
    for name in ("plot", "scatter", "bar", "imshow", "hist"):
        accept(Axes, name, hold=None)


def _pyplot(module: Any) -> None:
    accept(module, "hist", normed="density", hold=None)
    accept(module, "hist2d", normed="density")
    accept(module, "grid", b="visible")
    accept(module, "annotate", s="text")
    accept(module, "boxplot", labels="tick_labels", manage_xticks="manage_ticks")
    for name in ("axes", "subplot"):
        accept(module, name, axisbg="facecolor", axis_bgcolor="facecolor")
    for name in ("plot", "scatter", "bar", "imshow"):
        accept(module, name, hold=None)
    for name in ("xticks", "yticks"):
        setattr(module, name, _ticks(getattr(module, name), name))


def _ticks(original: Any, name: str) -> Any:
    @functools.wraps(original)
    def ticks(ticks: Any = None, labels: Any = None, **options: Any) -> Any:
        if ticks is not None and labels is not None and len(ticks) != len(labels):
            note(f"matplotlib.pyplot.{name}", "different numbers of labels and ticks, as in matplotlib 3.2")
            fewer = min(len(ticks), len(labels))
            ticks, labels = ticks[:fewer], labels[:fewer]
        return original(ticks, labels, **options)

    return ticks


def _use(module: Any) -> None:
    accept(module, "use", warn=None)
    original = module.use

    @functools.wraps(original)
    def use(backend: str, *args: Any, **options: Any) -> Any:
        windows = backend.lower() in _BACKENDS
        try:
            if not (windows and _is_headless()):
                return original(backend, *args, **options)
        except (ImportError, ValueError):
            if not windows:
                raise
        note(f"matplotlib.use({backend!r})", "there is no such backend here: Agg, which draws into files")
        return original("Agg")

    module.use = use


def _is_headless() -> bool:
    return sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _style(module: Any) -> None:
    original = module.use

    def today(style: Any) -> Any:
        if isinstance(style, list | tuple):
            return [today(each) for each in style]
        if isinstance(style, str) and style.startswith("seaborn") and style not in module.available:
            new = style.replace("seaborn", "seaborn-v0_8", 1)
            if new in module.available:
                note(f"matplotlib.style.use({style!r})", f"it is {new} today")
                return new
        return style

    @functools.wraps(original)
    def use(style: Any) -> Any:
        return original(today(style))

    module.use = use


CHANGES: dict[str, Callable[[Any], None]] = {
    "matplotlib": _use,
    "matplotlib.axes": _axes,
    "matplotlib.pyplot": _pyplot,
    "matplotlib.style": _style,
}
