"""The parts of a layer that have a config of their own: initializers, regularizers, constraints, dtype policies."""

from __future__ import annotations

from typing import Any

from parallel_compat.recover import reader
from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.rules.keras3_arguments import KERAS3_ARGUMENTS
from parallel_compat.recover.translation import Translation

INITIALIZERS = {
    # old class, and the names of TensorFlow 1's own initializers -> class in Keras 3, arguments it takes
    "Zeros": ("Zeros", ()),
    "Ones": ("Ones", ()),
    "Constant": ("Constant", ("value",)),
    "RandomNormal": ("RandomNormal", ("mean", "stddev", "seed")),
    "RandomUniform": ("RandomUniform", ("minval", "maxval", "seed")),
    "TruncatedNormal": ("TruncatedNormal", ("mean", "stddev", "seed")),
    "VarianceScaling": ("VarianceScaling", ("scale", "mode", "distribution", "seed")),
    "Orthogonal": ("Orthogonal", ("gain", "seed")),
    "Identity": ("Identity", ("gain",)),
    "GlorotUniform": ("GlorotUniform", ("seed",)),
    "GlorotNormal": ("GlorotNormal", ("seed",)),
    "LecunNormal": ("LecunNormal", ("seed",)),
    "LecunUniform": ("LecunUniform", ("seed",)),
    "HeNormal": ("HeNormal", ("seed",)),
    "HeUniform": ("HeUniform", ("seed",)),
}
# Layers write functions and shorter names as plain strings.
INITIALIZER_NAMES = {
    "zero": "Zeros", "zeros": "Zeros", "one": "Ones", "ones": "Ones", "constant": "Constant",
    "uniform": "RandomUniform", "random_uniform": "RandomUniform", "normal": "RandomNormal",
    "random_normal": "RandomNormal", "truncated_normal": "TruncatedNormal", "identity": "Identity",
    "orthogonal": "Orthogonal", "glorot_uniform": "GlorotUniform", "glorot_normal": "GlorotNormal",
    "lecun_normal": "LecunNormal", "lecun_uniform": "LecunUniform",
    "he_normal": "HeNormal", "he_uniform": "HeUniform",
}  # fmt: skip
REGULARIZERS = {"L1L2": ("L1L2", ("l1", "l2")), "L1": ("L1", ("l1",)), "L2": ("L2", ("l2",))}
CONSTRAINTS = {
    "MaxNorm": ("MaxNorm", ("max_value", "axis")),
    "NonNeg": ("NonNeg", ()),
    "UnitNorm": ("UnitNorm", ("axis",)),
    "MinMaxNorm": ("MinMaxNorm", ("min_value", "max_value", "rate", "axis")),
}
CONSTRAINT_NAMES = {
    "max_norm": "MaxNorm",
    "non_neg": "NonNeg",
    "unit_norm": "UnitNorm",
    "min_max_norm": "MinMaxNorm",
}

# Kind of part, by the end of the argument's name -> its classes, its names, what stands for one that is
# unknown.
KINDS: dict[str, tuple[dict[str, tuple[str, tuple[str, ...]]], dict[str, str]]] = {
    "_initializer": (INITIALIZERS, INITIALIZER_NAMES),
    "_regularizer": (REGULARIZERS, {}),
    "_constraint": (CONSTRAINTS, CONSTRAINT_NAMES),
}


def dtype_policy(entry: Entry, translation: Translation) -> None:
    """A dtype is a name; tf.keras 2.x also writes a policy, ``{"class_name": "Policy", "config": {"name": ...}}``."""
    dtype = entry["config"].get("dtype")
    if isinstance(dtype, dict):
        config = dtype.get("config")
        dtype = config.get("name") if isinstance(config, dict) else None
        entry["config"]["dtype"] = dtype
    if dtype in ("infer", "infer_float32_vars", None):
        entry["config"].pop("dtype", None)
    elif dtype not in DTYPES:
        translation.refuse(entry, f"the dtype {str(dtype)[:60]!r} is not one of Keras's")


DTYPES = reader.DTYPES | {"bfloat16", "string", "mixed_float16", "mixed_bfloat16"}


def parts_of_layer(entry: Entry, translation: Translation) -> None:
    """Initializers, regularizers and constraints are of Keras's own classes, with the arguments Keras 3 takes.

    TensorFlow 1 writes a `dtype` into its initializers; Keras up to 2.1 calls the truncated normal distribution of a
    `VarianceScaling` "normal"; old `Identity` and `L1L2` had arguments that are gone.
    """
    if entry["class_name"] not in {*KERAS3_ARGUMENTS, *translation.target.layers}:
        return
    config = entry["config"]
    for key, value in config.items():
        for ending, (classes, names) in KINDS.items():
            if key.endswith(ending) and value is not None:
                config[key] = _part(entry, key, value, classes, names, translation)


def _part(
    entry: Entry,
    key: str,
    value: Any,
    classes: dict[str, tuple[str, tuple[str, ...]]],
    names: dict[str, str],
    translation: Translation,
) -> Any:
    given = value if isinstance(value, str) else value.get("class_name") if isinstance(value, dict) else None
    config = value.get("config", {}) if isinstance(value, dict) else {}
    known = classes.get(names.get(str(given), str(given)))
    if known is None or not isinstance(config, dict):
        if given in translation.custom_objects:
            return value
        if key.endswith("_initializer"):
            # The weights come from the file: how they once began no longer matters.
            translation.initializers.append(f"{entry['name']}.{key}")
            translation.note(entry, f"its {key} {str(given)[:60]!r} is not one of Keras's; left out")
            return None if key != "moving_variance_initializer" else "ones"
        translation.custom.setdefault(str(given)[:120], []).append(f"{entry['name']}.{key}")
        return value
    class_name, arguments = known
    kept = {name: config[name] for name in arguments if name in config}
    if class_name == "VarianceScaling" and kept.get("distribution") == "normal":
        kept["distribution"] = "truncated_normal"
    return {"class_name": class_name, "config": kept}
