"""One table, two readers: `run` translates a call, `migrate` rewrites its source, and both come to the same call."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

import pytest

from parallel_compat.legacy.call_arguments import translate
from parallel_compat.migrate.engine import Options, analyse, rewrite
from parallel_compat.migrate.findings import Status
from parallel_compat.names import positions
from parallel_compat.names.arguments import KERNEL_SIDES, OF_SEQUENCES, arguments
from parallel_compat.names.defaults import defaults
from parallel_compat.names.eras import Era
from parallel_compat.names.table import Change

IMPORTS = {
    Era.KERAS_2_2_4: "from {0} import {1}\n",
    Era.TF_KERAS_1_15: "import tensorflow as tf\nfrom tensorflow.{0} import {1}\nsession = tf.Session()\n",
    Era.TF_KERAS_2_2: "from tensorflow.{0} import {1}\n",
}


class Case(NamedTuple):
    """A call: its callable as the table spells it, its era, its arguments as source."""

    of: str
    era: Era
    text: str


def source(case: Case) -> str:
    if case.of.startswith("keras.Model."):
        head = IMPORTS[case.era].format("keras.models", "Sequential") + "model = Sequential()\n"
        return f"{head}model.{case.of.rpartition('.')[2]}({case.text})\n"
    module, _, name = case.of.rpartition(".")
    return IMPORTS[case.era].format(module, name) + f"made = {name}({case.text})\n"


def of_run(case: Case) -> Any:
    call = ast.parse(f"f({case.text})", mode="eval").body
    given = tuple(literal(argument) for argument in call.args)
    keywords = {keyword.arg: literal(keyword.value) for keyword in call.keywords}
    try:
        given, keywords = translate(case.of, given, keywords, lambda given, became: None, era=case.era)
    except TypeError:
        return "refused"
    # An Embedding at the head of a Sequential was built at once, without an argument.
    if case.of == "keras.layers.Embedding" and keywords.get("input_shape") == (None,):
        keywords.pop("input_shape")
    return list(given), {name: getattr(value, "__name__", value) for name, value in keywords.items()}


def of_migrate(case: Case) -> Any:
    analysis = analyse(source(case), Options(unsafe=True))
    if any(finding.status is Status.ATTENTION for finding in analysis.findings):
        return "refused"
    text = rewrite(analysis, hints=True)
    stays = ast.unparse(ast.parse(source(case)).body[-1]) == ast.unparse(ast.parse(text).body[-1])
    if "parallel_compat.install(" in text and stays:  # the running program answers the call
        return of_run(case)
    call = ast.parse(text).body[-1].value
    given = [literal(argument) for argument in call.args]
    keywords = {keyword.arg: literal(keyword.value) for keyword in call.keywords}
    name = case.of.rpartition(".")[2]
    if re.search(
        rf"from parallel_compat\.legacy\.\w+ import .*\b{name}\b", text
    ):  # which takes the old arguments itself
        return of_run(Case(case.of, Era.TODAY, ast.unparse(call).partition("(")[2][:-1]))
    return given, keywords


def literal(node: ast.expr) -> Any:
    if isinstance(node, (ast.Name, ast.Attribute)):
        return ast.unparse(node).rpartition(".")[2]
    return ast.literal_eval(node)


def cases() -> list[Case]:
    found = []
    for of, rows in arguments().items():
        if of in ("keras.layers.Layer", "keras.Model", "keras.Input") or of.startswith("keras.Model.evaluate"):
            continue
        for row in rows.values():
            if row.old in KERNEL_SIDES.get(of, ()):  # together, below
                continue
            values = [*map(repr, row.harmless), *(repr(old) for old, _ in row.values)]
            values += ["0.5"] if not row.values else []
            before = "'model.keras', " if of.endswith("Checkpoint") else ""
            found += [
                Case(of, era, f"{before}{row.old}={value}")
                for era in (Era.KERAS_2_2_4, Era.TF_KERAS_2_2)
                if era not in row.not_in
                for value in values
                if row.change is not Change.SAME or value != "None"
            ]
    for of in positions.callables():
        for era in IMPORTS:
            agreeing, names = positions.order(of, era)
            found += [
                Case(of, era, ", ".join(str(101 + number) for number in range(count)))
                for count in range(agreeing + 1, agreeing + len(names) + 1)
            ]
    for of, rows in defaults().items():
        found += [Case(of, era, "") for era in IMPORTS]
        found += [Case(of, era, f"{row.argument}=0.25") for era in IMPORTS for row in rows]
        found += [Case(of, era, ", ".join("3" * (row.position + 1))) for era in IMPORTS for row in rows if row.position]
    for of, sides in KERNEL_SIDES.items():
        found.append(Case(of, Era.KERAS_2_2_4, "8, " + ", ".join(f"{side}=3" for side in sides)))
        found.append(Case(of, Era.KERAS_2_2_4, "8, " + ", ".join("3" for _ in sides)))
        found.append(Case(of, Era.TF_KERAS_2_2, "8, " + ", ".join("3" for _ in sides)))
    found += [Case(of, Era.KERAS_2_2_4, "4, input_dim=3, input_length=5") for of in OF_SEQUENCES]
    found += [
        Case("keras.optimizers.Adam", Era.KERAS_2_2_4, ".001, .9, .999, 1e-7, True"),
        Case("keras.optimizers.Adam", Era.KERAS_2_2_4, "clipnorm=10., clipvalue=0."),
        Case("keras.Model.fit", Era.KERAS_2_2_4, "class_weight={}"),
    ]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("of", sorted({case.of for case in cases()}))
def test_both_come_to_the_same_call(of):
    differing = {}
    for case in cases():
        if case.of == of:
            run, migrated = of_run(case), of_migrate(case)
            if run != migrated:
                differing[case.era.value, case.text] = (run, migrated)
    assert not differing
