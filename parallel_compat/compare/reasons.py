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
OTHER_GATES, OTHER_SIGMOID = "gates of another sigmoid", "today's hard_sigmoid"
FROZEN_NORMALIZATION, SMALL_BATCH = "BatchNormalization that does not train", "batches of several sizes"
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


class Known(NamedTuple):
    """What is known of a model since a `compile`."""

    at: int  # the first step after it
    optimizer: str
    text: str  # its description
    layers: frozenset[str]  # the names of its layers with weights


def compiled(facts: dict[str, Any], step: int) -> dict[str, Any]:
    """Return a model's facts, with what it was compiled with at a step."""
    last = [each for each in facts.get("compiled", ()) if each["at"] <= step][-1:]
    return {**facts, **last[0]} if last else facts


def known_of(old: dict[str, Any], new: dict[str, Any], *more: str) -> list[Known]:
    """Return what is known of a model, for each `compile` after which it was trained; more is known of all of them."""
    layers = frozenset(layer["name"] for layer in old["layers"])
    starts = [0, *(each["at"] for each in old.get("compiled", ()) if each["at"])]
    facts = [(at, compiled(old, at), compiled(new, at)) for at in starts]
    return [Known(at, str(a.get("optimizer")), description(a, b, *more), layers) for at, a, b in facts]


def description(old: dict[str, Any], new: dict[str, Any], *more: str) -> str:
    """Return what is known of a model, as one text, with what else is known."""
    first, second = (facts.get("optimizer_config") or {} for facts in (old, new))
    rates = [each.get("lr", each.get("learning_rate")) for each in (first, second)]
    # A model with a layer that has no `get_config` has no configuration.
    classes = json.dumps([layer["class"] for layer in old.get("layers", [])])
    known = [*more, str(old.get("config") or ""), classes, json.dumps(first), str(old.get("loss"))]
    known += [OTHER_RATE] if _differ(*rates) else []
    configs = [str(facts.get("config") or "") for facts in (old, new)]
    sigmoids = [config.count("hard_sigmoid") for config in configs]
    known += [OTHER_GATES] * (sigmoids[1] < sigmoids[0] or not configs[0])
    known += [OTHER_SIGMOID] * ('activation": "hard_sigmoid"' in configs[1])
    known += [OWN_CLASS] if old.get("class", "Model") not in _CLASSES else []
    added = len(new.get("trainable", [])) - len(old.get("trainable", []))
    known += [OTHER_TRAINED] * bool(added) + [MORE_TRAINED] * (added > 0)
    known += [FROZEN_NORMALIZATION] * _has_frozen_normalization(old)
    return "\n".join(known)


def _has_frozen_normalization(facts: dict[str, Any]) -> bool:
    place, trained = 0, set(facts.get("trainable", ()))
    for layer in facts.get("layers", ()):
        places = range(place, place := place + len(layer.get("weights", ())))
        if layer["class"] == "BatchNormalization" and len(places) > 2 and trained and trained.isdisjoint(places):
            return True
    return False


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


def same_layers(other: str) -> Reason:
    """Return the reason of what differs after another model whose layers have the same names differed."""
    text = f"Model {other}, which has layers of the same names, differs before it."
    return Reason("another model's layers", text, f"See model {other}.")


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
