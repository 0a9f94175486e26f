"""The report: which Keras ran, why, on which devices, and with which fixes."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from parallel_compat import packages
from parallel_compat.names.eras import Era
from parallel_compat.originals.catalogue import ORIGINALS
from parallel_compat.run import used_devices


@dataclass(frozen=True)
class Report:
    """The report of one process."""

    era: str  # whose Keras the process has
    original: str  # its title, as in "Keras 2.2.4"; "" if no old Keras was imported
    why: str  # how the era is known
    certain: bool  # whether it is known for sure
    hint: str  # what to do if the era is another one
    devices: str  # what it ran on, as in "2 GPUs"; "" if TensorFlow was not started
    versions: dict[str, str] = field(default_factory=dict)  # of Python and of the packages underneath
    mends: list[str] = field(default_factory=list)  # what the original needed of today's libraries
    packages: list[str] = field(default_factory=list)  # what other old packages had, and was answered
    script: str = ""  # the script's file; "" for code without one
    command: str = ""  # how it was started


def make(process_settings: Mapping[str, Any]) -> Report:
    """Return the report of this process."""
    from parallel_compat.originals import activate

    era = Era(process_settings["era"])
    settings = activate.active()
    used = era is not Era.TODAY and settings is not None and activate.is_loaded()
    on_2 = " on TensorFlow 2" if settings and era.is_standalone and not settings.is_tensorflow_1 else ""
    return Report(
        era=era.value,
        original=ORIGINALS[era.value].title + on_2 if used else "",
        why=process_settings["why"],
        certain=process_settings["certain"],
        hint=process_settings["hint"],
        devices=used_devices.devices(),
        versions=_versions(),
        mends=activate.mends_applied() if used else [],
        packages=packages.answered(),
        script=process_settings["script"],
        command=process_settings["command"],
    )


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for name in ("tensorflow", "numpy", "h5py"):
        if name in sys.modules:
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:  # tensorflow-cpu and the like
                packages = metadata.packages_distributions().get(name, ())
                found[name] = ", ".join(f"{each} {metadata.version(each)}" for each in packages)
    return found


def summary(report: Report) -> str:
    """Return the report for people; "" if no old Keras ran."""
    if not report.original:
        return ""
    first = f"parallel-compat: ran {report.original} ({report.why})"
    if not report.certain:
        first = f"parallel-compat: assumed {report.original}: {report.why}; {report.hint}"
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    lines = [first, f"  On {report.devices or 'no device: TensorFlow was not started'}, with {versions}"]
    if report.mends:
        lines.append(f"  {len(report.mends)} fixes for today's libraries (--report FILE lists them)")
    lines += [f"  Answered: {each}" for each in report.packages]
    if report.script:
        lines.append(f"  To move it to Keras 3: parallel-compat migrate {report.script}")
    return "\n".join(lines)
