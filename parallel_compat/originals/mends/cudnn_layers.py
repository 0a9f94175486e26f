"""`CuDNNLSTM` and `CuDNNGRU`: without a GPU the plain layer's steps, on one TensorFlow's own kernel.

Their weights are those of LSTM and GRU with `recurrent_activation="sigmoid"`, and a second bias for the states
(https://docs.nvidia.com/deeplearning/cudnn: the gates of CUDNN_LSTM and CUDNN_GRU).
"""

from __future__ import annotations

import functools
import types
from types import ModuleType
from typing import Any

from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    for module in ("keras.layers.cudnn_recurrent", "tensorflow.python.keras.layers.cudnn_recurrent"):
        mends.after(module, functools.partial(_put_on, mends))
    if mends.is_standalone:
        mends.edit(
            "keras.layers.cudnn_recurrent",
            "from tensorflow.contrib.cudnn_rnn.python.ops import cudnn_rnn_ops",
            "cudnn_rnn_ops = _cudnn_rnn_ops",
            times=2,
        )


def _put_on(mends: Register, module: ModuleType) -> None:
    module._cudnn_rnn_ops = types.SimpleNamespace(CudnnLSTM=_kernel("lstm"), CudnnGRU=_kernel("gru"))  # type: ignore[attr-defined]
    for layer, step in ((module.CuDNNLSTM, _lstm_step), (module.CuDNNGRU, _gru_step)):
        mends.around(layer, "_process_batch", functools.partial(_batch_in_steps, module.K, step))


def _kernel(mode: str) -> Any:
    """Return what stands for `CudnnLSTM` and `CudnnGRU` of `tf.contrib`: one call of the kernel."""

    class Kernel:
        def __init__(self, **_: Any) -> None:
            pass

        def __call__(
            self, inputs: Any, input_h: Any, params: Any, input_c: Any = None, is_training: bool = True
        ) -> Any:
            import tensorflow as tf

            cells = input_c if input_c is not None else tf.constant([0.0])
            done = tf.raw_ops.CudnnRNN(
                input=inputs, input_h=input_h, input_c=cells, params=params, rnn_mode=mode, is_training=is_training
            )
            return (done.output, done.output_h, done.output_c)[: 3 if mode == "lstm" else 2]

    return Kernel


def _batch_in_steps(backend: Any, step: Any, kernel: Any, self: Any, inputs: Any, initial_state: Any) -> Any:
    import tensorflow as tf

    # Asked only here: before, it would end the time in which a script may turn on eager execution.
    if tf.compat.v2.config.list_physical_devices("GPU"):
        return kernel(self, inputs, initial_state)
    time_major = getattr(self, "time_major", False)
    steps = inputs.shape[0 if time_major else 1]
    options = {"input_length": getattr(steps, "value", steps), **({"time_major": True} if time_major else {})}
    make = functools.partial(step, backend, self)
    last, outputs, states = backend.rnn(make, inputs, list(initial_state), **options)
    return (outputs if self.return_sequences else last), list(states)


def _gates(backend: Any, layer: Any, x: Any, h: Any, count: int) -> tuple[list[Any], list[Any]]:
    """Return what the inputs and what the states give each gate."""
    units = layer.units
    of_inputs = backend.dot(x, layer.kernel) + layer.bias[: count * units]
    of_states = backend.dot(h, layer.recurrent_kernel) + layer.bias[count * units :]
    return tuple([sums[:, i * units : (i + 1) * units] for i in range(count)] for sums in (of_inputs, of_states))  # type: ignore[return-value]


def _lstm_step(backend: Any, layer: Any, x: Any, states: Any) -> tuple[Any, list[Any]]:
    h, c = states[:2]
    of_inputs, of_states = _gates(backend, layer, x, h, 4)
    i, f, g, o = (a + b for a, b in zip(of_inputs, of_states, strict=True))
    tanh, sigmoid = backend.tanh, backend.sigmoid
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    h = sigmoid(o) * tanh(c)
    return h, [h, c]


def _gru_step(backend: Any, layer: Any, x: Any, states: Any) -> tuple[Any, list[Any]]:
    h = states[0]
    (z_x, r_x, h_x), (z_h, r_h, h_h) = _gates(backend, layer, x, h, 3)
    sigmoid = backend.sigmoid
    z = sigmoid(z_x + z_h)
    candidate = backend.tanh(h_x + sigmoid(r_x + r_h) * h_h)
    h = z * h + (1 - z) * candidate
    return h, [h]
