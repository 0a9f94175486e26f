"""List the arguments of an old Keras's public classes, functions and methods, and the members of its objects, as JSON.

PYTHON-OF-THE-OLD-STACK list_signatures.py keras|tensorflow.keras OUT.json
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import warnings

warnings.filterwarnings("ignore")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
root, out = sys.argv[1], sys.argv[2]
keras = importlib.import_module(root)
MODULES = [
    *("layers", "optimizers", "callbacks", "losses", "metrics", "regularizers", "constraints", "initializers", "utils"),
    *("models", "activations", "preprocessing.image", "preprocessing.sequence", "preprocessing.text", "backend"),
]


def arguments(function):
    function = inspect.unwrap(function)
    while hasattr(function, "_original_function"):  # Keras 2.2.4's decorators of its first version's arguments
        function = function._original_function
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [each.name for each in found if each.name != "self" and each.kind in (1, 3)]


def members(of, made):
    names = set(dir(of)) | set(vars(made) if made is not None else ())
    return sorted(name for name in names if not name.startswith("_"))


calls = {}
for name in MODULES:
    module = importlib.import_module(f"{root}.{name}") if root == "keras" else eval(f"keras.{name}")
    for key, value in vars(module).items():
        home = getattr(value, "__module__", "") or ""
        if key.startswith("_") or "keras" not in home.lower() or not callable(value):
            continue
        found = arguments(value.__init__ if inspect.isclass(value) else value)
        if found is not None:
            calls[f"keras.{name}.{key}"] = found
inputs = keras.layers.Input((3,))
model = keras.models.Model(inputs, keras.layers.Dense(1)(inputs))
model.compile("sgd", "mse")
objects = {
    "Model": (keras.models.Model, model), "Layer": (keras.layers.Layer, model.layers[-1]),
    "Optimizer": (keras.optimizers.Optimizer, model.optimizer),
    "Callback": (keras.callbacks.Callback, keras.callbacks.Callback()),
}  # fmt: skip
methods = {
    f"{name}.{method}": arguments(getattr(class_, method))
    for name, (class_, _) in objects.items()
    for method in dir(class_)
    if not method.startswith("_") and inspect.isfunction(getattr(class_, method))
}
found = {"calls": calls, "methods": methods, "members": {name: members(*pair) for name, pair in objects.items()}}
with open(out, "w") as f:
    json.dump(found, f, sort_keys=True, separators=(",", ":"))
    f.write("\n")
print(len(calls), "callables", len(methods), "methods")
