"""A parallel model's file is its template's: compiled as the parallel model is, with what its optimizer has learned."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend import keras3

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.parallel_model import ParallelModel


@contextlib.contextmanager
def template_to_save(model: ParallelModel) -> Iterator[keras.Model]:
    """Yield the template of a parallel model, carrying for a while what the parallel model was compiled with."""
    if not model.compiled:
        yield model.template
        return
    with keras3.compiled_as(model.template, model, compile_arguments_of_template(model)):
        yield model.template


def compile_arguments_of_template(model: ParallelModel) -> dict[str, Any]:
    """Return what the template would be compiled with to train as the parallel model does, on one device."""
    arguments = {**keras3.compile_arguments(model), "jit_compile": "auto"}
    if getattr(model.template, "output_names", None) == model.output_names:
        return arguments
    # The template knows no output by the name that told it apart: its outputs are told by position.
    for name in ("loss", "loss_weights", "metrics", "weighted_metrics"):
        by_name = arguments.get(name)
        if isinstance(by_name, dict):
            by_position = [by_name.get(output) for output in model.output_names]
            of_metrics = name.endswith("metrics")
            arguments[name] = by_position if len(by_position) > 1 or of_metrics else by_position[0]
    return arguments


def from_config(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> keras.Model:
    """Make a fresh template from a template's config.

    Raises:
        ValueError: if the config is that of a subclassed model, whose class it does not name.
    """
    if "input_layers" in config:
        return keras.Model.from_config(config, custom_objects=custom_objects)
    if isinstance(config.get("layers"), list):
        return keras.Sequential.from_config(config, custom_objects=custom_objects)
    raise ValueError(
        "Expected the config of a functional or Sequential template. Received a config with the keys "
        f"{sorted(config)}. Make a subclassed model from its own class: `type(template).from_config(config)`."
    )
