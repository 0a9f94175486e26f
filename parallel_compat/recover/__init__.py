"""Get the single model out of any file that multi-GPU code wrote, without running what is inside.

How a file passes through, one step a module:

    reading_process, hdf5   open the file, in another process, within `limits`; let only plain arrays and text out
    reader                  start that process, believe of its answers only what can be checked
    config_json             parse the model's config
    parallel_wrapper        take the parallel model off
    layer_tree, layer_weights, placement   find out which array belongs to which layer
    translation, rules/     say the config in Keras 3's words, for the target that it is for
    weight_edits            change weights where a layer computes otherwise today
    single_model            all of the above, for one file
    h5_writer, keras_models write it, or build it in Keras
    optimizer_state         what its optimizer remembers, given to a living one
    verifying               hold what was written against what was meant
    inspecting, recovering, loading        the three public functions
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "CheckpointError": "parallel_compat.recover.errors",
    "inspect_checkpoint": "parallel_compat.recover.inspecting",
    "load_template_weights": "parallel_compat.recover.loading",
    "recover_template": "parallel_compat.recover.recovering",
}

if TYPE_CHECKING:
    from parallel_compat.recover.errors import CheckpointError as CheckpointError
    from parallel_compat.recover.inspecting import inspect_checkpoint as inspect_checkpoint
    from parallel_compat.recover.loading import load_template_weights as load_template_weights
    from parallel_compat.recover.recovering import recover_template as recover_template


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
