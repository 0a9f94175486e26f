"""A script recorded in old environments computes the same here; what does not is named, with its place and reason.

The recordings in `tests/data/recordings` were made by `record_keras.py --steps 2 script.py` on Keras 2.2.4 and tf.keras
of TensorFlow 1.15.5 (Python 3.7), and tf.keras of TensorFlow 2.2.3 (Python 3.8); those named `kinds.` in the same way
of `kinds/every.py`, there and in the environments of `ENVIRONMENTS`; `known_differences.h5` on Keras 2.2.4;
`keras-1.2.2.h5` on TensorFlow 1.8 and Python 2.7.
"""

from __future__ import annotations

import ast
import base64
import dataclasses
import functools
import html.parser
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import types
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest
import scipy.sparse
import tensorflow as tf

from parallel_compat.command import main
from parallel_compat.compare import optimizer_states, recorder_command
from parallel_compat.compare.compare_command import summary
from parallel_compat.compare.comparison import compare
from parallel_compat.compare.counts import Counts
from parallel_compat.compare.page import page
from parallel_compat.compare.reasons import reason_of
from parallel_compat.compare.recorder.hooks import entered
from parallel_compat.compare.recorder.models import counted, names_of
from parallel_compat.compare.recorder.steps import EagerStep, Gradients, GraphStep, each_log
from parallel_compat.compare.recorder.values import around, array_of, like
from parallel_compat.compare.recordings import read_recording
from parallel_compat.recover.errors import CheckpointError
from tests import scripts

DATA = Path(__file__).parents[1] / "data" / "recordings"
ERAS = ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"]


@pytest.mark.slow
def test_a_script_of_keras_1(tmp_path, run_compare):
    """Recorded by Keras 1.2.2 on TensorFlow 1.8 and Python 2.7."""
    found, told = compared(run_compare, tmp_path, DATA / "keras-1.2.2.h5", DATA / "keras_1.py")
    assert found.returncode == 0, found.stdout + found.stderr[-3000:]
    assert [len(steps) for steps in told["steps"]] == [2, 1]
    assert all("state" in step["differences"] for steps in told["steps"] for step in steps)
    assert [set(results) for results in told["results"]] == [{"predict", "history"}, {"evaluate"}]


# The scripts of every kind, below, are compared in all eras.
@pytest.mark.parametrize("era", [ERAS[0], *(pytest.param(era, marks=pytest.mark.slow) for era in ERAS[1:])])
def test_a_script_computes_what_it_did(era, tmp_path, run_compare):
    library = "keras" if era == "keras-2.2.4" else "tensorflow.keras"
    out = tmp_path / "out.json"
    options = ["--era", era, "--json", out, "--report", tmp_path / "out.html"]
    found = run_compare(*options, DATA / f"{era}.h5", DATA / "script.py", KERAS=library)
    assert found.returncode == 0, found.stdout + found.stderr[-3000:]
    assert found.stdout.splitlines()[-1].startswith("equal: ")
    told = json.loads(out.read_text())
    assert [len(steps) for steps in told["steps"]] == [2, 2, 2, 2]  # a generator, text, critic and both of a GAN
    for steps in told["steps"]:
        for step in steps:
            assert {"output", "loss", "step", "state"} <= set(step["differences"])
            assert max(step["differences"].values()) < 1e-3
    assert set(told["results"][1]) == {"history", "evaluate", "predict"}  # of the model of text
    assert ["1 of 2 epochs" in note for _, note in told["notes"]].count(True) == 1
    assert "equal" in (tmp_path / "out.html").read_text()


@pytest.mark.slow
def test_migrated_code_differs_where_the_guide_says_so(tmp_path, run_compare):
    """`--plain`: Keras 3 as it is, in place of `run`. Each model's first difference has its reason."""
    script = tmp_path / "train.py"
    script.write_text((DATA / "script.py").read_text())
    assert main(["migrate", "--write", "--unsafe", str(script)]) == 0
    found, told = compared(run_compare, tmp_path, "--plain", DATA / "keras-2.2.4.h5", script, KERAS="keras")
    assert found.returncode == 1, found.stdout + found.stderr[-3000:]
    # The critic, whose weights `migrate` lets `compile` settle, computes what it did.
    generator, text, critic, painter = told["steps"]
    assert not any(step["findings"] for step in critic)
    first = [next(each for step in steps for each in step["findings"]) for steps in (generator, text, painter)]
    assert [each["kind"] for each in first] == ["step"] * 3
    rows = [told["why"][number]["row"] for number in ("0", "1", "3")]
    assert [row.split(",")[0] for row in rows] == [
        "`RMSprop`",
        "a row of an `Embedding` that a batch looks up more than once",
        "`BatchNormalization`",
    ]


@pytest.fixture
def recording():
    return read_recording(DATA / "keras-2.2.4.h5")


def replayed(recording, section=None, change=None, **facts):
    """A recording as a replay would write it; one array of it changed."""
    arrays = {name: list(found) for name, found in recording.arrays.items()}
    if section is not None:
        arrays[section] = change(arrays[section])
    models = [{**model, "weights_put_in": True, **facts} for model in recording.models]
    return dataclasses.replace(recording, arrays=arrays, facts={**recording.facts, "models": models})


def scaled(factor, place=0):
    return lambda arrays: [array * factor if i == place else array for i, array in enumerate(arrays)]


def test_nothing_differs_from_itself(recording):
    found = compare(recording, replayed(recording))
    assert found.is_equal
    assert found.first() is None


@pytest.mark.parametrize(
    ("section", "change", "kind", "what"),
    [
        ("model0/step0/x", lambda arrays: [arrays[0][::-1]], "data", "input 0"),
        ("model0/step1/layers", None, None, None),  # layers are recorded in the first step
        ("model0/step0/layers", scaled(1.0001), "layer", "dense_1"),
        ("model0/step1/outputs", scaled(1.0001, 1), "output", "1"),
        ("model0/step1/gradients", scaled(1.001), "gradient", "dense_1"),
        ("model1/step1/weights", scaled(1.001, 1), "step", "lstm_1"),
        ("model1/step1/state", scaled(2, 5), "state", "m"),
        ("model1/step0/state", scaled(2), "state", "steps"),
        ("model1/step0/state", scaled(1.1, 12), "state", "v"),
        ("model1/predict0", scaled(1.0001), "predict", "0"),
    ],
)
def test_the_first_difference_is_named(recording, section, change, kind, what):
    if change is None:
        assert section not in recording.arrays
        return
    found = compare(recording, replayed(recording, section, change))
    place, finding = found.first()
    assert (finding.kind, finding.what) == (kind, what)
    assert place.endswith("sequential_1" if kind == "predict" else f"step {section[11]}")


def test_the_order_of_samples_is_told_from_other_samples(recording):
    other = replayed(recording, "model0/step0/x", lambda arrays: [arrays[0] + 1])
    assert "0 of 8 are the same" in compare(recording, other).first()[1].text
    reversed_ = replayed(recording, "model0/step0/x", lambda arrays: [arrays[0][::-1]])
    finding = compare(recording, reversed_).first()[1]
    assert "another order (8 of 8)" in finding.text
    assert "np.random" in reason_of(finding).text


def test_a_loss_and_a_metric_that_differ(recording):
    models = json.loads(json.dumps(recording.models))
    for model in models:
        model["weights_put_in"] = True
    models[1]["steps"][0]["logs"][0] *= 1.001
    models[1]["steps"][1]["logs"][1] += 0.1
    other = dataclasses.replace(recording, facts={**recording.facts, "models": models})
    found = compare(recording, other)
    place, finding = found.first()
    assert (place, finding.kind, finding.what) == ("model sequential_1, step 0", "loss", "loss")
    assert "logits" in found.reason(1, finding).text
    assert [each.kind for each in found.steps[1][1].findings] == ["metric"]


def test_logs_are_compared_by_name(recording):
    """Keras 3 has them in another order, and by other names."""
    models = json.loads(json.dumps(replayed(recording).models))
    step = models[0]["steps"][0]
    assert step["names"] == ["loss", "kind_loss", "size_loss", "kind_acc", "size_mean_absolute_error"]
    order = [0, 3, 1, 4, 2]
    step["logs"] = [step["logs"][place] for place in order]
    step["names"] = ["loss", "kind_accuracy", "kind_loss", "size_mae", "size_loss"]
    other = dataclasses.replace(recording, facts={**recording.facts, "models": models})
    assert compare(recording, other).steps[0][0].findings == []
    step["names"][3] = "size_error"  # a name that no table has: what is left is the same in order
    assert compare(recording, other).steps[0][0].findings == []
    step["names"][3] = "size_error_loss"
    assert "only one side has" in compare(recording, other).steps[0][0].findings[0].text


def test_data_that_are_drawn_anew_are_no_difference(recording):
    """A generator's data have no sums to compare; where the batches of the training differ, they do, too."""
    own = [{**each, "data": None} for each in recording.models[1]["evaluate"]]
    other = [{**each, "values": [2 * value for value in each["values"]]} for each in own]
    old = replayed(recording, evaluate=own)
    assert {each.kind for _, each in compare(old, replayed(recording, evaluate=other)).findings} == {"evaluate"}
    assert {each.kind for _, each in compare(old, replayed(recording, evaluate=other, fed=[0])).findings} == {
        "not compared"
    }


def test_what_evaluate_and_fit_returned(recording):
    def changed(**texts):
        models = json.loads(json.dumps(replayed(recording).models))
        for kind, change in texts.items():
            change(models[1][kind])
        return compare(recording, dataclasses.replace(recording, facts={**recording.facts, "models": models}))

    def first_epoch(epochs):
        epochs[0]["logs"]["val_loss"] += 0.001

    def second_epoch(epochs):  # of its own batches
        epochs[1]["logs"]["val_loss"] += 0.001

    def value(calls):
        calls[0]["values"][1] += 0.001

    def data(calls):
        calls[0]["data"][0][0] += 1

    found = changed(history=first_epoch)
    assert [(each.kind, each.what) for _, each in found.findings] == [("history", "val_loss")]
    assert found.first()[0] == "model sequential_1"
    found = changed(history=second_epoch)
    assert found.is_equal
    assert [note for model, note in found.notes if model == 1 and "1 of 2 epochs" in note]
    found = changed(evaluate=value)
    assert [(each.kind, each.what) for _, each in found.findings] == [("evaluate", "acc")]
    found = changed(evaluate=data, predict=data)
    assert [(each.kind, each.what) for _, each in found.findings] == [("data", "evaluate"), ("data", "predict")]
    assert [each.text for _, each in changed(predict=list.clear).findings] == [
        "expected 1 calls of predict, as recorded. Received: 0"
    ]


@pytest.mark.parametrize(("noise", "flips", "equal"), [(2e-4, 3, True), (2e-4, 90, False), (0.0, 3, False)])
def test_an_accuracy_is_judged_by_the_samples_that_rounding_can_flip(recording, noise, flips, equal):
    """Of 1,040 samples, where the losses of two runs of the original differ by `noise`."""

    def other(loss, acc):
        models = json.loads(json.dumps(replayed(recording).models))
        models[1]["history"] = [{**models[1]["history"][0], "steps": 52}]
        models[1]["history"][0]["logs"]["acc"] += acc
        for step in models[1]["steps"]:
            step["logs"][0] *= 1 + loss
        spread = [np.linspace(0, 1, 20)[:, None]]
        arrays = {**recording.arrays, "model1/step0/outputs": spread, "model1/step1/outputs": spread}
        return dataclasses.replace(recording, arrays=arrays, facts={**recording.facts, "models": models})

    found = compare(other(0.0, 0.0), other(0.0, flips / 1040), other(noise, 0.0))
    assert [(each.kind, each.what) for _, each in found.findings] == ([] if equal else [("history", "acc")])


def test_what_two_runs_of_the_original_do_not_repeat_is_told(recording):
    again = replayed(recording)
    again.models[1]["history"] = json.loads(json.dumps(again.models[1]["history"]))
    again.models[1]["history"][0]["logs"]["loss"] *= 1.3
    found = compare(recording, replayed(recording), again)
    assert found.is_equal
    assert [note for model, note in found.notes if model == 1 and "two runs of the original differ in history" in note]


def test_a_metric_may_be_a_mean_of_terms_that_cancel():
    counts = Counts.of([np.linspace(-3, 3, 9)])
    assert abs(-0.013249596 + 0.013249939) < counts.tolerance("mean", 40, 0.0) < 1e-6
    assert counts.tolerance("val_loss", 40, 0.0) == 0
    assert Counts.of([np.full(9, 0.01)]).tolerance("mean", 40, 0.0) < 1e-8


def test_states_of_all_versions_have_one_form():
    m, v = [np.ones((2, 3)), np.ones(3)], [np.full((2, 3), 2.0), np.full(3, 2.0)]
    steps, zero = np.array(7), np.zeros(1)

    def state(optimizer, config, names, arrays, weights):
        facts = {"optimizer": optimizer, "optimizer_config": config, "state_names": names, "trainable": [0] * weights}
        return optimizer_states.state(facts, arrays)

    def equal(found, kinds, steps=7):
        assert found.steps == steps
        assert {kind: [array.tolist() for array in arrays] for kind, arrays in found.kinds.items()} == {
            kind: [array.tolist() for array in arrays] for kind, arrays in kinds.items()
        }

    adam = {"m": m, "v": v}
    equal(state("Adam", {}, [None] * 7, [steps, *m, *v, zero, zero], 2), adam)  # Keras 2.2.4
    equal(state("Adam", {}, [None] * 5, [np.array(7.0), *m, *v], 2), adam)  # Keras 1.2
    equal(state("Adam", {}, [None] * 5, [steps, *m, *v], 2), adam)  # tf.keras 2.2
    names = ["iteration", "learning_rate", *(f"Adam/{k}/dense/{w}" for w in ("kernel", "bias") for k in "mv")]
    equal(state("Adam", {}, names, [steps, np.array(0.1), m[0], v[0], m[1], v[1]], 2), adam)  # tf.keras 2.15
    names = ["iteration", "learning_rate", *(f"adam/{w}_{k}" for w in ("a", "b") for k in ("momentum", "velocity"))]
    equal(state("Adam", {}, names, [steps, np.array(0.1), m[0], v[0], m[1], v[1]], 2), adam)  # Keras 3
    equal(state("RMSprop", {}, [None] * 2, v, 2), {"velocity": v}, None)  # Keras 2.2.4
    centered = state("RMSprop", {"centered": True, "momentum": 0.0}, [None] * 5, [steps, *v, *m], 2)
    equal(centered, {"velocity": v, "centered": m})  # tf.keras
    equal(state("Nadam", {}, [None] * 6, [steps, np.array(0.9), *m, *v], 2), adam)  # tf.keras
    assert state("Own", {}, [None] * 2, v, 2) is None
    assert state("Adam", {}, [None] * 6, [steps, *m, *v, zero], 2) is None


def test_states_are_compared_weight_by_weight(recording):
    """Keras 1 lists the weights that train by name, Keras 3 as they were made."""
    facts = replayed(recording).models[1]
    weights = len(facts["trainable"])
    swapped = [*range(2, weights), 0, 1]
    other = replayed(recording, trainable=[facts["trainable"][place] for place in swapped])
    for step in ("step0", "step1"):
        steps, *memories = other.arrays[f"model1/{step}/state"]
        kinds = [memories[start : start + weights] for start in range(0, 2 * weights, weights)]
        other.arrays[f"model1/{step}/state"] = [
            steps, *(kind[place] for kind in kinds for place in swapped), *memories[2 * weights :]
        ]  # fmt: skip
    assert not [each for step in compare(recording, other).steps[1] for each in step.findings]
    fewer = replayed(recording, trainable=facts["trainable"][:-1], state_names=[None] * (2 * weights - 1))
    steps, *memories = fewer.arrays["model1/step0/state"]
    fewer.arrays["model1/step0/state"] = [steps, *memories[: weights - 1], *memories[weights : 2 * weights - 1]]
    findings = compare(recording, fewer).steps[1][0].findings
    assert f"{weights} weights, here {weights - 1}" in next(each.text for each in findings if each.kind == "state")


def test_weights_that_a_step_does_not_train_are_not_its_difference(recording):
    """The critic in a GAN goes on by itself on both sides; the painter's step leaves it alone."""
    before, after = (recording.arrays[f"model3/{name}"] for name in ("initial", "step0/weights"))
    frozen = [place for place, pair in enumerate(zip(before, after, strict=True)) if np.array_equal(*pair)]
    assert frozen
    off = replayed(recording)
    for name in ("initial", "step0/weights"):
        arrays = off.arrays[f"model3/{name}"]
        off.arrays[f"model3/{name}"] = [
            each * np.float32(1 + 1e-5 * (place in frozen)) for place, each in enumerate(arrays)
        ]
    assert not compare(recording, off).steps[3][0].findings


def test_layers_frozen_between_two_steps(recording):
    """Each step tells what it trains: gradients are not taken for those of other weights."""
    trainable, steps = recording.models[0]["trainable"], recording.models[0]["steps"]
    later = [{**steps[0], "trainable": trainable}, {**steps[1], "trainable": trainable[2:3], "gradient_of": [0]}]
    frozen = replayed(recording, "model0/step1/gradients", lambda arrays: arrays[2:3])
    frozen.models[0].update(steps=later, trainable=trainable[2:3])
    assert not compare(frozen, frozen).steps[0][1].findings


def test_weights_that_moved_by_chance_are_a_reason(recording):
    found = compare(recording, replayed(recording, "model1/predict0", scaled(1.001)))
    _, finding = found.first()
    assert found.reason(1, finding) is None
    found.steps[1][0].left_out = 1234
    assert "1,234 weights are only rounding" in found.reason(1, finding).text
    assert found.reason(None, finding) is None
    found = compare(recording, replayed(recording, "model0/step0/outputs", scaled(1.001)))
    (_, finding), found.steps[0][0].left_out = found.first(), 1234
    assert finding.kind == "output"
    assert found.reason(0, finding) is None  # no weight had moved before


def test_a_model_with_the_layers_of_one_that_differs(recording):
    """The combined model of a GAN begins with what the critic became."""
    new = replayed(recording, "model2/step0/outputs", scaled(1.001))
    new.arrays["model3/step0/outputs"] = scaled(1.001)(new.arrays["model3/step0/outputs"])
    found = compare(recording, new)
    finding = found.steps[3][0].findings[0]
    assert found.reason(3, finding).text.startswith(f"Model {found.models[2]}, which has layers of the same names")
    assert found.reason(2, found.steps[2][0].findings[0]) is None


def test_the_reason_is_looked_up_for_the_optimizer_of_the_step(recording):
    later = [{"at": 1, "optimizer": "Nadam", "optimizer_config": {}, "loss": "mse"}]
    for facts in recording.models:
        facts["compiled"] = later
    found = compare(recording, replayed(recording, "model1/step1/weights", scaled(1.001, 1)))
    _, finding = found.first()
    assert finding.kind == "step"
    assert found.reason(1, finding).what == "`Nadam`"
    found.curves[0].old, found.curves[0].new = [1.0, 1.0, 1.0], [1.0, 1.0, 2.0]
    assert found.reason(0, dataclasses.replace(finding, kind="curve")).what == "`Nadam`"


def test_outputs_of_one_name_are_compared_in_order(recording):
    """Those of a model that is called several times."""
    model = recording.models[2]
    for step in model["steps"]:
        step["names"], step["logs"] = ["loss", "m_loss", "m_loss"], [3.0, 1.0, 2.0]
    new = [{**step, "logs": [3.0, 1.5, 2.0]} for step in model["steps"]]
    steps = [model["steps"] if number == 2 else each["steps"] for number, each in enumerate(recording.models)]
    other = replayed(recording)
    for facts, own in zip(other.models, steps, strict=True):
        facts["steps"] = new if own is model["steps"] else own
    assert [each.what for each in compare(recording, other).steps[2][0].findings] == ["m_loss"]


def test_a_run_that_trained_fewer_models(recording):
    new = replayed(recording)
    fewer = dataclasses.replace(new, facts={**new.facts, "models": new.models[:1]})
    for pair in ((recording, fewer), (fewer, recording)):
        found = compare(*pair)
        assert len(found.models) == 1
        assert "models that are trained, as recorded. Received" in "\n".join(summary(found))
        assert "models that are trained" in page(found, "train.py")


def test_what_could_not_be_compared_is_no_success(recording):
    assert not compare(recording, replayed(recording, weights_put_in="other layers")).is_equal
    silent = compare(dataclasses.replace(recording, facts={**recording.facts, "notes": ["something"]}), recording)
    assert not silent.is_equal
    models = [{**model, "random_layers": ["dropout_1"]} for model in recording.models]
    random = dataclasses.replace(recording, facts={**recording.facts, "models": models})
    found = compare(random, replayed(recording))
    assert "--no-dropout" in found.findings[0][1].text
    fewer = [{**model, "steps": model["steps"][:1]} for model in replayed(recording).models]
    assert not compare(recording, dataclasses.replace(recording, facts={**recording.facts, "models": fewer})).is_equal


def test_the_page_holds_its_texts_and_no_code_of_others(recording):
    models = [{**model, "name": "<script>alert(1)</script>"} for model in recording.models]
    named = dataclasses.replace(recording, facts={**recording.facts, "models": models})
    text = page(compare(named, replayed(recording, "model0/step0/x", scaled(2))), "train.py")

    class Tags(html.parser.HTMLParser):
        seen: list[str] = []  # noqa: RUF012

        def handle_starttag(self, tag, attrs):
            self.seen.append(tag)
            assert not any(name in ("src", "href") for name, _ in attrs)

    parser = Tags()
    parser.feed(text)
    assert "script" not in parser.seen
    assert parser.seen.count("svg") == 4
    assert "first difference" in text
    other = page(compare(recording, replayed(recording, "model1/predict0", scaled(2))), "train.py")
    assert other.count("output 0 of predict 0 differs") == 2  # above, and with its model
    new = replayed(recording)
    halves = {name: [each / 2 for each in new.arrays[name]] for name in ("model0/step0/weights", "model1/predict0")}
    both = page(compare(recording, dataclasses.replace(new, arrays={**new.arrays, **halves})), "train.py")
    assert both.count("<p><b>Why:</b>") + both.count("<p>Why: not known") == 2  # of each model that differs


def test_the_recorder_is_one_file_that_old_pythons_read(capsys):
    assert main(["recorder"]) == 0
    printed = capsys.readouterr().out
    newer = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.Nonlocal, ast.YieldFrom, ast.AsyncFunctionDef, ast.Await)
    for node in ast.walk(ast.parse(printed)):
        assert not isinstance(node, newer), ast.dump(node)
        if isinstance(node, ast.arguments):
            assert not node.kwonlyargs
            assert not node.posonlyargs
        if isinstance(node, (ast.List, ast.Tuple)) and isinstance(node.ctx, ast.Load):
            assert not any(isinstance(each, ast.Starred) for each in node.elts)
        if isinstance(node, ast.Raise):
            assert node.cause is None
        if isinstance(node, ast.ClassDef):
            assert not node.keywords
    assert "parallel_compat.recover" not in printed
    imports = {line.split()[1] for line in printed.splitlines() if line.startswith(("import ", "from "))}
    assert imports <= {
        "__future__",
        "argparse",
        "functools",
        "json",
        "os",
        "random",
        "runpy",
        "sys",
        "types",
        "zlib",
        "numpy",
    }


def interpreter(version):
    """Return a Python of this machine, or None; a shim of pyenv may stand for a version that is not chosen."""
    for found in (shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")):
        if found and not subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
            return str(found)
    return None


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13"])
def test_the_recorder_compiles_on(version, tmp_path):
    """Where there is such a Python; the test above stands for those that there are not."""
    found = interpreter(version)
    if found is None:
        pytest.skip(f"there is no Python {version}")
    code = "import io, sys; compile(io.open(sys.argv[1], encoding='utf-8').read().encode('utf-8'), 'r.py', 'exec')"
    recorder = recorder_command.write(tmp_path)
    done = subprocess.run([found, "-c", code, str(recorder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class Watched:
    """Stands for a layer and for an optimizer."""

    def __call__(self, x, **keywords):
        return keywords

    def apply_gradients(self, grads_and_vars, name=None):
        return grads_and_vars, name


def test_what_is_watched_takes_arguments_of_any_name():
    """TensorFlow 2.15 calls a layer of an operation with its `name`."""
    recorder = types.SimpleNamespace(fitted=None, entered=1)
    around(Watched, "__call__", functools.partial(entered, recorder, None, "__call__"))
    keywords = {"name": 1, "model": 2, "module": 3, "recorder": 4, "original": 5, "given": 6, "keywords": 7}
    assert Watched()(0, **keywords) == keywords
    Gradients().watch(Watched())
    assert Watched().apply_gradients(grads_and_vars=iter([(None, 1)]), name="n") == ([(None, 1)], "n")


def test_the_validation_in_fit_is_no_call_of_the_script(tmp_path):
    """A parallel model's `evaluate`, which `fit` calls, calls that of Keras."""
    written = runpy.run_path(str(recorder_command.write(tmp_path)))  # frames are told by its one file

    class Model:
        def evaluate(self):
            return 1

    class Parallel(Model):
        def evaluate(self):
            return super().evaluate()

    def fit(model):
        return model.evaluate()

    model, calls = Parallel(), []
    kept = types.SimpleNamespace(call=lambda kind, data, compute: calls.append(kind) or compute())
    recorder = types.SimpleNamespace(models={id(model): kept}, calling=False)
    for kind in (Model, Parallel):
        written["around"](kind, "evaluate", functools.partial(written["called"], recorder, None, "evaluate"))
    assert fit(model) == 1
    assert calls == []
    assert model.evaluate() == 1
    assert calls == ["evaluate"]


def test_the_recorder_knows_models_without_metrics():
    """Those of Keras 1 have None."""
    assert counted(types.SimpleNamespace(metrics=None)) == {}


@pytest.mark.slow
def test_the_printed_recorder_records_under_run(tmp_path):
    """What it imports is imported on the script's behalf, wherever the file lies."""
    recorder_command.write(tmp_path)
    (tmp_path / "train.py").write_text(
        "import numpy as np\nimport tensorflow as tf\nfrom keras.layers import Dense\n"
        "from keras.models import Sequential\ntf.set_random_seed(1)\n"
        "model = Sequential([Dense(output_dim=1, input_dim=2)])\nmodel.compile('sgd', 'mse')\n"
        "model.fit(np.ones((4, 2)), np.ones((4, 1)), nb_epoch=1, verbose=0)\n"
    )
    options = ("--quiet", "--era", "keras-2.2.4", "record_keras.py", "--out", "r.h5", "train.py")
    done = scripts.run(*options, folder=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(read_recording(tmp_path / "r.h5").models) == 1


def test_the_recorder_leaves_the_script_alone(tmp_path):
    """Arguments, exit code and folder of the script are its own; without a training nothing is written."""
    script = tmp_path / "other" / "train.py"
    script.parent.mkdir()
    script.write_text("import sys\nimport beside\nprint(sys.argv, __name__)\nsys.exit(3)\n")
    (script.parent / "beside.py").write_text("")
    recorder = recorder_command.write(tmp_path)
    command = [sys.executable, str(recorder), "--out", "r.h5", str(script), "--epochs", "3"]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert found.returncode == 3
    assert found.stdout == f"{[str(script), '--epochs', '3']} __main__\n"
    assert not (tmp_path / "r.h5").exists()


def test_inspect_shows_a_recording(capsys):
    assert main(["inspect", str(DATA / "keras-2.2.4.h5")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "holds the recording of a training written by keras 2.2.4 parameters" in told
    assert "parallel-compat compare" in told


@pytest.mark.parametrize("damage", ["no facts", "form", "version", "other file", "virtual"])
def test_recordings_that_are_none(damage, tmp_path):
    path = tmp_path / "r.h5"
    path.write_bytes((DATA / "keras-2.2.4.h5").read_bytes())
    with h5py.File(path, "r+") as file:
        if damage == "no facts":
            del file["arrays/json"]
        elif damage == "other file":
            file.attrs["backend"] = b"tensorflow"
        elif damage == "virtual":
            del file["arrays/float32"]
            layout = h5py.VirtualLayout(shape=(6, 8), dtype="f4")
            layout[:] = h5py.VirtualSource("/etc/passwd", "x", shape=(6, 8))
            file["arrays"].create_virtual_dataset("float32", layout)
        else:
            facts = json.loads(file["arrays/json"][()].tobytes())
            if damage == "form":
                facts["models"][0]["steps"] = [{"names": ["loss"], "logs": ["x"]}]
            else:
                facts["version"] = 99
            del file["arrays/json"]
            file["arrays/json"] = np.frombuffer(json.dumps(facts).encode(), "uint8")
    with pytest.raises(CheckpointError):
        read_recording(path)
    assert main(["compare", str(path), str(DATA / "script.py")]) == 2


def test_arrays_are_read_as_they_were_written(recording):
    with h5py.File(DATA / "keras-2.2.4.h5") as file:
        numbers = file["arrays/float32"][()]
    of_type = [each for arrays in recording.arrays.values() for each in arrays if each.dtype == np.float32]
    np.testing.assert_array_equal(np.concatenate([each.ravel() for each in of_type]), numbers)
    model = recording.models[1]
    of_layers = zip(model["layers"], (1, 3, 2), strict=True)  # Embedding, LSTM, Dense
    assert [(len(layer["weights"]), layer["class"]) for layer, _ in of_layers] == [
        (1, "Embedding"),
        (3, "LSTM"),
        (2, "Dense"),
    ]
    assert [array.shape for array in recording.arrays["model1/initial"]][:2] == [(20, 5), (5, 24)]


@pytest.mark.parametrize(
    "damage", ["huge shape", "negative shape", "more numbers", "torn", "bomb", "text", "no section"]
)
def test_hostile_recordings_are_refused_within_the_limits(damage, tmp_path):
    path = tmp_path / "r.h5"
    data = (DATA / "keras-2.2.4.h5").read_bytes()
    path.write_bytes(data[: len(data) // 2] if damage == "torn" else data)
    if damage == "text":
        path.write_text("import os")
    elif damage != "torn":
        with h5py.File(path, "r+") as file:
            facts = json.loads(file["arrays/json"][()].tobytes())
            shape = facts["sections"][0][1][0][1]
            if damage == "huge shape":
                shape[0] = 10**12
            elif damage == "negative shape":
                shape[0] = -1
            elif damage == "more numbers":
                facts["sections"] *= 2
            elif damage == "no section":
                del facts["sections"]
            else:  # four GiB of zeros in some MB
                del file["arrays/float32"]
                file.create_dataset("arrays/float32", (2**30,), "f4", chunks=(2**20,), compression="gzip")
                file["arrays/float32"][:1] = 1
            del file["arrays/json"]
            file["arrays/json"] = np.frombuffer(json.dumps(facts).encode(), "uint8")
    with pytest.raises(CheckpointError):
        read_recording(path)


# --- scripts of different kinds, in other environments, on other devices, migrated ------------------------------------

KINDS = DATA / "kinds" / "every.py"


def compared(run_compare, tmp_path, *arguments, **environment):
    out = tmp_path / "out.json"
    found = run_compare("--json", out, *arguments, **environment)
    assert out.exists(), found.stdout + found.stderr[-3000:]
    return found, json.loads(out.read_text())


def kinds_of_findings(told):
    """The kinds of what differs, for each model that does."""
    return {
        number: {finding["kind"] for step in steps for finding in step["findings"]}
        for number, steps in enumerate(told["steps"])
        if any(step["findings"] for step in steps)
    }


@pytest.mark.parametrize(
    ("stack", "era"),
    [
        pytest.param("tf.keras-2.2", "tf.keras-2.2", marks=pytest.mark.slow),
        pytest.param("tf.keras-2.1", "tf.keras-2.2", marks=pytest.mark.slow),
        pytest.param("tf.keras-1.15", "tf.keras-1.15", marks=pytest.mark.slow),
        pytest.param("keras-2.2.4", None, marks=pytest.mark.slow),
        pytest.param("keras-2.1.6", None, marks=pytest.mark.slow),
    ],
)
def test_scripts_of_every_kind_compute_what_they_did(stack, era, tmp_path, run_compare):
    """Twelve scripts: their steps, optimizer states, histories, evaluations and predictions."""
    library = "keras" if stack.startswith("keras") else "tensorflow.keras"
    options = ["--era", era] if era else []
    found, told = compared(run_compare, tmp_path, *options, DATA / f"kinds.{stack}.h5", KINDS, KERAS=library)
    scripts = sorted(each.name for each in KINDS.parent.glob("*.py") if each.stem not in ("every", "stack"))
    assert len(scripts) == 12
    assert len(told["steps"]) == len(scripts) + 2  # a GAN trains two models, and so does who resumes
    if stack == "tf.keras-2.1":
        # Samples are drawn otherwise, `trainable` counts when it was set, and the recorder calls a model under a mask
        # where masked steps repeat the last output.
        assert list(kinds_of_findings(told).values()) == [{"data"}, {"step"}, {"layer", "output"}]
    elif stack == "tf.keras-2.2":
        assert list(kinds_of_findings(told).values()) == [{"data"}]
        assert "step 0: input 0: other samples: " in found.stdout
    else:
        assert found.returncode == 0, found.stdout + found.stderr[-3000:]
    kinds = {kind for results in told["results"] for kind in results}
    assert kinds == {"history", "evaluate", "predict"}
    assert all(value < 1e-3 for results in told["results"] for value in results.values())


@pytest.mark.parametrize(("version", "next_one"), [("1.13.2", "1.15"), ("2.1.4", "2.2")])
def test_what_trains_by_other_functions_is_recorded(version, next_one):
    """TensorFlow 1.13 had a function for `fit`, 2.1 functions instead of methods: fourteen models of each."""
    own, other_one = (
        read_recording(DATA / f"kinds.tf.keras-{each}.h5") for each in (version.rpartition(".")[0], next_one)
    )
    assert own.facts["keras"] == f"tf.keras {version}"
    assert [model["name"] for model in own.models] == [model["name"] for model in other_one.models]
    assert {name for name in own.arrays if "/state" not in name} == {
        name for name in other_one.arrays if "/state" not in name
    }
    for one, other in zip(own.models, other_one.models, strict=True):
        assert [step["names"] for step in one["steps"]] == [step["names"] for step in other["steps"]]
        assert [len(each) for each in (one["evaluate"], one["predict"], one["history"])] == [
            len(each) for each in (other["evaluate"], other["predict"], other["history"])
        ]


def test_the_last_tf_keras_before_keras_3_recorded_the_same_batches():
    """Fourteen models of TensorFlow 2.15: the batches, the names and the shapes are those of TensorFlow 2.2."""
    newest, older = (read_recording(DATA / f"kinds.tf.keras-{version}.h5") for version in ("2.15", "2.2"))
    assert newest.facts["keras"] == "keras 2.15.0"
    assert len(newest.models) == len(older.models) == 14
    assert set(newest.arrays) == set(older.arrays)
    different = set()
    for name, arrays in newest.arrays.items():
        if name.endswith("/weights"):
            assert [each.shape for each in arrays] == [each.shape for each in older.arrays[name]], name
        if name.endswith("/x") and not all(map(np.array_equal, arrays, older.arrays[name])):
            different.add(name.partition("/")[0])
    # One shuffles, the other sees what a model of its own painted.
    assert {newest.models[int(name.removeprefix("model"))]["name"] for name in different} == {"sequential"}
    assert len(different) == 2


@pytest.mark.parametrize("path", sorted(DATA.glob("*.h5")), ids=lambda path: path.name)
def test_a_recording_names_no_folder_of_who_made_it(path):
    """The bytes of a Lambda's function name its file."""
    text = json.dumps(read_recording(path).facts)
    for code in re.findall(r"4wEA(?:[A-Za-z0-9+/=]|\\+n)+", text):
        names = re.findall(rb"/[\w./-]+\.py", base64.b64decode(re.sub(r"\\+n", "", code)))
        assert all(name.startswith(b"/home/user/") for name in names), names


# By the Python, and the TensorFlow where there are two for it: the recording that it made, and the packages.
ENVIRONMENTS = {
    "2.7": (
        "keras-2.1.6",
        "tensorflow==1.8.0 keras==2.1.6 h5py==2.10.0 numpy<1.17 protobuf<3.18 six absl-py gast==0.2.2 grpcio<1.40 "
        "astor backports.weakref mock<4 funcsigs enum34 futures<3.4 termcolor==1.1.0 scipy pyyaml<5.5",
    ),
    "3.6": ("keras-2.1.6", "tensorflow==1.8.0 keras==2.1.6 h5py==2.10.0 numpy<1.17 protobuf<3.20"),
    "3.7": ("keras-2.2.4", "tensorflow==1.15.5 keras==2.2.4 h5py==2.10.0 numpy<1.19 protobuf<3.20"),
    "3.8": ("tf.keras-2.2", "tensorflow==2.2.3 h5py==2.10.0 numpy<1.19 protobuf<3.20"),
    "3.7-1.13": ("tf.keras-1.13", "tensorflow==1.13.2 h5py==2.10.0 numpy<1.19 protobuf<3.20"),
    "3.10": ("tf.keras-2.15", "tensorflow-cpu==2.15.1 numpy<2"),
}


def installed(version, packages, folder):
    """Install packages for a Python of this machine; return how it is started with them."""
    python = interpreter(version.partition("-")[0])
    if python is None:
        pytest.skip(f"there is no Python {version}")
    if version == "2.7":
        # It has no venv, and not all that TensorFlow 1.8 asks for still installs.
        install = [python, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder)]
        subprocess.run([*install, *packages.split()], check=True)
        (folder / "google" / "__init__.py").touch()
        return python, {"PYTHONPATH": str(folder)}
    own = folder / "bin" / "python"
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(own), "-m", "pip", "install", "-q", "--upgrade", "pip<22"], check=True)
    subprocess.run([str(own), "-m", "pip", "install", "-q", *packages.split()], check=True)
    return str(own), {}


@pytest.mark.slow
@pytest.mark.parametrize("version", ENVIRONMENTS)
def test_environments_made_anew_record_what_is_committed(version, tmp_path):
    """The real stacks, installed here: what the recorder writes in them is what `tests/data/recordings` has.

    `OLD_STACKS`, as "3.7=/envs/old/bin/python 3.8=...", names Pythons that have the packages already.
    """
    stack, packages = ENVIRONMENTS[version]
    there = dict(each.split("=") for each in os.environ.get("OLD_STACKS", "").split())
    own, environment = (there[version], {}) if version in there else installed(version, packages, tmp_path)
    recorder = recorder_command.write(tmp_path)
    library = "keras" if stack.startswith("keras") else "tensorflow.keras"
    command = [own, str(recorder), "--steps", "2", "--out", str(tmp_path / "r.h5"), str(KINDS)]
    # What this process's Python and TensorFlow have set (TF2_BEHAVIOR among it) is not for those.
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TF", "KERAS"))}
    environment |= {"KERAS": library, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, capture_output=True, text=True, env={**outside, **environment}, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    made, committed = read_recording(tmp_path / "r.h5"), read_recording(DATA / f"kinds.{stack}.h5")
    assert [model["name"] for model in made.models] == [model["name"] for model in committed.models]
    assert len(made.models) == 14
    assert made.facts["python"].startswith(f"{version.partition('-')[0]}.")
    # Written since: the order of samples, the states of random numbers, and batches of later steps.
    assert {name: len(made.arrays.get(name, [])) for name in committed.arrays} == {
        name: len(arrays) for name, arrays in committed.arrays.items()
    }


@pytest.mark.slow
def test_two_replicas_compute_what_one_device_did(tmp_path, run_compare):
    found, told = compared(
        run_compare, tmp_path, "--replicas", "2", DATA / "kinds.keras-2.2.4.h5", KINDS, KERAS="keras", GPUS="2"
    )
    assert found.returncode == 0, found.stdout + found.stderr[-3000:]
    assert len(told["steps"]) == 14


# Model of `known_differences.py` -> what differs first, and how the row of the table begins that is named.
KNOWN = {
    "small_last_batch": ("history", "the logged loss of one"),
    "metric_under_a_mask": ("history", "a metric under a mask"),
    "clipnorm": ("step", "`clipnorm`"),
    "sample_weights_of_zero": ("loss", "sample weights of 0"),
    "metric_of_flat_targets": ("metric", "a metric function with targets"),
    "activity_regularizer": ("loss", "`activity_regularizer`"),
    "accuracy_of_several_labels": ("metric", '`"accuracy"` with'),
    "hinge_of_zero_and_one": ("loss", "`hinge`"),
    "weighted_metrics": ("metric", "`weighted_metrics`"),
    "held_out_classes": ("history", "`val_loss` with"),
    "frozen_after_compile": ("step", "`trainable` set after"),
    "frozen_regularizer": ("loss", "a frozen layer's"),
    "frozen_batch_normalization": ("layer", "`BatchNormalization` with `trainable"),
    "moving_statistics": ("step", "`BatchNormalization`, moving"),
    "Adadelta": ("step", "`Adadelta()`"),
    "Adagrad": ("step", "`Adagrad()`"),
    "Adamax": ("step", "`Adamax()`"),
    "Nadam": ("step", "`Adamax()`"),
    "RMSprop": ("step", "`RMSprop`, `Adagrad`"),
    "LSTM": ("layer", "`LSTM`, `GRU`"),
    "GRU": ("weights", "`GRU`"),
    "hard_sigmoid": ("layer", "`hard_sigmoid`"),
    "bilinear": ("layer", "bilinear `UpSampling2D`"),
    "rows_looked_up_twice": ("step", "a row of an `Embedding`"),
    "masked_steps": ("layer", "outputs of `Bidirectional`"),
    "sum_of_one_masked": ("loss", "`Add`, `Multiply`"),
}


# Likewise, of `more_differences.py` and `tf_keras_differences.py`. What has no weights before its first batch is equal.
MORE = {
    "Nadam_of_one_rate": ("step", "`Nadam`"),
    "ConvLSTM2D": ("layer", "`ConvLSTM2D`"),
    "saturated_output": ("loss", "cross-entropies"),
    "channels_first": ("gradient", "the bias of a convolution"),
    "custom_class": ("loss", "`Dropout`, `BatchNormalization` in a custom"),
    "two_outputs": ("evaluate", "the order in which `evaluate`"),
    "inside_a_frozen_model": ("step", "layers inside a frozen model"),
}
TF_KERAS = {
    "loss_under_a_mask": ("loss", "a loss under a mask"),
    "specificity": ("metric", "`SpecificityAtSensitivity`"),
    "deferred": (None, ""),
    "deferred_class": (None, ""),
    "added_loss": ("step", "a cross-entropy of a `sigmoid`"),
    "pictures": ("step", "`BatchNormalization` of pictures"),
    "turned": ("batches", "pictures that `ImageDataGenerator`"),
}


@pytest.mark.slow  # twenty-six models, once recorded on Keras 2.2.4, once on the original, and eleven: minutes
@pytest.mark.parametrize(
    ("name", "era", "known"),
    [
        ("known_differences", None, KNOWN),
        ("known_differences", "keras-2.2.4", KNOWN),
        ("more_differences", "keras-2.2.4", MORE),
        ("tf_keras_differences", "tf.keras-2.2", TF_KERAS),
    ],
)
def test_each_known_difference_is_named_with_its_row(name, era, known, tmp_path, run_compare):
    """Against a recording if no era is given."""
    script, ported = shutil.copy(DATA / f"{name}.py", tmp_path), tmp_path / "ported"
    ported.mkdir()
    shutil.copy(script, ported)  # on Keras 3 as it stands: `migrate` would write some of the old values
    options = ["--era", era] if era else ["--plain", DATA / f"{name}.h5"]
    options += ["--with", ported] if era == "keras-2.2.4" else []
    _, told = compared(run_compare, tmp_path, *options, script)
    assert told["models"] == list(known)
    assert all(curve["again"][0] == pytest.approx(curve["old"][0], 1e-4) for curve in told["curves"] if era)
    for number, (model, (kind, row)) in enumerate(known.items()):
        why = told["why"].get(str(number))
        assert (why is None) is (kind is None), (model, why)
        assert why is None or (why["kind"], why.get("row", "")[: len(row)]) == (kind, row), (model, why)


def test_a_large_model_is_recorded_in_fewer_steps(tmp_path):
    """As many as there is room for; the losses of all."""
    recorder = recorder_command.write(tmp_path)
    (tmp_path / "train.py").write_text(
        "import keras, numpy as np\nkeras.utils.set_random_seed(1)\n"
        "model = keras.Sequential([keras.Input((90000,)), keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
        "model.fit(np.ones((16, 90000)), np.ones((16, 1)), batch_size=4, verbose=0)\n"
    )
    options = ("--steps", "4", "--max-mb", "3", "--out", "r.h5")
    done = scripts.python(str(recorder), *options, "train.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    recording = read_recording(str(tmp_path / "r.h5"))
    assert [len(recording.models[0][kind]) for kind in ("steps", "losses")] == [1, 4]
    assert recording.facts["notes"] == []


def printed_beside_the_recorder(source, folder):
    """What a source prints that gets the recorder's file as its argument, in a process of its own."""
    command = [sys.executable, "-c", source, str(recorder_command.write(folder))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_variable_of_tensorflow_1_is_true(tmp_path):
    """As it was before the recorder made it a resource; in a process of its own, which it hooks."""
    source = (
        "import runpy, sys, types\nclass BaseResourceVariable:\n    def __bool__(self): raise TypeError('a graph')\n"
        "tensorflow = types.SimpleNamespace(__version__='1.15.5')\nsys.modules['tensorflow'] = tensorflow\n"
        "sys.modules['tensorflow_core.python.ops.resource_variable_ops'] = types.SimpleNamespace(**globals())\n"
        "runpy.run_path(sys.argv[1])['Recorder'](None, 1).look()\nprint(bool(BaseResourceVariable()))\n"
    )
    assert printed_beside_the_recorder(source, tmp_path) == "True\n"


def test_the_trainer_of_keras_3_16_is_watched(tmp_path):
    """Its classes have other names, and it shuffles by another function; in a process of its own."""
    source = (
        "import runpy, sys, types\nclass experimental:\n    def stateless_shuffle(value, seed): pass\n"
        "random = types.SimpleNamespace(experimental=experimental)\n"
        "sys.modules['tensorflow'] = types.SimpleNamespace(__version__='2.21.0', random=random)\n"
        "class Trainer:\n    def fit(self): pass\n"
        "class BaseTrainer:\n    def compile(self): pass\n"
        "def now(): return Trainer.fit, BaseTrainer.compile, experimental.stateless_shuffle\n"
        "before = now()\n"
        "for end in ('backend.tensorflow.trainer', 'trainers.trainer'):\n"
        "    sys.modules['keras.src.' + end] = types.SimpleNamespace(**globals())\n"
        "runpy.run_path(sys.argv[1])['Recorder'](None, 1).look()\n"
        "print(*(one is other for one, other in zip(before, now())))\n"
    )
    assert printed_beside_the_recorder(source, tmp_path) == "False False False\n"


def test_a_batch_of_a_graph_may_come_from_an_iterator():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        data = tf.data.Dataset.range(9).map(lambda i: (i, -i)).batch(3)
        x, y = tf.compat.v1.data.make_one_shot_iterator(data).get_next()
        step = GraphStep(None, None, None, None, 0, {}, [], lambda: session)
        for first in (0, 3):
            read = step._read([x, y, np.ones(3)])
            np.testing.assert_array_equal(read[0], [first, first + 1, first + 2])
            np.testing.assert_array_equal(read[1], -read[0])


def test_a_batch_by_name_is_in_the_order_of_the_model():
    """tf.keras 1.15 has it so; TensorFlow 2 gives the dict that it was given."""
    model = types.SimpleNamespace(input_names=["words", "age"], output_names=["b", "a"])
    batch = {"age": np.zeros(1), "words": np.ones(1)}, {"a": np.zeros(2), "b": np.ones(2)}
    step = EagerStep(None, model, None)
    parts = step._parts(batch)
    assert [each[0] for kind in "xy" for each in parts[kind]] == [1, 0, 1, 0]
    put_in = step._replaced(None, batch, parts, parts)
    assert all(float(put_in[k][name][0]) == batch[k][name][0] for k in (0, 1) for name in batch[k])
    other = {"kind": np.zeros(1), "words": np.ones(1)}  # names of which the model knows nothing
    assert [each[0] for each in step._parts((other,))["x"]] == [0, 1]
    inputs = [keras.Input((1,), name=name) for name in ("words", "age")]
    here = keras.Model(inputs, keras.layers.Add()(inputs))
    assert names_of(here, "x") == ["words", "age"]


def test_layers_are_recorded_from_the_states_of_the_step():
    """Those of a stateful layer, which the model's own outputs have moved."""
    model = keras.Sequential([keras.Input((3, 2), 4), keras.layers.LSTM(2, stateful=True)])
    kept = types.SimpleNamespace(facts={"random_layers": [], "masked_layers": []}, steps=0)
    values = EagerStep(None, model, None)._forward(kept, [np.ones((4, 3, 2), "float32")])
    np.testing.assert_array_equal(values["layers"][0][1], values["outputs"][0])


def test_metrics_that_are_one_dict_are_logs_of_their_own():
    """As a `train_step` of the script returns them: `{m.name: m.result() for m in self.metrics}`."""
    assert each_log({"loss": 1, "compile_metrics": {"mae": 2, "mse": 3}}) == [("loss", 1), ("mae", 2), ("mse", 3)]


def test_a_batch_may_be_sparse():
    matrix = scipy.sparse.csr_matrix(np.eye(3))
    assert array_of(matrix).tolist() == np.eye(3).tolist()
    assert array_of(tf.sparse.from_dense(np.eye(3))).tolist() == np.eye(3).tolist()
    put_in = like(np.ones(9), matrix)
    assert type(put_in) is type(matrix)
    assert put_in.toarray().tolist() == np.ones((3, 3)).tolist()
