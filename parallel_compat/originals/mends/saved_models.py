"""SavedModel and checkpoints: the methods that TensorFlow calls on layers and models today.

Layers told their functions and further parts by methods of their own, and their configuration in the saved object's
metadata. TensorFlow asks for all by `_trackable_children` and writes no metadata. `load_model` extends TensorFlow's
loader, whose methods have got an argument more.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from parallel_compat.originals.mends.register import Register, named

_KERAS = "tensorflow.python.keras."


def apply(mends: Register) -> None:
    from tensorflow.python.checkpoint import checkpoint
    from tensorflow.python.saved_model import constants, load, nested_structure_coder, save
    from tensorflow.python.trackable import autotrackable, base

    def functions(self: Any, cache: Any) -> dict[str, Any]:
        children = autotrackable.AutoTrackable._trackable_children(self, "savedmodel", cache=cache)
        return {name: child for name, child in children.items() if _is_function(child)}

    mends.add(base.Trackable, _list_extra_dependencies_for_serialization=lambda self, cache: {})
    mends.add(base.Trackable, _list_functions_for_serialization=lambda self, cache: {})
    autotrackable.AutoTrackable._list_functions_for_serialization = functions
    mends.around(base.Trackable, "_gather_saveables_for_checkpoint", _also_of_tensors)
    mends.around(save, "_write_object_proto", _with_metadata)
    mends.around(load.Loader, "_recreate_user_object", _with_the_originals_optimizers)
    # TensorFlow asked tf.keras for the session that saves in a graph; Keras 3 has none.
    mends.after(f"{_KERAS}backend", lambda module: checkpoint.register_session_provider(module.get_session))
    mends.add(load, load_internal=_load)
    mends.add(constants, SAVED_MODEL_FILENAME_JSON="saved_model.json")
    # Its methods are functions of the module today.
    mends.add(nested_structure_coder, StructureCoder=lambda: nested_structure_coder)
    for layers in ("base_layer", "base_layer_v1"):
        mends.after(f"{_KERAS}engine.{layers}", _lists_children)
    mends.after(f"{_KERAS}engine.network", lambda module: _looks_up_by_name(module.Network))
    mends.after(
        "tensorflow.python.training.experimental.loss_scale", lambda module: _looks_up_by_name(module.LossScale)
    )
    mends.after(f"{_KERAS}saving.saved_model.load", _extends_todays_loader)
    # The argument may be among those that can only be named already; a signature that has it twice is refused today.
    others = "[name for name in arg_spec.kwonlyargs if name != 'training']"
    mends.edit(f"{_KERAS}saving.saved_model.utils", "kwonlyargs = arg_spec.kwonlyargs", f"kwonlyargs = {others}")


def _is_function(value: Any) -> bool:
    from tensorflow.python.eager import def_function, function

    return isinstance(value, (def_function.Function, function.ConcreteFunction))


def _lists_children(module: ModuleType) -> None:
    """Let layers list what is saved in the old order: their parts, further parts, functions."""

    def _trackable_children(self: Any, save_type: str = "checkpoint", **options: Any) -> dict[str, Any]:
        cache = options.get("cache")
        functions = self._list_functions_for_serialization(cache) if save_type == "savedmodel" else {}
        extra = self._list_extra_dependencies_for_serialization(cache) if save_type == "savedmodel" else {}
        # A function that is an attribute is a child today; then it was not.
        children = {name: child for name, child in self._checkpoint_dependencies if not _is_function(child)}
        return {**functions, **children, **extra}

    module.Layer._trackable_children = _trackable_children


def _also_of_tensors(gather: Any, self: Any) -> Any:
    """Give tables of words the old method that returns what saves them."""
    from tensorflow.python.training.saving import saveable_object_util as util

    has_own = util.trackable_has_serialize_to_tensor(self)
    return util.saveable_objects_from_trackable(self) if has_own else gather(self)


def _looks_up_by_name(kind: Any) -> None:
    """TensorFlow passes the children that it knows already, too."""
    look_up = kind._lookup_dependency
    kind._lookup_dependency = lambda self, name, cached_dependencies=None: look_up(self, name)


def _with_metadata(write: Any, obj: Any, proto: Any, *args: Any) -> None:
    write(obj, proto, *args)
    metadata = getattr(obj, "_tracking_metadata", None) if proto.WhichOneof("kind") == "user_object" else None
    if metadata:
        proto.user_object.metadata = metadata


def _with_the_originals_optimizers(recreate: Any, self: Any, proto: Any, node_id: int) -> Any:
    """Optimizers of files are those of the original, not today's Keras's."""
    from tensorflow.python.saved_model import revived_types

    if proto.identifier != "optimizer":
        return recreate(self, proto, node_id)
    named(f"{_KERAS}optimizer_v2.optimizer_v2")
    return revived_types.deserialize(proto) or self._recreate_base_user_object(proto, node_id)


def _extends_todays_loader(module: ModuleType) -> None:
    from tensorflow.python.saved_model import load

    class Loader(load.Loader):  # type: ignore[misc]
        """Today's loader with the methods of the old one."""

        _expect_partial_checkpoint = False

        def __init__(self, objects: Any, saved_model: Any, folder: str) -> None:
            from tensorflow.python.checkpoint import checkpoint_options
            from tensorflow.python.saved_model import load_options

            options = load_options.LoadOptions(allow_partial_checkpoint=self._expect_partial_checkpoint)
            super().__init__(objects, saved_model, folder, checkpoint_options.CheckpointOptions(), options, None)

        def _recreate(self, proto: Any, node_id: int, nodes: Any = None) -> Any:
            return super()._recreate(proto, node_id, self._recreated if nodes is None else nodes)

    kind = module.KerasObjectLoader
    kind.__bases__ = (Loader,)
    if "_recreate" not in vars(kind):  # TensorFlow 1.15
        recreate_base = kind._recreate_base_user_object
        kind._recreate_base_user_object = lambda self, proto, node_id=None: recreate_base(self, proto)
        return
    recreate = kind._recreate

    def _recreate(self: Any, proto: Any, node_id: int, nodes: Any) -> Any:
        self._recreated = nodes
        return recreate(self, proto, node_id)

    kind._recreate = _recreate


def _load(export_dir: str, tags: Any = None, loader_cls: Any = None) -> Any:
    """Do as `load.load_internal` did."""
    from tensorflow.python.framework import ops
    from tensorflow.python.saved_model import load, loader_impl
    from tensorflow.python.util import nest

    saved_model, debug_info = loader_impl.parse_saved_model_with_debug_info(export_dir)
    graphs = saved_model.meta_graphs
    if loader_cls is None or len(graphs) != 1 or not graphs[0].HasField("object_graph_def"):
        return load.load(export_dir, tags)
    expected = set(graphs[0].meta_info_def.tags)
    if tags is not None and set(nest.flatten(tags)) != expected:
        raise ValueError(f"Expected tags {sorted(expected)}, those of {export_dir}. Received: {tags}.")
    with ops.init_scope():
        loader = loader_cls(graphs[0].object_graph_def, saved_model, export_dir)
        root = loader.get(0)
        root.graph_debug_info = loader.adjust_debug_info_func_names(debug_info)
    root.tensorflow_version = graphs[0].meta_info_def.tensorflow_version
    root.tensorflow_git_version = graphs[0].meta_info_def.tensorflow_git_version
    return root
