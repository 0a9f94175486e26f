"""The originals: which wheels each is made of, and what of them is kept.

The sha256 is that of the file which the project released. A wheel for an old Python can be fetched on any: its Python
sources are all that is used of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from parallel_compat.names.eras import Era
from parallel_compat.names.tsv import rows


@dataclass(frozen=True)
class Wheel:
    """A released file, and what is kept of it."""

    requirement: str  # its project and version, as pip reads it
    file: str  # its name
    sha256: str  # its digest, in hexadecimal digits
    size: int  # its bytes
    python: str | None = None  # the Python it was built for; None for any
    abi: str | None = None  # likewise the ABI
    platform: str | None = None  # likewise the platform
    keep: tuple[str, ...] = ("",)  # what the names of kept members begin with; only Python sources are kept
    # How a member's name begins, and what it begins with instead when it is kept; None for no change.
    top: tuple[str, str] | None = None


@dataclass(frozen=True)
class Original:
    """An old Keras."""

    name: str  # the value of its era
    title: str  # what messages call it
    wheels: tuple[Wheel, ...]  # the files it is made of
    needs: tuple[str, ...] = ()  # the names of other originals that it imports


ADDONS = "addons-0.10"  # for scripts of tf.keras 2.2 that import it

# The package of TensorFlow 1.15 is one file, `tensorflow/`, that passes on to this.
_CORE = "tensorflow_core"


def _wheel(file: str, sha256: str, size: str, package: str) -> Wheel:
    """Return a row of the table; a wheel's name says its project, version, Python, ABI and platform."""
    project, version, python, abi, platform = file.removesuffix(".whl").split("-")
    for_any = abi == "none"
    return Wheel(
        f"{project.replace('_', '-').lower()}=={version}",
        file,
        sha256,
        int(size),
        python=None if for_any else f"{python[2]}.{python[3:]}",
        abi=None if for_any else abi,
        platform=None if for_any else platform,
        keep=(f"{package}/",),
        top=(f"{_CORE}/", "tensorflow/") if package == _CORE else None,
    )


def _originals() -> dict[str, Original]:
    titles = {
        Era.KERAS_2_2_4.value: "Keras 2.2.4",
        Era.KERAS_2_3.value: "Keras 2.3.1",
        Era.TF_KERAS_1_15.value: "tf.keras 1.15.5",
        Era.TF_KERAS_2_2.value: "tf.keras 2.2.3",
        ADDONS: "TensorFlow Addons 0.10",
    }
    needs = {Era.KERAS_2_3.value: (Era.TF_KERAS_1_15.value,)}
    table = rows("wheels.tsv", 5, __package__)
    return {
        name: Original(
            name, title, tuple(_wheel(*row) for names, *row in table if name in names.split()), needs.get(name, ())
        )
        for name, title in titles.items()
    }


ORIGINALS = _originals()
