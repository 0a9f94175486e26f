"""`model.to_yaml()` and `model_from_yaml`: the configuration of a model as YAML, read without running any code."""

from __future__ import annotations

import importlib
import json
from typing import Any

from parallel_compat.backend import keras3


def to_yaml(model: Any, **kwargs: Any) -> str:
    """Return a model's configuration as YAML, what `model.to_json()` says.

    Args:
        model: the model.
        **kwargs: those of `yaml.dump`.
    """
    with keras3.not_compiled(model):
        return str(_yaml().safe_dump(json.loads(model.to_json()), **kwargs))


def model_from_yaml(yaml_string: str, custom_objects: dict[str, Any] | None = None) -> Any:
    """Make a model of its configuration as YAML.

    Args:
        yaml_string: what `to_yaml` returned, here or in Keras 2. Of Python's own types in it only tuples are read.
        custom_objects: the user's own classes and functions by name.

    Raises:
        ValueError: it is no configuration, or has other objects of Python in it.
    """
    from parallel_compat.legacy import models

    yaml = _yaml()

    class Loader(yaml.SafeLoader):  # type: ignore[misc,name-defined]
        """YAML without objects of Python's, but for the tuples and texts that Keras 2 wrote."""

    def sequence(loader: Any, node: Any) -> list[Any]:
        found: list[Any] = loader.construct_sequence(node, deep=True)
        return found

    Loader.add_constructor("tag:yaml.org,2002:python/tuple", sequence)
    Loader.add_constructor("tag:yaml.org,2002:python/unicode", lambda loader, node: loader.construct_scalar(node))
    try:
        config = yaml.load(yaml_string, Loader)  # noqa: S506: a `SafeLoader`
    except yaml.YAMLError as error:
        raise ValueError(f"Expected the configuration of a model as YAML. Received: {error}") from None
    return models.model_from_json(json.dumps(config), custom_objects)


def _yaml() -> Any:
    try:
        return importlib.import_module("yaml")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Expected PyYAML, which Keras 2 installed and Keras 3 does not: pip install pyyaml", name="yaml"
        ) from None
