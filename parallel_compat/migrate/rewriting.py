"""What becomes of a source: its text, step by step, and what was found in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce

from parallel_compat.migrate import native
from parallel_compat.migrate.edits import Edit, mover
from parallel_compat.migrate.findings import Finding, Status
from parallel_compat.names.eras import Era


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What becomes of a source."""

    text: str  # the text afterwards
    findings: tuple[Finding, ...]  # what was found, with offsets of the source as it was
    steps: tuple[tuple[Edit, ...], ...]  # the edits, round by round: each of the text that the ones before have made
    legacy: bool  # whether it has what only old code has
    has_hints: bool  # whether there are findings that count in a legacy project alone
    era: Era | None = None  # whose Keras it was written for; None where that is not known

    def then(self, later: Rewriting) -> Rewriting:
        """Return both: this one, and what becomes of its text."""
        origins = Origins()
        for step in self.steps:
            origins.add(step)
        found = [one for one in self.findings if one.status is Status.REWRITTEN or one.rule == native.DIFFERENCES]
        found += [
            replace(one, offset=origins.of(one.offset)) for one in later.findings if one.rule != native.DIFFERENCES
        ]
        return Rewriting(
            later.text,
            tuple(sorted(dict.fromkeys(found), key=lambda one: one.offset)),
            self.steps + later.steps,
            self.legacy or later.legacy,
            self.has_hints or later.has_hints,
            self.era,
        )

    def moved_findings(self) -> Iterator[Finding]:
        """Yield the findings with offsets of the text afterwards."""
        moves = [mover(step) for step in self.steps]
        for one in self.findings:
            yield replace(one, offset=reduce(lambda offset, move: move(offset), moves, one.offset))


class Origins:
    """Where a place of the rewritten text was in the source."""

    def __init__(self) -> None:
        self._rounds: list[tuple[list[int], list[int]]] = []

    def add(self, edits: Iterable[Edit]) -> None:
        """Note the edits of a round."""
        after, before = [0], [0]
        shift = 0
        for edit in sorted(set(edits)):
            after.append(edit.start + shift)
            before.append(edit.start)
            shift += len(edit.text) - (edit.end - edit.start)
            after.append(edit.end + shift)
            before.append(edit.end)
        self._rounds.append((after, before))

    def of(self, offset: int) -> int:
        """Return where the text of an offset came from; for new text, where it was written.

        >>> from parallel_compat.migrate.edits import Edit
        >>> origins = Origins()
        >>> origins.add([Edit(2, 4, "longer")])
        >>> [origins.of(offset) for offset in (1, 5, 9)]
        [1, 2, 5]
        """
        for after, before in reversed(self._rounds):
            index = bisect_right(after, offset) - 1
            written_anew = index % 2 == 1  # between the start and the end of an edit
            offset = before[index] if written_anew else before[index] + offset - after[index]
        return offset
