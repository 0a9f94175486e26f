"""Versions of TensorFlow, Keras and Python that the files of a project name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from parallel_compat.names.notebook_cells import python_of_cell

Version = tuple[int, int, int]

_MOST = 9999  # above every part of a version
_LOWEST: Version = (0, 0, 0)
HIGHEST: Version = (_MOST, 0, 0)


class Named(NamedTuple):
    """The versions of one package that a file allows."""

    package: str  # "tensorflow", "keras" or "python"
    low: Version  # the lowest version
    high: Version  # the first version above them
    text: str  # how the file says it, for the report


# Packages whose version is TensorFlow's.
_TENSORFLOW = r"tensorflow(?:[-_](?:gpu|cpu|rocm|macos|intel|base|mkl|eigen|estimator))?|tensorboard"
_PACKAGE = rf"(?P<package>{_TENSORFLOW}|keras|python)"
_NUMBER = r"\d+(?:\.\d+)*(?:\.[*xX])?"
_LINE = 2000  # characters: of a longer line the rest is data
_COMMENT = re.compile(r"(?:^|\s)(?:#|//).*")
# `tensorflow-gpu[and-cuda] >= 1.12`, `"keras": "==2.2.4"`, `tensorflow = {version = "^1.14"}`, `tensorflow 1.14.*`
_REQUIREMENT = re.compile(
    rf"(?i)(?<![\w./-]){_PACKAGE}(?:_requires|_version)?(?:\[[\w,\s-]*\])?(?![\w-]|\.\w)"
    r"(?P<between>[\"']?(?:\s*(?::|=(?=[\s\"'{])))?\s*(?:\{\s*version\s*=\s*)?[\"'(]?)"
    rf"(?P<rules>\s*(?:[=~<>!^]{{1,3}}\s*|(?<=[\s\"'(]))v?{_NUMBER}(?:\s*,\s*[=~<>!^]{{1,3}}\s*{_NUMBER})*)"
)
_RULE = re.compile(rf"([=~<>!^]*)\s*v?({_NUMBER})")
_POETRY = re.compile(r"name = \"(tensorflow(?:-gpu|-cpu)?|keras)\"\s*\nversion = \"([\d.]+)")
_IN_ADDRESSES = re.compile(
    r"(?i)/(tensorflow|keras)(?:[-_](?:gpu|cpu|base))?(?:-|(?<=flow/tensorflow):|\.git@v?)(\d+\.\d+(?:\.\d+)*)"
)
_IMAGE = re.compile(r"(?i)^ ?FROM\s+\S*?(tensorflow|keras|python)(?:-gpu)?:v?(\d+(?:\.\d+)*)(\S*)")
_OF_SETTING = re.compile(r"(?i)\b(tf|tensorflow|keras)_version\s*[:=]\s*[\"']?v?(\d+(?:\.\d+)+)")
# Packages that are of TensorFlow 2, whatever their own version is.
_OF_2 = re.compile(r"(?i)\b(tensorflow[-_]addons|tf-nightly(?:-gpu)?-2\.0-preview)\b")


def in_requirements(text: str) -> list[Named]:
    """Read what a file of requirements allows: of pip, conda, Pipenv, Poetry, setuptools, Docker or a CI service.

    >>> [named.text for named in in_requirements("numpy\\ntensorflow-gpu>=1.12,<2  # not 2\\n")]
    ['tensorflow-gpu>=1.12,<2']
    """
    if text.lstrip().startswith("{"):
        return _locked(text)
    found: list[Named] = []
    for line in text.splitlines():
        line = re.sub(r"\s+", " ", _COMMENT.sub("", line[:_LINE]).partition(";")[0])
        for match in _REQUIREMENT.finditer(line):
            rules = [(operator, number) for operator, number in _RULE.findall(match["rules"]) if operator != "!="]
            said = match["rules"].replace(" ", "")
            name = line[match.start("package") : match.start("between")]
            found += _allowed(match["package"], rules, name + (said if said[0] in "=~<>!^" else f"=={said}"))
        if (image := _IMAGE.match(line)) is not None:
            found += _of_image(image[1].lower(), image[2], image[3])
            continue
        for match in (*_IN_ADDRESSES.finditer(line), *_OF_SETTING.finditer(line)):
            found += _allowed(match[1], [("==", match[2])], f"{match[1]} {match[2]}")
        if (of_2 := _OF_2.search(line)) is not None:
            found.append(Named("tensorflow", (2, 0, 0), HIGHEST, of_2[1]))
    for match in _POETRY.finditer(text):
        found += _allowed(match[1], [("==", match[2])], f"{match[1]}=={match[2]}")
    return found


def _locked(text: str) -> list[Named]:
    """Read what Pipenv locked."""
    found: list[Named] = []
    content = _json(text)
    for section in content.values():
        for name, locked in section.items() if isinstance(section, dict) else ():
            version = locked.get("version") if isinstance(locked, dict) else None
            if isinstance(version, str) and re.fullmatch("tensorflow(?:-gpu|-cpu)?|keras", name):
                found += _allowed(name, _RULE.findall(version), name + version)
    return found


def _json(text: str) -> dict[str, object]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _of_image(package: str, number: str, tags: str) -> list[Named]:
    """Read a Docker image: NVIDIA's are numbered by year and month, and were of TensorFlow 1 before 2020."""
    text = f"the image {package}:{number}{tags}"
    generation = re.search(r"-tf([12])\b", tags)
    if package == "tensorflow" and int(number.partition(".")[0]) > 15:
        of_1 = generation[1] == "1" if generation else int(number.partition(".")[0]) < 20
        return _allowed(package, [("==", "1.*" if of_1 else "2.*")], text)
    return _allowed(package, [("==", number)], text)


# `TensorFlow 1.14`, `Keras (>= 2.2.4)`, `Tensorflow: 1.15.0 (Tested)`, `TF 2.x`; not `Keras 2.2.4-tf`, tf.keras's.
_PROSE = re.compile(
    r"(?ai)(?<![\w.@-])(?:(?<!/)|(?<=\d/))(?P<package>ten?s?orflow|tf(?!\.keras|_)|keras)(?:[-_ ]?gpu|[-_ ]?cpu)?"
    r"(?:\s*(?:versions?|ver\.?|v\.?|backend|API|is|of|tested (?:for|in|on|under|with)|[:,=|*_`\[\]()-])){0,4}"
    r"\s*(?P<operator>[=~<>^≥≤]{0,2})\s*v?"
    r"(?P<number>\d+(?:\.\d+)+|\d+\.[xX*]|(?:(?<=tf)|(?<=tf )|(?<=ow)|(?<=ow ))[12](?![\w.]))(?!\.?\d|-tf|\w*\.py)"
    r"(?:\.[xX*])?(?P<after>\s*(?:\+|\(?(?:or|and)\s+(?:higher|above|later|newer|greater|up|lower|below|earlier|older)"
    r"|以上))?"
)
# `TensorFlow 1.14, 1.15 and 2.0`
_AND_ANOTHER = re.compile(
    r"(?i)\s*[`'\")]*\s*(?:,|/|&|、|(?:,\s*)?(?:or|and)\b)\s*[`'\"(]*v?(\d+\.\d+(?:\.\d+)*)(?![\w+]|\.\w)"
)
_BADGE = re.compile(r"(?i)badge/(tensorflow|tf|keras)[-_ ](?:v?(\d+(?:\.[\dx]+)*)(\+?))")
_LINK = re.compile(r"\]\([^)\n]*\)")
_STRUCK_OUT = re.compile(r"~~[^~]+~~|<(del|s|strike)>.*?</\1>")
_SENTENCE = re.compile(r"[.;!?。]\s")
_OF_OTHER_CODE = re.compile(r"(?i)\bbranch(?:es)?\b")
_NOT = re.compile(
    r"(?i)\b(?:not|no|unsupported|incompatible|cannot|without|instead of|old|previous|deprecated)\b|n't\b|不"
    r"|\bonly (?:valid )?(?:for|on|in)\b"
)


def in_prose(text: str) -> list[Named]:
    """Read the versions that a README, a docstring or comments name; not those that it says it does not support.

    >>> [(named.package, named.low) for named in in_prose("Tested with [Keras 2.2.4](https://keras.io) on TF 1.12.")]
    [('keras', (2, 2, 4)), ('tensorflow', (1, 12, 0))]
    """
    found: list[Named] = []
    for badge in _BADGE.finditer(text):
        found += _allowed(badge[1], [(">=" if badge[3] else "==", badge[2])], f"{badge[1]} {badge[2]}{badge[3]}")
    for line in text.splitlines():
        line = re.sub(r"\s+", " ", _LINK.sub("]", _STRUCK_OUT.sub("", line[:_LINE])))
        for match in _PROSE.finditer(line):
            before = _SENTENCE.split(line[: match.start()])[-1]
            after = _SENTENCE.split(line[match.end() :])[0]
            if _NOT.search(before[-60:]) or _OF_OTHER_CODE.search(before + after):
                continue
            operator = match["operator"].replace("≥", ">=").replace("≤", "<=")
            if match["after"]:
                operator = "<=" if re.search(r"lower|below|earlier|older", match["after"]) else ">="
            said = re.sub(r"[\[\]*_`]", "", match[0]).strip()
            if match["package"].lower() == "keras" and match["number"] == "2.0":
                continue  # any Keras 2
            said += ")" * (said.count("(") - said.count(")"))
            found += _allowed(match["package"], [(operator or "==", match["number"])], said)
            end = match.end()
            while (other := _AND_ANOTHER.match(line, end)) is not None:
                end = other.end()
                found += _allowed(match["package"], [("==", other[1])], f"{match['package']} {other[1]}")
    return found


_MAGIC = re.compile(r"(?m)^[ \t#]*%tensorflow_version\s+([12])")
_SHELL = re.compile(r"(?m)^[ \t#]*[!%]\s*(?:pip3?|conda)\s+install\s+(.*)$")


def in_magics(text: str) -> list[Named]:
    """Read the versions that a notebook's commands choose.

    >>> in_magics("%tensorflow_version 1.x\\nimport tensorflow")[0].text
    '%tensorflow_version 1.x'
    """
    found: list[Named] = []
    for match in _MAGIC.finditer(text):
        found += _allowed("tensorflow", [("==", f"{match[1]}.*")], f"%tensorflow_version {match[1]}.x")
    for match in _SHELL.finditer(text):
        found += in_requirements(match[1])
    return found


class Notebook(NamedTuple):
    """What a notebook says."""

    source: str  # its code, without the commands of IPython
    prose: str  # the text of its Markdown cells
    named: list[Named]  # the versions that its commands choose, and that it printed
    python: list[Named]  # its Python


def in_notebook(text: str) -> Notebook:
    """Read a notebook.

    Args:
        text: the file's text; what is no notebook has no cells.
    """
    content = _json(text)
    sources, prose, named = [], [], []
    for cell in _list(content.get("cells")):
        source = _text(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            prose.append(source)
        elif cell.get("cell_type") == "code":
            named += [*in_magics(source), *_printed(source, cell)]
            sources.append(python_of_cell(source)[0])
    metadata = content.get("metadata")
    language = metadata.get("language_info") if isinstance(metadata, dict) else None
    version = language.get("version") if isinstance(language, dict) else None
    python = _allowed("python", [("==", version)], f"Python {version}") if isinstance(version, str) else []
    return Notebook("\n".join(sources), "\n".join(prose), named, python)


def _printed(source: str, cell: dict[str, object]) -> Iterator[Named]:
    """Yield the version that a cell printed."""
    printed = set(re.findall(r"\b(tf|tensorflow|keras)\.(?:__version__|VERSION)", source))
    if len(printed) != 1:
        return
    for output in _list(cell.get("outputs")):
        data = output.get("data")
        shown = _text(output.get("text")) or _text(data.get("text/plain") if isinstance(data, dict) else None)
        if (number := re.search(r"(?<![\w.])\d+\.\d+\.\d+(?!-tf)", shown[:500])) is not None:
            yield from _allowed(printed.pop(), [("==", number[0])], f"version {number[0]}, which it printed")
            return


def _list(value: object) -> Iterable[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(each for each in value if isinstance(each, str))
    return value if isinstance(value, str) else ""


def _allowed(package: str, rules: Iterable[tuple[str, str]], text: str) -> list[Named]:
    """Return the versions that rules such as (">=", "1.12") allow, if any: a list of one."""
    package = package.lower() if package.lower() in ("keras", "python") else "tensorflow"
    low, high = _LOWEST, HIGHEST
    for operator, number in rules:
        parts = [int(part) for part in re.findall(r"\d+", number)[:3] if len(part) < 5]
        if not parts:
            continue
        version = _padded(parts)
        if operator in ("<", "<="):
            high = min(high, version if operator == "<" else _after(parts))
        elif operator in (">", ">="):
            low = max(low, version)
        else:
            # `~=1.14` allows 1.15, `^1.14` likewise; `~=1.14.0` does not, nor does `~1.14`.
            kept = {"^": 1, "~=": max(len(parts) - 1, 1)}.get(operator, len(parts))
            low, high = max(low, version), min(high, _after(parts[:kept]))
    return [Named(package, low, high, text)] if low < high and (low, high) != (_LOWEST, HIGHEST) else []


def _padded(parts: list[int]) -> Version:
    first, second, third = (*parts, 0, 0)[:3]
    return first, second, third


def _after(parts: list[int]) -> Version:
    return _padded([*parts[:-1], parts[-1] + 1])
