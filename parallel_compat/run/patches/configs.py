"""Configs as their time wrote and read them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.names.eras import Era
from parallel_compat.run import callers
from parallel_compat.run.patches.constructors import takes_argument
from parallel_compat.run.patches.wrapping import like

if TYPE_CHECKING:
    from types import FrameType

    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches, keras: Any) -> None:
    """Let the user's code read configurations, and make objects of them, as its era spelled them."""
    why = "configurations as the era spelled them"
    kinds = [kind for kind in vars(keras.layers).values() if isinstance(kind, type)]
    spelled = [
        kind for kind in kinds if takes_argument(kind, "activation") or takes_argument(kind, "pointwise_initializer")
    ]
    owners = {next(each for each in kind.__mro__ if "get_config" in vars(each)) for kind in spelled}
    for owner in sorted(owners - {keras.Layer}, key=lambda owner: str(owner.__name__)):
        patches.wrap(owner, "get_config", _config_as_in_era, why=why)
    patches.wrap(keras.initializers.VarianceScaling, "get_config", _config_as_in_era, why=why)
    for name in ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam", "Ftrl"):
        patches.wrap(getattr(keras.optimizers, name), "get_config", _config_of_optimizer, why=why)
    owners = {next(each for each in kind.__mro__ if "from_config" in vars(each)) for kind in kinds}
    for owner in sorted(owners, key=lambda owner: str(owner.__name__)):
        patches.wrap(owner, "from_config", _from_config_of_era, why=why)


def _config_as_in_era(original: Any) -> Any:
    @like(original)
    def get_config(self: Any) -> Any:
        config = original(self)
        frame = callers.user_frame(sys._getframe(1))
        era = Era.TODAY if frame is None else callers.era_of(frame)
        # What a `get_config` of the user's adds to may be written to a file.
        if era is Era.TODAY or frame is None or frame.f_code.co_name == "get_config":
            return config
        from parallel_compat.legacy import config_spelling

        return config_spelling.as_in_era(type(self).__name__, config, era)

    return get_config


def _config_of_optimizer(original: Any) -> Any:
    @like(original)
    def get_config(self: Any) -> Any:
        config = original(self)
        asking: FrameType | None = sys._getframe(1)
        while asking is not None and asking.f_code.co_name == "_config":  # what an object has instead of the method
            asking = asking.f_back
        frame = callers.user_frame(asking)
        era = Era.TODAY if frame is None else callers.era_of(frame)
        if era is Era.TODAY or frame is None or frame.f_code.co_name == "get_config":
            return config
        from parallel_compat.legacy.numbers import optimizer_steps

        return optimizer_steps.config_in_era(self, config, era)

    return get_config


def _from_config_of_era(original: Any) -> Any:
    def from_config(cls: Any, config: Any, *given: Any, **keywords: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        if isinstance(config, dict) and frame is not None and callers.era_of(frame) is not Era.TODAY:
            from parallel_compat.legacy import config_spelling

            config = config_spelling.as_today(config)
        elif isinstance(config, dict) and "pointwise_initializer" in config:  # `layers.deserialize` of an old one
            config = {name: value for name, value in config.items() if name != "kernel_initializer"}
        return original.__func__(cls, config, *given, **keywords)

    return classmethod(from_config)
