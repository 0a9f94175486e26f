"""Parts of a layer that have a config of their own: initializers, regularizers, constraints; and dtype policies."""

from __future__ import annotations

from typing import Any

from parallel_compat.names import tsv
from parallel_compat.recover import limits
from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.rules.keras3_arguments import KERAS3_ARGUMENTS
from parallel_compat.recover.translation import Translation

_ROWS = tsv.rows("parts.tsv", 4, __package__)
# End of an argument's name -> class -> the arguments that it takes; and the classes by their shorter names.
CLASSES = {ending: {row[1]: row[2].split() for row in _ROWS if row[0] == ending} for ending, *_ in _ROWS}
NAMES = {ending: {name: row[1] for row in _ROWS if row[0] == ending for name in row[3].split()} for ending, *_ in _ROWS}


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


DTYPES = limits.DTYPES | {"bfloat16", "string", "mixed_float16", "mixed_bfloat16"}


def parts_of_layer(entry: Entry, translation: Translation) -> None:
    """Initializers, regularizers and constraints are of Keras's own classes, with the arguments Keras 3 takes.

    TensorFlow 1 writes a `dtype` into its initializers; Keras up to 2.1 calls the truncated normal distribution of a
    `VarianceScaling` "normal"; old `Identity` and `L1L2` had arguments that are gone.
    """
    if entry["class_name"] not in {*KERAS3_ARGUMENTS, *translation.target.layers}:
        return
    config = entry["config"]
    for key, value in config.items():
        for ending in CLASSES:
            if key.endswith(ending) and value is not None:
                config[key] = _part(entry, key, value, ending, translation)


def _part(entry: Entry, key: str, value: Any, ending: str, translation: Translation) -> Any:
    given = value if isinstance(value, str) else value.get("class_name") if isinstance(value, dict) else None
    config = value.get("config", {}) if isinstance(value, dict) else {}
    class_name = NAMES[ending].get(str(given), str(given))
    if class_name not in CLASSES[ending] or not isinstance(config, dict):
        if given in translation.custom_objects:
            return value
        if key.endswith("_initializer"):
            # The weights come from the file: how they once began no longer matters.
            translation.initializers.append(f"{entry['name']}.{key}")
            translation.note(entry, f"its {key} {str(given)[:60]!r} is not one of Keras's; left out")
            return None if key != "moving_variance_initializer" else "ones"
        translation.custom.setdefault(str(given)[:120], []).append(f"{entry['name']}.{key}")
        return value
    kept = {name: config[name] for name in CLASSES[ending][class_name] if name in config}
    if class_name == "VarianceScaling" and kept.get("distribution") == "normal":
        kept["distribution"] = "truncated_normal"
    return {"class_name": class_name, "config": kept}
