"""Methods, attributes and callback fields that old code reads, calls or sets on Keras objects."""

from __future__ import annotations

from functools import cache

from parallel_compat.names.table import Change, Member

MODEL = "keras.Model"
LAYER = "keras.layers.Layer"
INPUT_LAYER = "keras.layers.InputLayer"
OPTIMIZER = "keras.optimizers.Optimizer"
CALLBACK = "keras.callbacks.Callback"
CHECKPOINT = "keras.callbacks.ModelCheckpoint"
TENSOR = "keras.KerasTensor"
NODE = "a call of a layer"  # `layer._inbound_nodes[0]`, whose class Keras never had in a public place
_MASKS_OF_CALLS = ("input_masks", "output_masks")
METRIC = "keras.metrics.Metric"
SEQUENCE = "keras.utils.PyDataset"

_GRAPH = "It was part of a TensorFlow 1 graph, which Keras 3 does not build."
_NODES = "Keras 3 keeps no public list of nodes. Call the layer once per input and keep the tensors it returns."

_MEMBERS: tuple[Member, ...] = (
    Member(MODEL, "fit_generator", Change.PROVIDED, "parallel_compat.fit_generator", method=True),
    Member(MODEL, "evaluate_generator", Change.PROVIDED, "parallel_compat.evaluate_generator", method=True),
    Member(MODEL, "predict_generator", Change.PROVIDED, "parallel_compat.predict_generator", method=True),
    Member(
        MODEL,
        "predict_classes",
        Change.PROVIDED,
        "parallel_compat.legacy.models.predict_classes",
        method=True,
    ),
    Member(
        MODEL,
        "predict",
        Change.PROVIDED,
        "parallel_compat.legacy.models.predict",
        method=True,
        note="Keras 3 takes no generator of bare arrays.",
    ),
    Member(MODEL, "predict_proba", Change.PROVIDED, "parallel_compat.legacy.models.predict_proba", method=True),
    *(
        Member(of, "reset_states", Change.PROVIDED, "parallel_compat.legacy.models.reset_states", method=True)
        for of in (MODEL, METRIC)
    ),
    Member(
        MODEL,
        "save_weights",
        Change.PROVIDED,
        "parallel_compat.legacy.models.save_weights",
        method=True,
        note="Keras 3 writes weights to names that end in `.weights.h5` only.",
    ),
    Member(
        MODEL,
        "load_weights",
        Change.PROVIDED,
        "parallel_compat.legacy.models.load_weights",
        method=True,
        note="Keras 3 reads weights from files with a few suffixes only.",
    ),
    Member(
        MODEL,
        "save",
        Change.PROVIDED,
        "parallel_compat.legacy.models.save_model",
        method=True,
        note="Keras 3 writes models to `.keras`, `.h5` and `.hdf5` files only.",
    ),
    Member(MODEL, "input_names", Change.PROVIDED, "parallel_compat.legacy.models.input_names"),
    Member(
        MODEL,
        "to_yaml",
        Change.GONE,
        method=True,
        note="Keras dropped YAML because loading it could run code. Use `model.to_json()`.",
    ),
    Member(
        MODEL,
        "container_nodes",
        Change.GONE,
        note=_NODES,
    ),
    Member(MODEL, "total_loss", Change.GONE, note=_GRAPH + " Override `train_step`."),
    Member(MODEL, "targets", Change.GONE, note=_GRAPH + " Override `train_step`."),
    Member(MODEL, "sample_weights", Change.GONE, note=_GRAPH + " Override `train_step`."),
    Member(MODEL, "_feed_targets", Change.GONE, note=_GRAPH + " Override `train_step`."),
    Member(MODEL, "_feed_sample_weights", Change.GONE, note=_GRAPH + " Override `train_step`."),
    Member(
        MODEL,
        "_standardize_user_data",
        Change.GONE,
        method=True,
        note="It was an internal of Keras 2. Give arrays, in the order of the model's inputs and outputs.",
    ),
    Member(
        MODEL,
        "metrics_tensors",
        Change.GONE,
        note=_GRAPH + " Use a metric in `compile`.",
    ),
    Member(MODEL, "uses_learning_phase", Change.GONE, note=_GRAPH + " Pass `training=` to the call."),
    *(
        Member(MODEL, name, Change.GONE, note="It was an internal of Keras 2. Use `model.inputs` and `model.outputs`.")
        for name in ("_input_layers", "_output_layers")
    ),
    Member(
        MODEL,
        "_collected_trainable_weights",
        Change.GONE,
        note="It was an internal of Keras 2. Keep `list(model.trainable_weights)` where the model is compiled.",
    ),
    Member(MODEL, "_is_compiled", Change.RENAMED, "compiled"),
    Member(MODEL, "_feed_inputs", Change.RENAMED, "inputs"),
    Member(MODEL, "_feed_input_names", Change.PROVIDED, "parallel_compat.legacy.models.input_names"),
    Member(MODEL, "_layers_by_depth", Change.GONE, note="It was an internal of Keras 2. Use `model.layers`."),
    Member(MODEL, "_make_train_function", Change.GONE, method=True, note="Use `model.make_train_function()`."),
    Member(
        MODEL,
        "_make_predict_function",
        Change.GONE,
        method=True,
        note="Remove it: the model is ready once built.",
    ),
    Member(
        MODEL,
        "_make_test_function",
        Change.GONE,
        method=True,
        note="Remove it: the model is ready once built.",
    ),
    Member(OPTIMIZER, "lr", Change.RENAMED, "learning_rate"),
    Member(OPTIMIZER, "get_updates", Change.GONE, method=True, note=_GRAPH + " Use `optimizer.apply(gradients)`."),
    Member(OPTIMIZER, "get_gradients", Change.GONE, method=True, note=_GRAPH + " Use `tf.GradientTape`."),
    Member(
        OPTIMIZER,
        "get_weights",
        Change.GONE,
        method=True,
        note="Use `[v.numpy() for v in optimizer.variables]`.",
    ),
    Member(
        OPTIMIZER,
        "set_weights",
        Change.GONE,
        method=True,
        note="Build the optimizer, then assign to each of `optimizer.variables`.",
    ),
    Member(OPTIMIZER, "weights", Change.RENAMED, "variables"),
    # Not `get_slot_names`: checkpoints of TensorFlow have it as well.
    *(
        Member(OPTIMIZER, old, Change.PROVIDED, f"parallel_compat.legacy.optimizer_methods.{new}", method=True)
        for old, new in (
            ("minimize", "minimize"),
            ("get_slot", "get_slot"),
            ("_compute_gradients", "compute_gradients"),
            ("compute_gradients", "compute_gradients"),  # of `tf.train`'s
            ("_get_hyper", "get_hyper"),
            ("_set_hyper", "set_hyper"),
        )
    ),
    Member(
        CALLBACK,
        "model",
        Change.PROVIDED,
        "parallel_compat.legacy.callbacks.Callback",
        note="`Callback.model` can no longer be assigned to.",
    ),
    Member(
        CALLBACK,
        "validation_data",
        Change.GONE,
        note="Keras 3 does not hand the validation data to callbacks. Pass it to the callback's constructor.",
    ),
    Member(CHECKPOINT, "period", Change.PROVIDED, "parallel_compat.legacy.callbacks.ModelCheckpoint"),
    Member(
        CHECKPOINT,
        "epochs_since_last_save",
        Change.PROVIDED,
        "parallel_compat.legacy.callbacks.ModelCheckpoint",
    ),
    Member(CHECKPOINT, "monitor_op", Change.PROVIDED, "parallel_compat.legacy.callbacks.ModelCheckpoint"),
    Member(LAYER, "output_shape", Change.PROVIDED, "parallel_compat.legacy.layers.output_shape"),
    Member(LAYER, "input_shape", Change.PROVIDED, "parallel_compat.legacy.layers.input_shape"),
    Member(INPUT_LAYER, "input", Change.PROVIDED, "parallel_compat.legacy.layers.input_tensor"),
    Member(LAYER, "batch_input_shape", Change.PROVIDED, "parallel_compat.legacy.layers.input_shape"),
    Member(
        LAYER,
        "compute_output_signature",
        Change.PROVIDED,
        "parallel_compat.legacy.output_shapes.compute_output_signature",
        method=True,
    ),
    Member(LAYER, "input_mask", Change.PROVIDED, "parallel_compat.legacy.output_shapes.input_mask"),
    Member(LAYER, "output_mask", Change.PROVIDED, "parallel_compat.legacy.output_shapes.output_mask"),
    Member(LAYER, "_name", Change.RENAMED, "name"),
    Member(LAYER, "inbound_nodes", Change.GONE, note=_NODES),
    Member(LAYER, "outbound_nodes", Change.GONE, note=_NODES),
    Member(LAYER, "updates", Change.GONE, note=_GRAPH + " Keras 3 applies them while the layer is called."),
    Member(LAYER, "get_updates_for", Change.GONE, method=True, note=_GRAPH + " Keras 3 applies updates in the call."),
    Member(LAYER, "get_losses_for", Change.GONE, method=True, note=_GRAPH + " Read `losses` after a call."),
    Member(LAYER, "get_output_at", Change.GONE, method=True, note=_NODES),
    Member(LAYER, "get_input_at", Change.GONE, method=True, note=_NODES),
    Member(LAYER, "get_output_shape_at", Change.GONE, method=True, note=_NODES),
    Member(LAYER, "get_input_shape_at", Change.GONE, method=True, note=_NODES),
    Member(
        LAYER,
        "add_update",
        Change.PROVIDED,
        "parallel_compat.legacy.updates.add_update",
        method=True,
        note="Assign to the variable in `call` (`self.moving.assign(...)`).",
    ),
    *(
        Member(LAYER, name, Change.GONE, method=True, note=_NODES)
        for name in ("get_input_mask_at", "get_output_mask_at")
    ),
    Member(LAYER, "assert_input_compatibility", Change.GONE, method=True, note="Keras 3 checks inputs in each call."),
    Member(LAYER, "stateful", Change.GONE, note="Only recurrent layers of Keras 3 have it."),
    Member(LAYER, "dynamic", Change.GONE, note="Compile the model with `run_eagerly=True`."),
    Member(LAYER, "apply", Change.GONE, method=True, note="Call the layer: `layer(x)`."),
    *(
        Member(LAYER, name, Change.GONE, method=name != "submodules", note="Only a `tf.Module` has it.")
        for name in ("name_scope", "submodules", "with_name_scope")
    ),
    *(
        Member(MODEL, name, Change.GONE, note="Keep the arguments of `compile`; `model.get_compile_config()` has it.")
        for name in ("loss_functions", "loss_weights", "sample_weight_mode", "sample_weight_modes", "weighted_metrics")
    ),
    *(
        Member(MODEL, name, Change.GONE, note=_GRAPH + " Keras 3 updates metrics and states in the step.")
        for name in ("metrics_updates", "state_updates", "stateful_metric_functions", "stateful_metric_names")
    ),
    Member(MODEL, "run_internal_graph", Change.GONE, method=True, note="Call the model: `model(inputs)`."),
    *(
        Member(
            OPTIMIZER, name, Change.GONE, note="Give `learning_rate` a `keras.optimizers.schedules.InverseTimeDecay`."
        )
        for name in ("decay", "initial_decay")
    ),
    Member(OPTIMIZER, "updates", Change.GONE, note=_GRAPH + " Use `optimizer.apply(gradients)`."),
    Member(OPTIMIZER, "add_slot", Change.GONE, method=True, note="Use `add_variable_from_reference` in `build`."),
    Member(OPTIMIZER, "add_weight", Change.GONE, method=True, note="Use `add_variable` in `build`."),
    Member(OPTIMIZER, "get_slot_names", Change.GONE, method=True, note="Look at the names of `optimizer.variables`."),
    Member(TENSOR, "_keras_shape", Change.RENAMED, "shape"),
    Member(TENSOR, "get_shape", Change.RENAMED, "shape", method=True),
    Member(TENSOR, "_keras_history", Change.GONE, note="Keras 3 keeps it private, with other fields."),
    *(Member(NODE, name, Change.GONE, note="Read the mask in the `call` of a layer.") for name in _MASKS_OF_CALLS),
    Member(TENSOR, "_uses_learning_phase", Change.GONE, note=_GRAPH + " Pass `training=` to the call."),
)


@cache
def members() -> dict[str, tuple[Member, ...]]:
    """Return the rows by name: one name may belong to several kinds of objects."""
    table: dict[str, tuple[Member, ...]] = {}
    for row in _MEMBERS:
        table[row.old] = (*table.get(row.old, ()), row)
    return table
