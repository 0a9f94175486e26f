"""Configs as their time wrote and read them."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.backend.keras3 import h5_files, patch_points
from parallel_compat.names.eras import Era
from parallel_compat.run import callers, object_eras
from parallel_compat.run.patches.wrapping import like

if TYPE_CHECKING:
    from types import FrameType

    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches, keras: Any) -> None:
    """Let the user's code read configurations, and make objects of them, as its era spelled them."""
    why = "configurations as the era spelled them"
    kinds = [kind for kind in vars(keras.layers).values() if isinstance(kind, type)] + patch_points.kept_layers()
    owners = {next(each for each in kind.__mro__ if "get_config" in vars(each)) for kind in kinds}
    # That of a Lambda holds its function itself.
    for owner in sorted(owners - {keras.Model, keras.layers.Lambda}, key=lambda owner: str(owner.__name__)):
        patches.wrap(owner, "get_config", _config_as_in_era, why=why)
    parts = [*vars(keras.initializers).values(), *vars(keras.regularizers).values()]
    for part in dict.fromkeys(each for each in parts if isinstance(each, type) and "get_config" in vars(each)):
        patches.wrap(part, "get_config", _config_of_part, why=why)
    patches.wrap(keras.initializers.Initializer, "from_config", _initializer_of_old, why="`dtype`, and `normal`")
    for name in ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam", "Ftrl"):
        patches.wrap(getattr(keras.optimizers, name), "get_config", _config_of_optimizer, why=why)
    for owner, name, wrap in h5_files.of_values_as_written():
        patches.wrap(owner, name, wrap, why="layers come back from configurations with the values that these have")
    owners = {next(each for each in kind.__mro__ if "from_config" in vars(each)) for kind in kinds}
    for owner in sorted(owners, key=lambda owner: str(owner.__name__)):
        patches.wrap(owner, "from_config", _from_config_of_era, why=why)


def _config_as_in_era(original: Any) -> Any:
    @like(original)
    def get_config(self: Any) -> Any:
        from parallel_compat.legacy import config_spelling

        try:
            config = original(self)
        except NotImplementedError:
            # Keras 3 asks a class without `get_config` for arguments that a file can hold, as tf.keras did. Keras 2.2.4
            # wrote this of any layer, and read it again with the arguments' defaults.
            if not object_eras.era_of_object(self).is_standalone:
                raise
            config = {"trainable": self.trainable}
        if not isinstance(config, dict):
            return config
        if "trainable" in config and object_eras.era_of_object(self).is_standalone:
            from parallel_compat.legacy import own_trainable

            config = own_trainable.in_config(self, config)
        # Keras 3 leaves it out for a class without `get_config` whose `__init__` has no `**kwargs` of that name.
        return config_spelling.for_asker(self, {"name": self.name, **config}, sys._getframe(1))

    return get_config


def _config_of_part(original: Any) -> Any:
    @like(original)
    def get_config(self: Any) -> Any:
        from parallel_compat.legacy import config_spelling

        config = original(self)
        frame = config_spelling.asking(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY:
            return config
        return config_spelling.of_form({"class_name": type(self).__name__, "config": config}, era)["config"]

    return get_config


def _initializer_of_old(original: Any) -> Any:
    """`Initializer.from_config`, also of a configuration inside that of a layer of the user's."""

    def from_config(cls: Any, config: Any) -> Any:
        if cls.__module__.partition(".")[0] == "keras" and isinstance(config, dict):
            from parallel_compat.legacy import config_spelling

            config = config_spelling.initializer_of_today({"config": config})["config"]
        return original.__func__(cls, config)

    return classmethod(from_config)


def _config_of_optimizer(original: Any) -> Any:
    @like(original)
    def get_config(self: Any) -> Any:
        config = original(self)
        asking: FrameType | None = sys._getframe(1)
        while asking is not None and asking.f_code.co_name == "_config":  # what an object has instead of the method
            asking = asking.f_back
        frame = callers.user_frame(asking)
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY or frame is None or _is_its_own(frame, self):
            return config
        from parallel_compat.legacy.numbers import optimizer_steps

        return optimizer_steps.config_in_era(self, config, era)

    return get_config


def _is_its_own(frame: FrameType, of: Any) -> bool:
    """Say whether an object's own `get_config` asks for what its base class says, which may be for Keras."""
    code = frame.f_code
    return code.co_name == "get_config" and any(frame.f_locals.get(name) is of for name in code.co_varnames[:1])


def _from_config_of_era(original: Any) -> Any:
    def of_era(cls: Any, config: Any, frame: FrameType | None, given: Any, keywords: Any) -> Any:
        if isinstance(config, dict) and frame is not None and callers.era_of(frame) is not Era.TODAY:
            from parallel_compat.legacy import old_configs

            make = functools.partial(original.__func__, cls)
            return old_configs.make_layer(cls, config, lambda today: make(today, *given, **keywords))
        if isinstance(config, dict) and "pointwise_initializer" in config:  # `layers.deserialize` of an old one
            config = {name: value for name, value in config.items() if name != "kernel_initializer"}
        return original.__func__(cls, config, *given, **keywords)

    def from_config(cls: Any, config: Any, *given: Any, **keywords: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if not isinstance(config, dict) or "name" not in config or _takes_name(cls):
            return of_era(cls, config, frame, given, keywords)
        # A layer whose own `get_config` says no name: the graph of its model does. The layer has one of its own.
        without = {name: value for name, value in config.items() if name != "name"}
        return of_era(cls, without, frame, given, keywords)

    return classmethod(from_config)


def _takes_name(kind: Any) -> bool:
    parameters = inspect.signature(kind.__init__).parameters.values()
    return any(each.name == "name" or each.kind is each.VAR_KEYWORD for each in parameters)
