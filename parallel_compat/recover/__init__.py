"""Get the single model out of any file that multi-GPU code wrote, without running what is inside.

How a file passes through, one step a module:

    reading_process, hdf5   open the file, in another process, within `limits`; let only plain arrays and text out
    reader                  start that process, believe of its answers only what can be checked
    config_json             parse the model's config
    parallel_wrapper        take the parallel model off
    layer_tree, layer_weights, placement   find out which array belongs to which layer
    translation, rules/     say the config in Keras 3's words, for the target that it is for
    weight_edits            change weights where a layer computes something else today
    single_model            all of the above, for one file
    h5_writer, keras_models write it, or build it in Keras
    optimizer_state         what its optimizer remembers, given to a living one
    verifying               hold what was written against what was meant
    inspecting, recovering, loading        the three public functions

Whatever is wrong with a file is raised as a `CheckpointError`, by each of them.
"""

from __future__ import annotations
