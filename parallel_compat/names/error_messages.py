"""Error messages that old code meets today, and what helps. `docs/reference/errors.md` is written from them."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from parallel_compat.names import tsv

RUN = "`parallel-compat run SCRIPT`"
MIGRATE = "`parallel-compat migrate --write PATH`"


class Error(NamedTuple):
    """An error message and what helps."""

    group: str  # who raises it
    title: str  # the part of the text that people search for
    pattern: str  # a regular expression that finds the message
    cause: str  # one sentence
    remedy: str  # what to do, with the command or line
    also: tuple[str, ...]  # other texts of the same error that people search for

    def matches(self, text: str) -> str | None:
        """Return the part of a text that is this error, or None; the whole text of a traceback will do, and one whose
        quotes a shell has taken away."""
        match = re.search(self.pattern.replace("'", r"(?:['\"`‘’]|\b)"), text)
        return match[0] if match else None


_BOTH = f"{RUN} runs it unmodified; {MIGRATE} rewrites it."
_RECOVER = "`parallel-compat recover OLD.h5 -o NEW.keras` extracts the single model. No code in the file is executed."


@cache
def errors() -> tuple[Error, ...]:
    """Return the rows, in the order in which they are tried."""
    return tuple(
        Error(
            group,
            title,
            pattern,
            cause,
            remedy.format(BOTH=_BOTH, RECOVER=_RECOVER),
            tuple(also.split(" | ")) if also else (),
        )
        for group, title, pattern, cause, remedy, also in tsv.rows("error_messages.tsv", 6)
    )


def page() -> str:
    """Return `docs/reference/errors.md`."""
    lines = [
        "# Error messages, and what helps",
        "",
        'Search for a part of the message, or run `parallel-compat names "the message"`. A test causes each message.',
    ]
    for group in dict.fromkeys(error.group for error in errors()):
        lines += ["", f"## {group}"]
        for error in errors():
            if error.group == group:
                lines += ["", f"### {error.title}", ""]
                if error.also:
                    lines += ["Also: " + ", ".join(f"`{text}`" for text in error.also) + ".", ""]
                lines.append(f"{error.cause} {error.remedy}")
    return "\n".join(lines) + "\n"
