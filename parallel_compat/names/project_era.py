"""The one era of a process, decided before it starts: by its sources and the files of its project.

Each sign allows some of the pairs of TensorFlow and Keras that there were. The strongest sign comes first: names that
only one version has, in the script; the project's requirements; such names in what the script imports; the key by which
a history's accuracy is read; the README; images and CI services; dates; and what merely leans one way. A sign that
allows none of the pairs left changes nothing, and the reason names it.
"""

from __future__ import annotations

import datetime
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from parallel_compat.names import evidence, named_versions, project_dates, project_sources
from parallel_compat.names.eras import Era
from parallel_compat.names.evidence import Evidence
from parallel_compat.names.named_versions import Named
from parallel_compat.names.project_files import MIGRATED, ProjectFiles, files_of_project, read_text
from parallel_compat.names.project_sources import Source, Sources


class Decision(NamedTuple):
    """The era of a process, and why."""

    era: Era  # whose Keras it gets; `Era.TODAY` if it needs no original
    uses: frozenset[str]  # what the sources import: "keras", "tf.keras", "tf", "tf.contrib", "tf.layers"
    tensorflow: int  # the TensorFlow that it was written for, 1 or 2
    reason: str  # what says so, in one sentence without a full stop
    # Whether nothing speaks against it and something speaks for it; else the report begins with the choice.
    certain: bool
    hint: str  # what to do if the choice is wrong, or ""
    python_2: tuple[str, ...] = ()  # the sources of Python 2 among those that the process needs, the main one first


class _Pair(NamedTuple):
    """A TensorFlow and a Keras that were installed together, each by the first of its versions."""

    tensorflow: tuple[int, int]
    keras: tuple[int, int]


_1_AND_2_2, _1_AND_2_3 = _Pair((0, 0), (0, 0)), _Pair((0, 0), (2, 3))
_2_AND_2_3, _2_AND_2_4, _TODAY = _Pair((2, 0), (2, 3)), _Pair((2, 0), (2, 4)), _Pair((2, 16), (3, 0))
_PAIRS = (_1_AND_2_2, _1_AND_2_3, _2_AND_2_3, _2_AND_2_4, _TODAY)
_OF_1 = frozenset((_1_AND_2_2, _1_AND_2_3))
_OF_2 = frozenset((_2_AND_2_3, _2_AND_2_4, _TODAY))
# Chosen only where a sign allows nothing else: a project that says nothing is not of Keras 2.4, which is tf.keras.
_RARE = frozenset((_2_AND_2_4, _TODAY))

_NAMES = {
    Era.KERAS_2_2_4: "Keras 2.2",
    Era.KERAS_2_3: "Keras 2.3",
    Era.TF_KERAS_1_15: "TensorFlow 1",
    Era.TF_KERAS_2_2: "TensorFlow 2",
    Era.TODAY: "Keras 3",
}

_BYTES_OF_OTHERS = 500_000
_THIS_PACKAGE = re.compile(r"parallel[-_]compat\b")

_ALPHA_OF_2 = datetime.date(2019, 3, 6)
_KERAS_2_3 = datetime.date(2019, 9, 17)
_TENSORFLOW_2 = datetime.date(2019, 9, 30)
_LAST_OF_KERAS_2 = datetime.date(2024, 1, 1)


class _Sign(NamedTuple):
    """Something that speaks for some of the pairs; a firm one can be relied on."""

    pairs: frozenset[_Pair]
    text: str
    firm: bool = True


def era_of_project(
    script: str | None = None, code: str | None = None, module: str | None = None, folder: str = "."
) -> Decision:
    """Decide whose Keras a process gets, from its sources and its project, without importing them or TensorFlow.

    >>> decision = era_of_project(code="from tensorflow.keras.layers import CuDNNLSTM")
    >>> decision.era.value, decision.reason
    ('tf.keras-1.15', 'the code uses tf.keras.layers.CuDNNLSTM, which TensorFlow 2 does not have')

    Args:
        code: the code of `-c`, or what came by standard input.
    """
    folder = os.path.abspath(folder)
    start, package = folder, ""
    if code is not None:
        main = os.path.join(folder, "<code>")
    elif script is not None:
        main = os.path.abspath(os.path.join(folder, script))
        if os.path.isdir(main):
            main = os.path.join(main, "__main__.py")
        start = os.path.dirname(main)
    else:
        found = project_sources.file_of_module(module or "", [folder, *sys.path])
        main = found or os.path.join(folder, f"{module}.py")
        if not main.startswith(os.path.join(folder, "")):
            package = (module or "").partition(".")[0]
    files = files_of_project(start, folder)
    sources = project_sources.sources_of_process(main, code, files.root, package)
    python_2 = tuple(source.name for source in (sources.main, *sources.imported) if source.said.python_2)
    return _decide(sources, files)._replace(python_2=python_2)


def _decide(sources: Sources, files: ProjectFiles) -> Decision:
    own = evidence.together(source.said for source in (sources.main, *sources.imported))
    if own.keras_3:
        return Decision(Era.TODAY, _uses(own), 2, f"it uses {own.keras_3}, which is today's", True, "")
    others: list[Source] = []
    known_by = ""
    if not own.imports_keras:
        others = project_sources.installed_packages(sources)
        if not own.parts and not any(source.said.imports_keras for source in others):
            others = _other_sources(sources, files)
        by = next((source for source in others if source.said.imports_keras), None)
        if by is not None:
            own = evidence.together((own, by.said._replace(tensorflow_1="", tensorflow_2="")))
            known_by = f"{sources.main.name} imports no Keras, {by.name} does"
    if not own.imports_keras and not own.parts:
        return Decision(
            Era.TODAY, frozenset(), 2, f"{sources.main.name} imports neither Keras nor TensorFlow", True, ""
        )
    choice = _Choice(own)
    for sign in _firm_signs(sources, files, own):
        choice.take(sign)
    if not choice.is_certain:
        for sign in _leanings(sources, files, own, others or _other_sources(sources, files)):
            choice.take(sign)
    return choice.decision(known_by)


class _Choice:
    """The pairs that the signs left, and which signs mattered."""

    def __init__(self, own: Evidence) -> None:
        self.own = own
        self.left = frozenset(_PAIRS)
        self.because: list[_Sign] = []
        self.against: list[_Sign] = []

    def _era_of(self, pair: _Pair) -> Era:
        """Return the era of a pair for what the sources import."""
        if pair is _TODAY:
            return Era.TODAY
        if not self.own.imports_keras:
            return Era.TF_KERAS_1_15 if pair in _OF_1 else Era.TODAY
        if self.own.standalone and pair is not _2_AND_2_4:
            return Era.KERAS_2_2_4 if pair is _1_AND_2_2 else Era.KERAS_2_3
        return Era.TF_KERAS_1_15 if pair in _OF_1 else Era.TF_KERAS_2_2

    def _likely(self, pairs: frozenset[_Pair]) -> list[_Pair]:
        """Return the pairs to choose from, the best guess first."""
        order = [pair for pair in _PAIRS if pair in (pairs - _RARE or pairs - {_TODAY} or pairs)]
        return order if self.own.standalone else sorted(order, key=lambda pair: (pair is _TODAY, pair in _OF_1))

    def _eras(self, pairs: frozenset[_Pair]) -> list[Era]:
        """Return the eras to choose from, the best guess first."""
        return list(dict.fromkeys(self._era_of(pair) for pair in self._likely(pairs)))

    def take(self, sign: _Sign) -> None:
        """Keep what a sign allows."""
        left = self.left & sign.pairs
        if not left:
            if sign.firm and not self.against:
                self.against.append(sign)
            return
        if self._eras(left) != self._eras(self.left):
            self.because.append(sign)
        self.left = left

    @property
    def is_certain(self) -> bool:
        """Whether firm signs left one era."""
        return not self.against and len(self._eras(self.left)) == 1 and all(sign.firm for sign in self.because)

    def decision(self, known_by: str) -> Decision:
        """Return the decision.

        Args:
            known_by: how it is known that Keras is used, where the sources do not import it.
        """
        possible = self._eras(self.left)
        era = possible[0]
        pair = self._likely(self.left)[0]
        because = " and ".join(sign.text for sign in self.because) or self._default()
        reason = f"{known_by}; {because}" if known_by else because
        reason += f", though {self.against[0].text}" if self.against else ""
        if era is Era.KERAS_2_2_4 and self.own.keras_1:
            used = f"it uses {self.own.keras_1} of Keras 1"
            reason += f"{'' if reason.endswith(used) else f'; {used}'}, which Keras 2.2.4 still takes"
        other = next((each for each in possible[1:] or self._others(era) if each is not era), None)
        hint = f"if it was written for {_NAMES[other]}, add --era {other}" if other and not self.is_certain else ""
        return Decision(era, _uses(self.own), 1 if pair in _OF_1 else 2, reason, self.is_certain, hint)

    def _others(self, era: Era) -> list[Era]:
        """Return what else it may be, where signs that are not firm left one era."""
        pairs = self.against[0].pairs if self.against else frozenset(_PAIRS)
        return [each for each in self._eras(pairs) if each is not era]

    def _default(self) -> str:
        if not self.own.imports_keras:
            return "it imports TensorFlow and no Keras"
        if self.own.standalone:
            return "it imports keras, and nothing says which version"
        return "it imports tf.keras, and nothing says of which TensorFlow"


def _uses(said: Evidence) -> frozenset[str]:
    kerases = (("keras", said.standalone), ("tf.keras", said.tf_keras))
    return said.parts | {name for name, used in kerases if used}


def _firm_signs(sources: Sources, files: ProjectFiles, own: Evidence) -> Iterator[_Sign]:
    yield from _of_names([sources.main], is_main=True)
    yield from _of_versions(sources.commands, sources.main.name, own)
    for name, named in _required(files):
        yield from _of_versions(named, name, own)
    yield from _of_names(sources.imported)
    yield from _of_accuracy(own)
    for path in files.prose:
        yield from _of_versions(named_versions.in_prose(read_text(path)), os.path.basename(path), own)
    for path in files.services:
        yield from _of_versions(named_versions.in_requirements(read_text(path)), os.path.basename(path), own)
    changed = project_dates.last_change(files.root, sources.files)
    if changed is not None and changed.date < _KERAS_2_3:
        text = f"{changed.text}, before {'Keras 2.3' if own.standalone else 'TensorFlow 2'}"
        yield _Sign(frozenset((_1_AND_2_2,)), text, bool(own.standalone) or changed.date < _ALPHA_OF_2)


def _required(files: ProjectFiles) -> Iterator[tuple[str, list[Named]]]:
    """Yield each file of requirements with its versions; of one that asks for this package, not those of today."""
    for path in files.requirements:
        text = read_text(path)
        named = named_versions.in_requirements(text)
        if _THIS_PACKAGE.search(text):
            named = [version for version in named if version.package == "python" or _pairs(version) != {_TODAY}]
        yield os.path.basename(path), named


def _leanings(sources: Sources, files: ProjectFiles, own: Evidence, others: list[Source]) -> Iterator[_Sign]:
    for sign in (*_of_versions(sources.prose, sources.main.name, own), *_of_names(others)):
        yield sign._replace(firm=False)
    for name, versions in (*_required(files), (sources.main.name, sources.python)):
        for version in versions:
            if version.package == "python":
                yield from _of_python(version, name)
            elif version.package == _required_package(own):
                yield _lowest(version, name)
            elif not own.standalone:
                yield _sign(version, name)._replace(firm=False)
    if any(source.said.python_2 for source in (sources.main, *sources.imported)):
        yield _Sign(_OF_1, "its sources are of Python 2", False)
    for path in files.prose:
        for version in named_versions.in_prose(read_text(path)):
            if version.package == _required_package(own) or not own.standalone:
                yield _lowest(version, os.path.basename(path))
    if own.like_tensorflow_2:
        yield _Sign(_OF_2, f"it uses {own.like_tensorflow_2}, as code of TensorFlow 2 does", False)
    if evidence.WATCHED_ACC in own.accuracy and evidence.ASKED in own.accuracy:
        yield _Sign(_before_accuracy(own), f"it monitors {evidence.WATCHED_ACC} of {evidence.ASKED}", False)
    if own.keras_1:
        yield _Sign(frozenset((_1_AND_2_2,)), f"it uses {own.keras_1} of Keras 1", False)
    begun = project_dates.begun(files.root, files.licenses)
    if begun is not None and _TENSORFLOW_2 < begun.date < _LAST_OF_KERAS_2:
        pairs = frozenset((_1_AND_2_3, _2_AND_2_3)) if begun.date.year < 2021 else frozenset((_2_AND_2_4,))
        yield _Sign(pairs if own.standalone else _OF_2, begun.text, False)


def _of_names(sources: Iterable[Source], is_main: bool = False) -> Iterator[_Sign]:
    """Yield what names say that only one version has; a source that has those of two asks which one it runs on.

    A project that was brought to TensorFlow 2 keeps functions of TensorFlow 1 that nobody calls, not the reverse.
    """
    one_of_two = [source for source in sources if bool(source.said.tensorflow_1) != bool(source.said.tensorflow_2)]
    for name, said in one_of_two:
        if said.tensorflow_2:
            yield _Sign(_OF_2, f"{name} uses {said.tensorflow_2}, which TensorFlow 1 does not have")
            break
    of_1 = [source for source in one_of_two if source.said.tensorflow_1]
    if of_1:
        text = f"{of_1[0].name} uses {of_1[0].said.tensorflow_1}, which TensorFlow 2 does not have"
        yield _Sign(_OF_1, text, firm=is_main or len(of_1) > 1)
    for name, said in sources:
        if said.keras_2:
            yield _Sign(frozenset(_PAIRS) - {_TODAY}, f"{name} imports {said.keras_2}, which Keras 3 does not have")
            break
    for name, said in sources:
        if said.keras_2_3 and said.standalone:
            yield _Sign(
                frozenset(_PAIRS) - {_1_AND_2_2}, f"{name} uses {said.keras_2_3}, which Keras 2.2 does not have"
            )
            break


def _of_accuracy(own: Evidence) -> Iterator[_Sign]:
    """Yield what the name of the accuracy says by which a history is read: by another one that is a KeyError."""
    if evidence.ASKED not in own.accuracy:
        return
    if evidence.READ_ACC in own.accuracy and not own.accuracy & {evidence.READ, evidence.WATCHED}:
        yield _Sign(_before_accuracy(own), f"it reads {evidence.READ_ACC} of {evidence.ASKED}")
    if evidence.READ in own.accuracy and evidence.READ_AS_ACC not in own.accuracy:
        yield _Sign(frozenset(_PAIRS) - _before_accuracy(own), f"it reads {evidence.READ} of {evidence.ASKED}")


def _before_accuracy(own: Evidence) -> frozenset[_Pair]:
    """Return the pairs that log `metrics=["accuracy"]` as "acc"."""
    return frozenset((_1_AND_2_2,)) if own.standalone else _OF_1


def _required_package(own: Evidence) -> str:
    return "keras" if own.standalone else "tensorflow"


def _of_versions(named: list[Named], name: str, own: Evidence) -> Iterator[_Sign]:
    """Yield what a file's versions say, those of the imported Keras first; several of a package allow all of theirs."""
    for package in ("keras", "tensorflow") if own.standalone else ("tensorflow",):
        signs = [_sign(version, name) for version in named if version.package == package]
        if signs:
            most = Counter(sign.pairs for sign in signs).most_common(1)[0][0]
            text = next(sign.text for sign in signs if sign.pairs == most)
            pairs = frozenset().union(*(sign.pairs for sign in signs))
            yield _Sign(pairs, text, firm=pairs != {_TODAY})  # raised by a service, maybe, for code that is older


def _sign(version: Named, name: str) -> _Sign:
    return _Sign(_pairs(version), _text(version, name))


def _text(version: Named, name: str) -> str:
    return f"{name} {'names' if name.lower().startswith(('readme', 'install')) else 'has'} {version.text}"


def _pairs(version: Named) -> frozenset[_Pair]:
    """Return the pairs whose versions a range has in common with."""
    firsts = sorted({getattr(pair, version.package) for pair in _PAIRS})
    followed = [*firsts[1:], (named_versions.HIGHEST[0], 0)]
    fitting = {
        first
        for first, following in zip(firsts, followed, strict=True)
        if version.low < (*following, 0) and version.high > (*first, 0)
    }
    pairs = frozenset(pair for pair in _PAIRS if getattr(pair, version.package) in fitting)
    # With TensorFlow 2.2 or earlier no Keras 2.4 could be installed.
    has_no_2_4 = version.package == "tensorflow" and version.high <= (2, 2, 0)
    return pairs - {_2_AND_2_4} if has_no_2_4 else pairs


def _lowest(version: Named, name: str) -> _Sign:
    """Return what the lowest version of a range says: often that which the project was written with."""
    following = (*version.low[:2], version.low[2] + 1)
    return _Sign(_pairs(version._replace(high=following)), _text(version, name), False)


def _of_python(version: Named, name: str) -> Iterator[_Sign]:
    """Yield what the Python says: TensorFlow 1 was never built for 3.8, nor TensorFlow 2.1 for Python 2."""
    if version.low >= (3, 8, 0):
        yield _Sign(_OF_2, f"{name} has {version.text}, for which there is no TensorFlow 1", False)
    if version.low >= (2, 0, 0) and version.high <= (3, 0, 0):
        yield _Sign(_OF_1, _text(version, name), False)


def _other_sources(sources: Sources, files: ProjectFiles) -> list[Source]:
    """Read the project's other files, of which the process imports none."""
    seen = set(sources.files)
    others = []
    left = _BYTES_OF_OTHERS
    for path in files.sources:
        if path not in seen:
            text = read_text(path, left)
            left -= len(text)
            if ("keras" in text or "tensorflow" in text) and MIGRATED not in text:
                others.append(project_sources.Source(os.path.basename(path), evidence.evidence_of_source(text, False)))
    return others
