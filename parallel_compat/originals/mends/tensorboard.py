"""TensorBoard: its projector of `tf.contrib`, and the state of summaries.

Seen in TensorBoard and TensorFlow 2.18 to 2.21.
"""

from __future__ import annotations

from typing import Any

from parallel_compat.names.eras import Era
from parallel_compat.originals.mends.register import Register

# Attributes of the context, and what they are called today.
_STATE = {
    "summary_writer": "writer",
    "summary_recording": "is_recording",
    "summary_recording_distribution_strategy": "is_recording_distribution_strategy",
    "summary_step": "step",
}
_CALLBACKS = {Era.KERAS_2_2_4: "keras.callbacks", Era.KERAS_2_3: "keras.callbacks.tensorboard_v1"}


def apply(mends: Register) -> None:
    """Let Keras's callback import the projector from where it is, and the context have the state."""
    if mends.era in _CALLBACKS:
        mends.edit(
            _CALLBACKS[mends.era],
            "from tensorflow.contrib.tensorboard.plugins import projector",
            "from tensorboard.plugins import projector",
        )
    if not mends.is_tensorflow_1:
        return
    # Today a profiler is told where to write when it starts.
    start = "summary_ops_v2.trace_on(graph=True, profiler=True{})"
    where = ", profiler_outdir=os.path.join(self.log_dir, 'train')"
    mends.edit("tensorflow.python.keras.callbacks", start.format(""), start.format(where), times=2)
    from tensorflow.python.eager import context
    from tensorflow.python.ops import summary_ops_v2

    def shared(name: str) -> property:
        def write(self: Any, value: Any) -> None:
            setattr(summary_ops_v2._summary_state, name, value)

        return property(lambda self: getattr(summary_ops_v2._summary_state, name), write)

    mends.add(context.Context, **{old: shared(new) for old, new in _STATE.items()})
