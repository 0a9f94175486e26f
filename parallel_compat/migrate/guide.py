"""The rules explained: for `--explain`, and as `docs/reference/rules.md`."""

from __future__ import annotations

import difflib

from parallel_compat.migrate import rules

BEGIN = "<!-- rules: written by `parallel-compat migrate --explain all` -->"
END = "<!-- end of rules -->"


def explain(name: str) -> str:
    """Return a rule's explanation in Markdown: what it changes, why, and an example as a diff."""
    rule = rules.load(name)
    kind = "safe" if rule.SAFE else "unsafe: applied with `--unsafe`, or if the file proves it right"
    if rule.AFTER is None:
        kind = "reports only"
    text = [f"## {name}", "", f"*{kind}*", "", (rule.__doc__ or "").strip(), ""]
    if rule.AFTER is None:
        text += ["```python", rule.BEFORE.rstrip("\n"), "```"]
    else:
        before, after = rule.BEFORE.splitlines(), rule.AFTER.splitlines()
        changes = list(difflib.unified_diff(before, after, lineterm="", n=99))[3:]
        text += ["```diff", *changes, "```"]
    return "\n".join(text) + "\n"


def section() -> str:
    """Return all rules, as they stand in `docs/reference/rules.md`."""
    names = (*sorted(rules.NAMES), *sorted(rules.NATIVE_NAMES))
    return "\n".join([BEGIN, "", *(explain(name) for name in names), END]) + "\n"
