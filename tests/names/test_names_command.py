"""What `parallel-compat names` says of what it does not know."""

from __future__ import annotations

import pytest

from parallel_compat.command import main


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["ValueError: something else"], "looked for the message `something else` on the page of errors"),
        (["ValueError:", "something", "else"], "ValueError: something else: no answer"),
        (["AttributeError: 'Tower' object has no attribute 'split_batch'"], "looked for split_batch and Tower"),
        (["nonesuch"], "not a name that the table knows"),
    ],
)
def test_what_was_looked_for_is_said(arguments, expected, capsys):
    assert main(["names", *arguments]) == 1
    told = capsys.readouterr().err
    assert expected in told
    assert len(told.splitlines()) == 1
    if " " in " ".join(arguments):
        assert "last line of the traceback" in told
