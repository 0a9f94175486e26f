"""Writes what `docs/versions.json` holds, the versions that were tested, into README.md and `docs/badges.svg`.

python docs/versions.py           writes both
python docs/versions.py --check   ends with 1 if one is out of date

A row has `python`, `tensorflow`, `keras`, `tests`, `result` and `day`. The first row is the one that the badge shows.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE, PICTURE = ROOT / "README.md", ROOT / "docs" / "badges.svg"
HEAD = "| Python | TensorFlow | Keras | Tests | Result | Day |\n|---|---|---|---|---|---|\n"
_COLUMNS = ("python", "tensorflow", "keras", "tests", "result", "day")
_LETTER, _GAP, _HEIGHT = 6.6, 6, 20


def rows() -> list[dict[str, str]]:
    """Return what was tested."""
    return json.loads((ROOT / "docs" / "versions.json").read_text(encoding="utf-8"))


def with_table(readme: str) -> str:
    """Return README.md with the rows in its table.

    Args:
        readme: its text.
    """
    lines = "".join(f"| {' | '.join(row[column] for column in _COLUMNS)} |\n" for row in rows())
    before, _, after = readme.partition(HEAD)
    return before + HEAD + lines + after[re.match(r"(?:\|.*\n)*", after).end() :]


def badges() -> str:
    """Return the picture: the version, what it was tested with, and the licence."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version, licence = (re.search(rf'^{name} = "(.+)"$', project, re.MULTILINE)[1] for name in ("version", "license"))
    first = rows()[0]
    tested = f"Python {first['python']}, TensorFlow {first['tensorflow']}, Keras {first['keras']}, Linux"
    parts, left = [], 0.0
    for name, value in (("version", f"{version}, not published yet"), ("tested with", tested), ("licence", licence)):
        widths = [len(text) * _LETTER + 12 for text in (name, value)]
        for start, width, colour, text in zip(
            (left, left + widths[0]), widths, ("#555", "#2a6f97"), (name, value), strict=True
        ):
            parts.append(f'<rect x="{start:.0f}" width="{width:.0f}" height="{_HEIGHT}" fill="{colour}"/>')
            parts.append(f'<text x="{start + width / 2:.0f}" y="14" textLength="{width - 12:.0f}">{text}</text>')
        left += sum(widths) + _GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{left:.0f}" height="{_HEIGHT}" role="img">'
    style = '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
    return "\n".join([head, style, *parts, "</g></svg>", ""])


def main() -> int:
    """Write both, or compare them."""
    text = PAGE.read_text(encoding="utf-8")
    if "--check" in sys.argv[1:]:
        return int(text != with_table(text) or PICTURE.read_text(encoding="utf-8") != badges())
    PAGE.write_text(with_table(text), encoding="utf-8")
    PICTURE.write_text(badges(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
