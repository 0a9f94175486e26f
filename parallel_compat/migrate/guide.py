"""The rules explained: for `--explain`, and as `docs/reference/rules.md`."""

from __future__ import annotations

from parallel_compat.migrate import rules

BEGIN = "<!-- rules: written by `parallel-compat migrate --explain all` -->"
END = "<!-- end of rules -->"


def explain(name: str) -> str:
    """Return a rule's explanation in Markdown: what it changes, why, and an example as a diff."""
    rule = rules.load(name)
    kind = "safe" if name in rules.SAFE else "unsafe: applied with `--unsafe`, or if the file proves it right"
    if rules.example(name)[1] is None:
        kind = "reports only"
    return f"## {name}\n\n*{kind}*\n\n{(rule.__doc__ or '').strip()}\n"


def section() -> str:
    """Return all rules, as they stand in `docs/reference/rules.md`."""
    names = (*sorted(rules.NAMES), *sorted(rules.NATIVE_NAMES))
    return "\n".join([BEGIN, "", *(explain(name) for name in names), END]) + "\n"
