"""Hold two recordings of one script against each other: the first thing that differs, and by how much.

Each step of the second recording began from the first one's weights, on its batch (`record_keras.py --replay`), so each
stands for itself; or only the first step did, and both went on by themselves (`--free`). Then a third recording says
how far two runs of the first stack are from each other, and what is within ten times that is rounding. In a step things
are compared in the order in which they are computed: the batch, the layers, the outputs, the loss, the gradients, the
weights after the step, the optimizer's state, the metrics. What `evaluate`, `predict` and `fit` returned follows
(`results.py`).
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from parallel_compat.compare.counts import Counts
from parallel_compat.compare.curves import Curve, curve, distance
from parallel_compat.compare.differences import (
    EPSILON,
    NOISE,
    TOLERANCE,
    Finding,
    part,
    percent,
    relative_difference,
    tolerance,
)
from parallel_compat.compare.optimizer_states import state
from parallel_compat.compare.reasons import (
    SMALL_BATCH,
    ZERO_WEIGHTS,
    Known,
    Reason,
    compiled,
    known_of,
    reason_of,
    rounding_alone,
    same_layers,
)
from parallel_compat.compare.results import Results
from parallel_compat.names.eras import Era
from parallel_compat.names.identifiers import log_today
from parallel_compat.recover.config_json import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from parallel_compat.compare.recordings import Recording

    Array = np.ndarray[Any, Any]


@dataclass
class Step:
    """One step of one model."""

    findings: list[Finding] = field(default_factory=list)  # what differs, in the order in which it is computed
    # The largest difference of each kind that was compared, as part of the largest value.
    differences: dict[str, float] = field(default_factory=dict)
    left_out: int = 0  # weights whose gradient is nothing but rounding


@dataclass(frozen=True)
class Layer:
    """What a layer put out in the first step."""

    name: str  # its name in both
    kind: str  # its class
    difference: float  # as part of the largest value
    state: str  # "equal", "differs", or "follows" from a layer before it that differs


@dataclass
class Comparison:
    """Two recordings, held against each other."""

    stacks: tuple[str, str]  # the Keras of both
    models: list[str]  # the names of the models
    steps: list[list[Step]]  # for each model, its steps
    # For each model, the largest difference of what `evaluate`, `predict` and `fit` returned, by kind, as part of the
    # largest value.
    results: list[dict[str, float]] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)  # for each model, the losses of both
    layers: list[list[Layer]] = field(default_factory=list)  # for each model, its layers in the first step
    known: list[list[Known]] = field(default_factory=list)  # for each model, what is known of it, by `compile`
    sources: str | None = None  # the script's sources; None where they are not known
    era: Era | None = None  # whose Keras the first run had; None where that is not known
    machines: list[list[str]] = field(default_factory=list)  # the versions and devices of both
    seconds: dict[str, float] = field(default_factory=dict)  # how long each run took
    # What concerns a model, or both recordings, as a whole: (model or None, finding).
    findings: list[tuple[int | None, Finding]] = field(default_factory=list)
    notes: list[tuple[int, str]] = field(default_factory=list)  # what was not judged, and why: (model, sentence)

    @property
    def is_equal(self) -> bool:
        """Whether everything was compared and nothing differs."""
        return not self.findings and not any(step.findings for steps in self.steps for step in steps)

    @property
    def first_run(self) -> str:
        """What the first run was."""
        return "original" if any(curve.again for curve in self.curves) else "recorded"

    def verdict(self) -> str:
        """Return the verdict in one sentence."""
        first = self.first()
        if first is None:
            steps = sum(len(steps) for steps in self.steps), sum(curve.compared for curve in self.curves)
            return f"equal: {steps[0]} steps in detail and {steps[1]} losses differ by no more than rounding"
        place, finding = first
        if finding.kind == "not compared":
            return f"not all was compared: {finding.text}"
        return f"first difference: {place}: {finding.text}"

    def first(self) -> tuple[str, Finding] | None:
        """Return the first thing that differs, with its place."""
        return next(((place, finding) for _, place, finding in self.in_order()), None)

    def in_order(self) -> Iterator[tuple[int | None, str, Finding]]:
        """Yield everything that differs, with its model and place, in the order in which it is computed."""
        late = ("batches", "data", "curve", "evaluate", "predict", "history", "not compared")
        for model, finding in self.findings:
            if finding.kind == "weights":
                yield model, self.place(model), finding
        for number, steps in enumerate(self.steps):
            for step, each in enumerate(steps):
                for finding in each.findings:
                    yield number, f"{self.place(number)}, step {step}", finding
        for kind in late:
            for model, finding in self.findings:
                if finding.kind == kind:
                    yield model, self.place(model), finding

    def place(self, model: int | None) -> str:
        """Return how a model is called."""
        return "the recordings" if model is None else f"model {self.models[model]}"

    def reason(self, model: int | None, finding: Finding) -> Reason | None:
        """Return why something differs, where that is known.

        Args:
            model: the model's number; None for both recordings.
        """
        known = self.known[model] if model is not None and model < len(self.known) else []
        if model is None or not known:
            return reason_of(finding, "", self.sources, self.era)
        steps = self.steps[model]
        step = next((number for number, each in enumerate(steps) if finding in each.findings), None)
        at = self.curves[model].differs_from if finding.kind == "curve" else step
        here = known if at is None else [[each for each in known if each.at <= at][-1]]
        described = "\n".join(each.text for each in here)
        found = reason_of(finding, described, self.sources, self.era)
        if found is None and finding.kind == "curve" and here[0].at:  # steps after a later `compile` are not in detail
            by_step = replace(finding, kind="step", class_name=f"{here[0].optimizer} of Embedding")
            found = reason_of(by_step, described, self.sources, self.era)
        if found is not None or finding.kind in ("not compared", "weights"):
            return found
        others = (other for other in range(model) if self.steps[other] and self.steps[other][0].findings)
        other = next((each for each in others if known[0].layers & self.known[each][0].layers), None)
        if other is not None:
            return same_layers(self.models[other])
        before = steps if step is None else steps[: step + (finding.kind in ("step", "state"))]
        left_out = sum(each.left_out for each in before)
        return rounding_alone(left_out) if left_out else None

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        own = {name: value for name, value in asdict(self).items() if name not in ("known", "sources", "era")}
        why: dict[int | None, Any] = {}
        for model, place, finding in self.in_order():
            if model not in why:
                reason = self.reason(model, finding)
                known = {"row": reason.what, "why": reason.text, "what_to_do": reason.remedy} if reason else {}
                why[model] = {"place": place, **asdict(finding), **known}
        return {**own, "equal": self.is_equal, "verdict": self.verdict(), "why": why}


def compare(
    old: Recording, new: Recording, again: Recording | None = None, sources: str | None = None, era: Era | None = None
) -> Comparison:
    """Compare two recordings of one script, the second one replayed from the first.

    Args:
        old: what was recorded first.
        new: what was recorded with `--replay` of the first.
        again: what the first stack recorded once more, with other sums; then both go on by themselves from the first
            weights, and what differs no more than two runs of the first stack is equal.
        sources: the script's sources, for the reasons.
        era: whose Keras the first run had; None if the recording says it.
    """
    noise = None if again is None else compare(old, again)
    names = [str(model.get("name") or number) for number, model in enumerate(old.models[: len(new.models)])]
    stacks = (str(old.facts.get("keras", "?")), str(new.facts.get("keras", "?")))
    machines = [list(each.facts.get("machine", [])) for each in (old, new)]
    found = Comparison(stacks, names, [], sources=sources, era=era or era_of(old), machines=machines)
    if len(old.models) != len(new.models):
        text = f"expected {len(old.models)} models that are trained, as recorded. Received: {len(new.models)}"
        found.findings.append((None, Finding("not compared", "models", None, text)))
    for sentence in _recorders_notes(old, new, names):
        found.findings.append((None, Finding("not compared", "recording", None, sentence)))
    makes_other_batches = reason_of(_OTHER_BATCHES, "", sources, found.era) is not None
    for number, pair in enumerate(zip(old.models, new.models, strict=False)):
        model = _Model(number, old, new, pair, noise)
        found.steps.append(model.steps)
        found.layers.append(model.layers)
        found.results.append({})
        third = again.models[number] if again is not None and number < len(again.models) else None
        found.curves.append(curve(*pair, third))
        found.known.append(known_of(*pair, *_known_of_batches(old, number)))
        if model.is_comparable:
            model.follow(found.curves[-1], makes_other_batches)
            of_noise = None
            if noise is not None and number < len(noise.results):  # means of losses are no closer than the losses
                least = found.curves[-1].rounding
                kinds = ("evaluate", "predict", "history")
                own = noise.results[number]
                of_noise = {kind: max(own.get(kind, 0.0), least) for kind in kinds}
                unsure = [f"{kind} by {percent(own[kind])}" for kind in kinds if own.get(kind, 0.0) > max(least, 0.01)]
                told = f"two runs of the original differ in {', '.join(unsure)}: smaller differences are not reported"
                found.notes += [(number, told)] * bool(unsure)
            results = Results(number, old, new, len(model.steps), model.counts, of_noise)
            model.findings += results.findings
            found.results[-1] = results.differences
            found.notes += [(number, note) for note in [*model.notes, *results.notes]]
        found.findings += [(number, finding) for finding in model.findings]
    return found


def _known_of_batches(recording: Recording, number: int) -> Iterator[str]:
    """Say what the batches of a model show."""

    def of(kind: str) -> list[list[Array]]:
        wanted = re.compile(rf"model{number}/step\d+/{kind}")
        return [arrays for name, arrays in recording.arrays.items() if wanted.fullmatch(name)]

    if any(bool((each == 0).any()) for arrays in of("w") for each in arrays):
        yield ZERO_WEIGHTS
    sizes = [len(arrays[0]) for arrays in of("x") if arrays and arrays[0].ndim]
    if len(set(sizes)) > 1 or len(sizes) < len(recording.models[number].get("batches", [])):  # or they are not known
        yield SMALL_BATCH


# What a recorder says of arrays that it has no room for.
_TOO_LARGE = re.compile(r"model(\d+)/(?:step(\d+)/)?(\w+): not written, \d+ bytes are more than --max-mb still allows")


def _recorders_notes(old: Recording, new: Recording, names: list[str]) -> list[str]:
    """Return what the recorders could not write down: of arrays without room, one sentence for a model."""
    notes = list(dict.fromkeys(map(str, [*old.facts.get("notes", []), *new.facts.get("notes", [])])))
    too_large: dict[int, list[tuple[str, str]]] = {}
    for found in map(_TOO_LARGE.fullmatch, notes):
        if found is not None:
            too_large.setdefault(int(found[1]), []).append((found[3], found[2]))
    sentences = [note for note in notes if not _TOO_LARGE.fullmatch(note)]
    for model, arrays in too_large.items():
        kinds, steps = (sorted({each[part] for each in arrays if each[part]}) for part in (0, 1))
        name = names[model] if model < len(names) else str(model)
        of_steps = f" in {len(steps)} steps" if steps else ""  # the weights at the start are of none
        sentences.append(f"{', '.join(kinds)} of model {name}{of_steps}: too large to be recorded")
    return sentences


_ERAS = {
    **{f"keras {version}": Era.KERAS_2_2_4 for version in ("1.", "2.0", "2.1", "2.2")},
    "keras 2.3": Era.KERAS_2_3,
    "tf.keras 1.": Era.TF_KERAS_1_15,
    **{f"tf.keras 2.{minor}.": Era.TF_KERAS_2_2 for minor in range(4)},
}


def era_of(recording: Recording) -> Era | None:
    """Return the era of the Keras that a recording was made with; None if it is none of them."""
    stack = str(recording.facts.get("keras", ""))
    return next((era for start, era in _ERAS.items() if stack.startswith(start)), None)


_OTHER_BATCHES = Finding("batches", "own", None, "its own batches differ; the original's were used instead")


class _Model:
    def __init__(
        self,
        number: int,
        old: Recording,
        new: Recording,
        facts: tuple[dict[str, Any], dict[str, Any]],
        noise: Comparison | None,
    ) -> None:
        self._number = number
        self._noise = noise.steps[number] if noise is not None and number < len(noise.steps) else []
        self._goes_on = noise is not None
        self._recordings, self._facts = (old, new), facts
        self.notes: list[str] = []
        self.layers: list[Layer] = []
        self.steps: list[Step] = []
        self.findings: list[Finding] = []
        self._classes = _classes_of(facts[0])
        self._of_weight = [layer["name"] for layer in facts[0]["layers"] for _ in layer["weights"]]
        self._rounding: dict[int, Array] = {}  # by weight, elements whose gradients were rounding alone so far
        self.counts = Counts.of(each for step in range(len(facts[0]["steps"])) for each in self._outputs_of(step))
        steps = range(len(facts[0]["steps"]))  # in one step the samples' parts may cancel
        self._largest_gradient = max((_largest(self._gradients_by_weight(step).values()) for step in steps), default=0)
        self._compare()

    def _outputs_of(self, step: int) -> list[Array]:
        return self._recordings[0].arrays.get(f"model{self._number}/step{step}/outputs", [])

    @property
    def is_comparable(self) -> bool:
        """Whether the second recording began with the first one's weights."""
        return self._facts[1].get("weights_put_in") is True

    def _compare(self) -> None:
        old, new = self._facts
        if not self.is_comparable:
            text = f"the recorded weights could not be set: {new.get('weights_put_in', 'no reason is given')}"
            self.findings.append(Finding("weights", "initial", None, text))
            return
        if old["random_layers"]:
            names = ", ".join(old["random_layers"][:5])
            text = f"layers that draw random numbers ({names}). Record with --no-dropout to take them out on both sides"
            self.findings.append(Finding("not compared", "random layers", None, text))
        if len(old["steps"]) != len(new["steps"]):
            text = f"expected {len(old['steps'])} steps, as recorded. Received: {len(new['steps'])}"
            self.findings.append(Finding("not compared", "steps", None, text))
        for number in range(min(len(old["steps"]), len(new["steps"]))):
            self.steps.append(Step())
            self._step(number)

    def follow(self, curve: Curve, makes_other_batches: bool) -> None:
        """Judge the batches and losses of all steps, where both went on by themselves.

        Args:
            makes_other_batches: whether the script is known to make other batches on Keras 3.
        """
        if not self._goes_on:
            return
        self.notes += curve.notes()
        if curve.fed and makes_other_batches:
            self.findings.append(_OTHER_BATCHES)
        if curve.other_batch is not None:
            text = f"from step {curve.other_batch} on the batches differ, and could not be replaced"
            self.findings.append(Finding("data", "batches", None, text))
        elif curve.differs_from is not None and not self._facts[0]["random_layers"]:
            step = curve.differs_from
            text = f"the loss differs from step {step} on: {curve.at(step)}"
            self.findings.append(Finding("curve", "loss", curve.distance(step), text, str(self._facts[0].get("loss"))))

    def _step(self, number: int) -> None:
        findings = self.steps[number].findings
        findings += [] if self._goes_on else self._data(number)  # `follow` tells of the batches of all steps
        for at, kind, recorded, own in self._facts[1].get("not_fed", []):
            if at == number:
                text = f"{_NAMES[kind]}: recorded in the shapes {recorded}, here {own or 'none'}"
                findings.append(Finding("not compared", kind, None, text))
                return
        if not self._facts[0]["random_layers"]:
            self._layers(number)
            self._outputs(number)
            self._logs(number, loss=True)
            self._gradients(number)
            self._weights(number)
            self._state(number)
            self._logs(number, loss=False)

    def _judge(
        self, number: int, kind: str, what: str, difference: float, text: str, name: str = "", least: float = TOLERANCE
    ) -> bool:
        """Keep by how much something differs, and return whether that is more than rounding; then add a finding."""
        step = self.steps[number]
        known = step.differences.get(kind, 0.0)
        step.differences[kind] = max(known, difference if difference < 1e9 else 1e9)
        if difference <= self._tolerance(number, kind, least):
            return False
        if kind not in _ONCE or not any(each.kind == kind for each in step.findings):
            step.findings.append(Finding(kind, what, difference, text, name))
        return True

    def _tolerance(self, number: int, kind: str, least: float = TOLERANCE) -> float:
        noise = max((each.differences.get(kind, 0.0) for each in self._noise[: number + 1]), default=0.0)
        return tolerance(noise, least)

    def _other(self, number: int, kind: str, what: str, text: str, name: str = "") -> None:
        """Add a finding of what has no difference to compute."""
        self.steps[number].findings.append(Finding(kind, what, None, text, name))

    def _pair(self, number: int, name: str) -> tuple[list[Array], list[Array]] | None:
        section = f"model{self._number}/step{number}/{name}"
        old, new = (each.arrays.get(section) for each in self._recordings)
        return None if old is None or new is None else (old, new)

    def _data(self, number: int) -> Iterator[Finding]:
        for kind, name in _NAMES.items():
            for index, (old, new) in enumerate(zip(*self._pair(number, kind) or ((), ()), strict=False)):
                if old.size != new.size or not old.size:
                    continue
                difference = relative_difference(old, new.reshape(old.shape))
                if difference <= TOLERANCE:
                    continue
                same = _samples_in_both(old, new.reshape(old.shape))
                text = (
                    f"the same samples in another order ({same} of {len(old)})"
                    if same == len(old)
                    else f"other samples: {same} of {len(old)} are the same"
                )
                yield Finding("data", f"{name} {index}", difference, f"{name} {index}: {text}")

    def _layers(self, number: int) -> None:
        old, new = (facts["steps"][number].get("layer_names", []) for facts in self._facts)
        rows = list(zip(old, new, *self._pair(number, "layers") or ((), ()), strict=False))
        if len(old) != len(new) or any(a.shape != b.shape for _, _, a, b in rows):
            return  # the layers are others; their end is compared
        before = False
        for name, here, a, b in rows:
            difference = relative_difference(a, b)
            called, kind = name if name == here else f"{name} ({here} here)", self._classes.get(name, "")
            differs = difference > self._tolerance(number, "layer")
            state = "equal" if not differs else "follows" if before else "differs"
            self.layers.append(Layer(called, kind, difference, state))
            if not before:
                text = f"the output of layer {called} differs by {part(difference)}"
                before = self._judge(number, "layer", name, difference, text, kind)

    def _outputs(self, number: int) -> None:
        for index, (old, new) in enumerate(zip(*self._pair(number, "outputs") or ((), ()), strict=False)):
            if old.shape != new.shape:
                text = f"output {index} has the shape {list(old.shape)}, here {list(new.shape)}"
                self._other(number, "output", str(index), text)
                continue
            difference = relative_difference(old, new)
            text = f"output {index} in training differs by {part(difference)}"
            self._judge(number, "output", str(index), difference, text)

    def _logs(self, number: int, loss: bool) -> None:
        steps = (facts["steps"][number] for facts in self._facts)
        old, new = (dict(zip(_numbered(each["names"]), each["logs"], strict=True)) for each in steps)
        here = {log_today(name): value for name, value in new.items()}
        pairs = [(name, value, here[log_today(name)]) for name, value in old.items() if log_today(name) in here]
        alone = [name for name in old if log_today(name) not in here]
        others = [name for name in new if log_today(name) not in set(map(log_today, old))]
        if [_is_loss(name) for name in alone] == [_is_loss(name) for name in others]:
            pairs += [(name, old[name], new[other]) for name, other in zip(alone, others, strict=True)]
        elif not loss:
            missing = sorted(alone + others)
            self._other(number, "metric", missing[0], f"only one side has {', '.join(missing)}")
        for name, a, b in pairs:
            if _is_loss(name) is loss:
                difference = distance(a, b)
                text = f"{name}: {a:.8g} was recorded, here it is {b:.8g} ({part(difference)})"
                function = str(self._facts[0].get("loss")) if loss else name
                samples = 0 if loss else max(map(len, self._outputs_of(number)), default=0)
                can_flip = self.counts.tolerance(name, samples, self._tolerance(number, "output"))
                least = max(TOLERANCE, can_flip / max(abs(a), 1e-6))
                self._judge(number, "loss" if loss else "metric", name, difference, text, function, least)

    def _gradients_by_weight(self, number: int, side: int = 0) -> dict[int, Array]:
        facts = self._facts[side]
        step = facts["steps"][number]  # a script may freeze layers between two steps; an old recording tells the last
        trainable, of = step.get("trainable", facts.get("trainable", [])), step.get("gradient_of", [])
        arrays = (self._pair(number, "gradients") or ((), ()))[side]
        return {trainable[k]: array for k, array in zip(of, arrays, strict=False) if k < len(trainable)}

    def _gradients(self, number: int) -> None:
        old, new = (self._gradients_by_weight(number, side) for side in (0, 1))
        largest = _largest(old.values())
        for place, array in old.items():
            noise = np.abs(array) <= NOISE * largest
            self._rounding[place] = self._rounding[place] | noise if place in self._rounding else noise
        config = compiled(self._facts[0], number).get("optimizer_config")
        if isinstance(config, dict) and any(config.get(name) for name in ("clipnorm", "clipvalue")):
            return  # Keras 2 has them after clipping
        for place in sorted(old.keys() & new.keys()):
            if old[place].shape != new[place].shape:
                continue
            difference = _largest([old[place].astype("float64") - new[place]]) / max(self._largest_gradient, 1e-30)
            name = self._layer(place)
            text = f"the gradient of a weight of layer {name} differs by {part(difference)}"
            self._judge(number, "gradient", name, difference, text, self._classes.get(name, ""))

    def _rounding_alone(self, place: int, shape: tuple[int, ...]) -> Array:
        known = self._rounding.get(place)
        return known if known is not None and known.shape == shape else np.zeros(shape, bool)

    def _weights(self, number: int) -> None:
        before = [self._before(number, each) for each in self._recordings]
        gradients = self._gradients_by_weight(number)
        after = self._pair(number, "weights") or ((), ())
        for place, (start, start_here, old, new) in enumerate(zip(*before, *after, strict=False)):
            if len({start.shape, start_here.shape, old.shape, new.shape}) > 1:
                continue
            if np.array_equal(start, old) and np.array_equal(start_here, new):
                continue  # what this step does not train, as a frozen critic
            rounding = 4 * EPSILON * np.abs(old)  # of the weight itself, which is not the step's
            error = np.abs(old.astype("float64") - new)
            noise = self._rounding_alone(place, old.shape) & (error > rounding)
            self.steps[number].left_out += int(noise.sum())
            error = np.where(noise, 0.0, error)
            moved = _largest([old.astype("float64") - start])
            difference = _largest([np.maximum(error - rounding, 0.0)]) / max(moved, 1e-30)
            if not moved and not difference:
                continue
            difference = min(difference, 1e9)
            name = self._layer(place)
            text = f"a weight of layer {name} after the step differs by {percent(difference)} of the step's move"
            if not moved:
                text = f"the step changes a weight of layer {name}, which the original's step did not"
            kind = "" if moved else "frozen "
            kind += self._classes.get(name, "")
            kind = f"{compiled(self._facts[0], number).get('optimizer')} of {kind}" if place in gradients else kind
            self._judge(number, "step", name, difference, text, kind, 50 * TOLERANCE)

    def _before(self, number: int, recording: Recording) -> list[Array]:
        """Return the weights that a step began with."""
        names = [f"step{number}/before", f"step{number - 1}/weights" if number else "initial"]
        sections = [recording.arrays.get(f"model{self._number}/{name}") for name in names]
        return next((section for section in sections if section is not None), [])

    def _state(self, number: int) -> None:
        pair = self._pair(number, "state")
        if pair is None:
            return
        facts = compiled(self._facts[0], number), compiled(self._facts[1], number)
        optimizer = str(facts[0].get("optimizer"))
        old, new = (state(each, arrays) for each, arrays in zip(facts, pair, strict=True))
        if old is None or new is None:
            note = f"the state of the optimizer {optimizer} was not compared: the order of its arrays is not known"
            self.notes += [note] if note not in self.notes else []
            return
        if old.steps is not None and new.steps is not None and old.steps != new.steps:
            text = f"the optimizer had made {old.steps} steps, here {new.steps}"
            self._other(number, "state", "steps", text, optimizer)
        places, here = (facts["trainable"] for facts in self._facts)
        if len(places) != len(here):
            text = f"the optimizer trains {len(places)} weights, here {len(here)}"
            self._other(number, "state", "weights", text, optimizer)
            return
        # Keras 1 sorted the weights that train by their names.
        order = list(map(here.index, places)) if sorted(here) == sorted(set(places)) else range(len(places))
        for kind in old.kinds.keys() & new.kinds.keys():
            largest = max(_largest(old.kinds[kind]), 1e-30)
            for place, a, number_here in zip(places, old.kinds[kind], order, strict=True):
                b = new.kinds[kind][number_here]
                what = f"the optimizer's {kind} of layer {self._layer(place)}"
                if a.shape != b.shape:
                    self._other(number, "state", kind, f"{what} has the shape {a.shape}, here {b.shape}", optimizer)
                    return
                error = np.where(self._rounding_alone(place, a.shape), 0.0, a.astype("float64") - b)
                difference = _largest([error]) / largest
                text = f"{what} differs by {part(difference)}"
                self._judge(number, "state", kind, difference, text, optimizer, 50 * TOLERANCE)

    def _layer(self, place: int) -> str:
        return self._of_weight[place] if 0 <= place < len(self._of_weight) else "?"


def _largest(arrays: Iterable[Array]) -> float:
    """Return the largest absolute value of some arrays."""
    return max((float(np.abs(each).max(initial=0.0)) for each in arrays), default=0.0)


def _is_loss(log: str) -> bool:
    return log == "loss" or log.rstrip("*").endswith("_loss")


def _numbered(names: list[str]) -> list[str]:
    """Let the names of outputs of one layer that is called several times differ."""
    return [name + "*" * names[:place].count(name) for place, name in enumerate(names)]


def _classes_of(facts: dict[str, Any]) -> dict[str, str]:
    """Return the classes of a model's layers by name, also of those without weights, which its configuration has."""
    found = {}
    left: list[Any] = (
        [parse(facts["config"], "a model's configuration")] if isinstance(facts.get("config"), str) else []
    )
    while left:
        value = left.pop()
        if isinstance(value, dict):
            config = value.get("config")
            if isinstance(config, dict) and isinstance(value.get("class_name"), str):
                found[str(config.get("name"))] = value["class_name"]
            left += value.values()
        elif isinstance(value, list):
            left += value
    return {**found, **{layer["name"]: layer["class"] for layer in facts["layers"]}}


_ONCE = ("gradient", "step", "state")  # told once a step: many weights differ by one cause
_NAMES = {"x": "input", "y": "target", "w": "sample weights"}


def _samples_in_both(old: Array, new: Array) -> int:
    """Return how many samples of one batch are in the other as well."""
    if not old.shape:
        return 0
    other = [row.astype("float32").tobytes() for row in new]
    found = 0
    for row in old:
        data = row.astype("float32").tobytes()
        if data in other:
            other.remove(data)
            found += 1
    return found
