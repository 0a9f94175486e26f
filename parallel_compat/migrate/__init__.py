"""Rewriting old sources for today's Keras: `parallel-compat migrate`.

`walk` finds the files, `process` takes one from bytes to its report, `engine` runs the `rules` over a `file`,
`report` tells. Sources are read with the standard library's `ast` and changed by edits of their text, so that
whatever no rule names stays byte for byte.
"""

from __future__ import annotations
