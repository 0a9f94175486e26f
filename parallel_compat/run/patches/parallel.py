"""What is put on `ParallelModel`, whose methods are its own."""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat import devices
from parallel_compat.backend.keras3.symbolic_values import call_in_phase
from parallel_compat.run import (
    callers,
    environment,
    usage,
)
from parallel_compat.run.patches.models import put_on_models, told_apart
from parallel_compat.run.patches.numbers import in_step_of
from parallel_compat.run.patches.wrapping import like

if TYPE_CHECKING:
    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches) -> None:
    """Put the old arguments on the methods that `ParallelModel` has of its own."""
    from parallel_compat import parallel_model
    from parallel_compat.parallel_model import ParallelModel
    from parallel_compat.training.trainer import ParallelTrainer

    for kind in (ParallelModel, ParallelTrainer):
        put_on_models(patches, kind, own=True)
    patches.wrap(
        ParallelModel,
        "__init__",
        _as_towers,
        why="each tower took the seeds of its layers from `np.random`, and was made in the phase that was fixed",
    )
    why = "`multi_gpu_model` told outputs of one name apart, of which Keras 2.2.4 had several"
    patches.wrap(parallel_model, "output_names_of", _of_layers, why=why)
    for name in ("fit_generator", "evaluate_generator", "predict_generator"):
        make = functools.partial(_generator_method, name=name)
        patches.wrap(ParallelTrainer, name, make, why="workers and callbacks as the user's code had them")
    for step in ("train", "test"):
        why = "losses, metrics and regularizers know whether the model trains"
        patches.wrap(ParallelTrainer, f"{step}_step", in_step_of(step), why=why)
    patches.set(devices, "how_to_simulate", _how_to_simulate, why="under `run` there is an option for it")


def _how_to_simulate(number: int) -> str:
    if environment.SETTINGS in os.environ:
        command = f"`parallel-compat run --replicas {number} ...`"
        return f"To run the script on {number} simulated devices, add `--replicas {number}`: {command}."
    return f"To try {number}-replica code on it, call `parallel_compat.install(replicas={number})` first."


def _as_towers(original: Any) -> Any:
    @like(original)
    def __init__(self: Any, template: Any, strategy: Any, *given: Any, **keywords: Any) -> None:
        original(self, template, strategy, *given, **keywords)
        from parallel_compat.legacy import learning_phase

        era, phase = callers.era_of_caller(), learning_phase.fixed_learning_phase()
        if era.has_graphs and phase is not None:
            call_in_phase(self, phase)
        if era.has_graphs:
            from parallel_compat.backend.keras3 import as_called
            from parallel_compat.legacy.numbers import operations_that_draw

            as_called.call_as_of_now(self)

            operations_that_draw.draw_for_towers(template, strategy.num_replicas_in_sync, era)

    return __init__


def _of_layers(original: Any) -> Any:
    @like(original)
    def output_names_of(model: Any, outputs: Any) -> list[str]:
        names: list[str] = original(model, outputs)
        if not callers.era_of_caller().is_standalone or not getattr(model, "outputs", None):
            return names
        from parallel_compat.legacy import nodes

        of_layers = [layer.name for layer in nodes.output_layers(model)]
        # The single model's are told apart by `run`, in another way: its losses are known by them.
        return of_layers if told_apart(of_layers) == names else names

    return output_names_of


def _generator_method(original: Any, name: str) -> Any:
    @like(original)
    def method(self: Any, *given: Any, **keywords: Any) -> Any:
        from parallel_compat.run import model_methods

        frame = callers.user_frame(sys._getframe(1))
        if frame is None:
            return original(self, *given, **keywords)
        usage.record(f"Model.{name}", f"parallel_compat.{name}", frame)
        return getattr(model_methods, name)(self, *given, **keywords)

    return method
