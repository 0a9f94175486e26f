"""Why a thing differs between versions of Keras, and what to do: which row of `names/results.tsv` a finding shows."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from parallel_compat.compare.differences import Finding
from parallel_compat.names import tsv
from parallel_compat.names.eras import Era
from parallel_compat.names.results import RESULTS, THEN, Result

OTHER_RATE, ZERO_WEIGHTS, OWN_CLASS = "another learning rate", "weights of zero", "a class of its own"
OTHER_TRAINED, MORE_TRAINED = "other weights train", "more weights train"
_CLASSES = ("Model", "Sequential", "Functional", "ParallelModel")


class Reason(NamedTuple):
    """A known reason."""

    what: str  # the row of `docs/differences.md`
    text: str  # why it differs
    remedy: str  # what to do


class _Sign(NamedTuple):
    """What shows a row."""

    row: str  # how the row begins
    kinds: str  # the kinds of findings
    name: str  # a regular expression for what is of this class or name
    described: str  # one that the model's description has to hold
    by_words: bool  # whether the sources have to hold the row's words


_SIGNS = tuple(
    _Sign(row, kinds, name, described, words == "words")
    for row, kinds, name, described, words in tsv.rows("signs.tsv", 5, __package__)
)


def description(old: dict[str, Any], new: dict[str, Any], zero_weights: bool) -> str:
    """Return what is known of a model, as one text."""
    first, second = (facts.get("optimizer_config") or {} for facts in (old, new))
    rates = [each.get("lr", each.get("learning_rate")) for each in (first, second)]
    # A model with a layer that has no `get_config` has no configuration.
    classes = json.dumps([layer["class"] for layer in old.get("layers", [])])
    known = [str(old.get("config") or ""), classes, json.dumps(first), str(old.get("loss"))]
    known += [OTHER_RATE] if _differ(*rates) else []
    known += [ZERO_WEIGHTS] if zero_weights else []
    known += [OWN_CLASS] if old.get("class", "Model") not in _CLASSES else []
    more = len(new.get("trainable", [])) - len(old.get("trainable", []))
    known += [OTHER_TRAINED] * bool(more) + [MORE_TRAINED] * (more > 0)
    return "\n".join(known)


def _differ(a: Any, b: Any) -> bool:
    numbers = all(isinstance(each, (int, float)) for each in (a, b))
    return numbers and abs(a - b) > 1e-6 * abs(a)


def reason_of(
    finding: Finding, described: str = "", sources: str | None = None, era: Era | None = None
) -> Reason | None:
    """Return the known reason of a finding, or None.

    Args:
        described: what is known of the model (`description`).
    """
    for sign in _SIGNS:
        row = next(each for each in RESULTS if each.what.startswith(sign.row))
        if (
            finding.kind in sign.kinds.split()
            and re.fullmatch(sign.name, finding.class_name)
            and re.search(sign.described, described)
            and (era is None or era in row.eras)
            and (not sign.by_words or re.search(row.words, sources or ""))
        ):
            text = f"{row.what}. Original: {row.keras_2}. Keras 3: {row.keras_3}."
            return Reason(row.what, text, _remedy(row, "" if era is None else f" --era {era.value}"))
    return None


def rounding_alone(weights: int) -> Reason:
    """Return the reason of what differs after steps that moved weights by chance."""
    text = (
        f"The gradients of {weights:,} weights are only rounding, and optimizers such as Adam take a full step with "
        "any gradient. No known difference between versions was found."
    )
    return Reason("gradients of rounding alone", text, 'Compare once with `"sgd"`: it does not move such weights.')


def _remedy(row: Result, era: str) -> str:
    """Say what to do. `--era` is for files without old names, which `migrate` leaves alone."""
    if "--unsafe" in row.migrate:
        return f"`migrate --unsafe{era}` writes the old value. {row.stand_in}".strip()
    if "--to native" in row.migrate:
        return f"`migrate --to native{era}` writes the old computation. {row.stand_in}".strip()
    if row.migrate.startswith(THEN):
        return f"`migrate --unsafe{era}` rewrites it. {row.stand_in}".strip()
    return row.stand_in or "No rewriting gives the original's results: if they matter, use `parallel-compat run`."
