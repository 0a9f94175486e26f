"""Writes the versions that were tested (`docs/versions.json`) into README.md, the page of versions and the badges.

python docs/versions.py           writes them
python docs/versions.py --check   ends with 1 if one is out of date

The first row of the file is the one that all tests run with: the badge shows it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
README, PAGE, PICTURES = ROOT / "README.md", ROOT / "docs" / "evidence" / "versions.md", ROOT / "docs" / "badges"
HEAD = "| Python | TensorFlow | Keras | Training on two devices | Date |\n|---|---|---|---|---|\n"
_PAGE = """# Tested versions

- Training on two devices: a model of `multi_gpu_model` was trained on two simulated devices, saved, and loaded by plain
  Keras.
- `run`: the facts or scripts of an era that gave the old results. A fact is one recorded result of the old library.
  An empty cell was not run.
- "Has all private names": Keras and TensorFlow have all names that this package uses and that are not public.

All on Linux, on CPUs. `docs/versions.py` writes this page.

| Python | TensorFlow | Keras | Training on two devices | `run` | Date | Notes |
|---|---|---|---|---|---|---|
"""
_LETTER, _HEIGHT = 6.6, 20


def rows() -> list[dict[str, Any]]:
    """Return what was tested."""
    return json.loads((ROOT / "docs" / "versions.json").read_text(encoding="utf-8"))


def _minor(version: str) -> str:
    kind = " nightly" if ".dev" in version else " candidate" if "rc" in version else ""
    return ".".join(version.split(".")[:2]) + kind


def table() -> str:
    """Return the table of README.md: one row for each Python and TensorFlow that had the same result."""
    kerases: dict[tuple[str, ...], list[str]] = {}
    for row in rows():
        key = (row["python"], _minor(row["tensorflow"]), row["main_job"], row["checked_on"])
        kerases.setdefault(key, []).append(_minor(row["keras"]))
    lines = []
    for (python, tensorflow, job, day), found in kerases.items():
        lines.append(f"| {python} | {tensorflow} | {', '.join(dict.fromkeys(found))} | {job} | {day} |\n")
    return HEAD + "".join(lines)


def with_table(readme: str) -> str:
    """Return README.md with the table as it should be.

    Args:
        readme: its text.
    """
    before, _, after = readme.partition(HEAD)
    return before + table() + after[re.match(r"(?:\|.*\n)*", after).end() :]


def page() -> str:
    """Return the page of versions."""
    lines = []
    for row in rows():
        eras = "; ".join(f"{era}: {result}" for era, result in row["run_eras"].items())
        cells = (row["python"], row["tensorflow"], row["keras"], row["main_job"], eras, row["checked_on"], row["notes"])
        lines.append(f"| {' | '.join(cells)} |\n")
    return _PAGE + "".join(lines)


def badges() -> dict[str, str]:
    """Return a picture for each of: the version, what it was tested with, the licence."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version, licence = (re.search(rf'^{name} = "(.+)"$', project, re.MULTILINE)[1] for name in ("version", "license"))
    tensorflow, keras = (_minor(rows()[0][name]) for name in ("tensorflow", "keras"))
    tested = f"Python {rows()[0]['python']}, TensorFlow {tensorflow}, Keras {keras}, Linux"
    values = {"version": f"{version}, not published yet", "tested": tested, "licence": licence}
    return {name: _badge(name, value) for name, value in values.items()}


def _badge(name: str, value: str) -> str:
    first, second = (round(len(text) * _LETTER + 12) for text in (name, value))
    parts = []
    for left, width, colour, text in ((0, first, "#555", name), (first, second, "#2a6f97", value)):
        parts.append(f'<rect x="{left}" width="{width}" height="{_HEIGHT}" fill="{colour}"/>')
        parts.append(f'<text x="{left + width / 2}" y="14" textLength="{width - 12}">{text}</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{first + second}" height="{_HEIGHT}" role="img">'
    style = '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
    return "\n".join([head, style, *parts, "</g></svg>", ""])


def main() -> int:
    """Write the files, or compare them."""
    wanted = {README: with_table(README.read_text(encoding="utf-8")), PAGE: page()}
    wanted |= {PICTURES / f"{name}.svg": picture for name, picture in badges().items()}
    if "--check" in sys.argv[1:]:
        return int(any(not path.exists() or path.read_text(encoding="utf-8") != text for path, text in wanted.items()))
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
