"""What changed in a config between Keras 2 and Keras 3: one small function per change, one file per topic.

A rule gets one layer's entry (a copy, free to be changed) and the `Translation` it belongs to. It changes what it knows
to mean the same in Keras 3; what has no counterpart there it reports with `translation.refuse`, and the rest of the
config is not changed.
"""

from __future__ import annotations

from parallel_compat.recover.rules import (
    activations,
    classes,
    dropped_arguments,
    graph,
    kernels,
    layer_names,
    locally_connected,
    operations,
    parts,
    plain_values,
    recurrent,
    theano,
)

# In this order: later rules see what earlier ones made.
LAYER_RULES = (
    plain_values.plain_values,
    layer_names.plain_name,
    layer_names.names_in_graph,
    classes.renamed_class,
    kernels.layout_of_keras1,
    kernels.turned_kernel,
    recurrent.cudnn,
    recurrent.backwards,
    locally_connected.locally_connected,
    operations.tensorflow_operation,
    classes.thresholded_relu,
    classes.unknown_class,
    classes.lambda_layer,
    dropped_arguments.batch_normalization_axis,
    dropped_arguments.renamed_argument,
    dropped_arguments.missing_default,
    dropped_arguments.dropped_argument,
    dropped_arguments.bilinear_upsampling,
    parts.dtype_policy,
    parts.parts_of_layer,
    activations.renamed_activation,
    activations.hard_sigmoid,
    plain_values.no_hidden_objects,
    theano.padding_of_theano,
    graph.wrapped_layer,
    graph.input_layer,
    graph.functional_arguments,
    graph.sequential_input,
    dropped_arguments.unknown_argument,
)
GRAPH_RULES = (graph.initial_state, graph.call_numbers, graph.no_circle, graph.single_tensors)

__all__ = ["GRAPH_RULES", "LAYER_RULES"]
