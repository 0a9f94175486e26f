"""Why Keras or TensorFlow cannot be imported, in one sentence with what to do."""

from __future__ import annotations

import importlib.util
import json
import os
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("tensorflow", "keras")
# What is installed under another name than what is imported.
_DISTRIBUTIONS = {"tensorflow": ("tensorflow", "tensorflow-cpu", "tf-nightly"), "keras": ("keras", "keras-nightly")}
# What the code of Keras 2.2.4 and 2.3.1 imports, and TensorFlow 2.21 does not bring: module -> package.
OF_OLD_KERAS = {"scipy": "scipy", "six": "six", "yaml": "pyyaml"}
_INSTALL = (
    "Install it with `pip install 'parallel-compat[tensorflow]'`, or 'parallel-compat[gpu]' on Linux with NVIDIA GPUs"
)


def explain(error: ImportError) -> str | None:
    """Say why an import failed, if Keras or TensorFlow is the reason.

    Returns:
        A sentence without a full stop, or None if the error has another reason.
    """
    package = _package_that_failed(error)
    if package is None:
        return None
    chosen, where = chosen_backend()
    if chosen != "tensorflow":
        return other_backend(f"{chosen}, from {where}")
    if not is_installed(package):
        return f"Expected tensorflow and keras to be installed. Received: {error}. {_INSTALL}"
    fails = f"{package} is installed, and importing it fails: {type(error).__name__}: {error}"
    missing = (error.name or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and missing not in _PACKAGES:
        return f"{fails}. Install it with `pip install {OF_OLD_KERAS.get(missing, missing)}`"
    return (
        f"{fails}. Install this package with its extra `tensorflow` into a new environment: "
        "that gets versions that fit each other"
    )


def missing_of_old_keras() -> str | None:
    """Say which packages standalone Keras needs and this environment does not have, or None."""
    missing = [package for module, package in OF_OLD_KERAS.items() if not is_installed(module)]
    if not missing:
        return None
    return f"Old Keras needs {', '.join(missing)}, which is not installed here. Run: pip install {' '.join(missing)}"


def other_backend(received: str) -> str:
    """Say that Keras's backend is not TensorFlow."""
    return (
        f"Expected TensorFlow as the backend of Keras: it is the only one that parallel_compat works with. "
        f"Received: {received}. Set KERAS_BACKEND=tensorflow"
    )


def chosen_backend() -> tuple[str, str]:
    """Return the backend that Keras 3 will take, and who says so."""
    if os.environ.get("KERAS_BACKEND"):
        return os.environ["KERAS_BACKEND"], "KERAS_BACKEND"
    folder = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    path = os.path.join(folder, "keras.json")
    try:
        with open(path, encoding="utf-8") as file:
            return str(json.load(file).get("backend", "tensorflow")), path
    except (OSError, ValueError, AttributeError):
        return "tensorflow", ""


def is_installed(package: str) -> bool:
    """Say whether a package can be found, without importing it."""
    try:
        return importlib.util.find_spec(package) is not None
    except ValueError:  # it stands in sys.modules without a spec
        return False


def installed_version(package: str) -> str | None:
    """Return the version of a package that is installed, without importing it; None if there is none."""
    for name in _DISTRIBUTIONS.get(package, (package,)):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None


def _package_that_failed(error: ImportError) -> str | None:
    """Return the package whose import raised, or that is absent: TensorFlow, Keras or None."""
    failed = error.name
    traceback = error.__traceback__
    while traceback is not None:
        name = str(traceback.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        # The innermost: Keras imports TensorFlow. A function of theirs may have called what imports something else.
        if name in _PACKAGES and traceback.tb_frame.f_code.co_name == "<module>":
            failed = name
        traceback = traceback.tb_next
    return failed if failed in _PACKAGES else None
