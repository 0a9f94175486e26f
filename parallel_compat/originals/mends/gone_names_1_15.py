"""Names that TensorFlow removed after 1.15, and that only its `tf.keras` and `tf.contrib` use."""

from __future__ import annotations

import pathlib
import shutil
import tempfile
from typing import Any

from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    if not mends.is_tensorflow_1:
        return
    from tensorflow.python import pywrap_tensorflow
    from tensorflow.python.distribute import distribute_lib
    from tensorflow.python.eager import context, execute, profiler
    from tensorflow.python.framework import common_shapes, op_def_registry, ops, tensor, test_util
    from tensorflow.python.ops import summary_ops_v2
    from tensorflow.python.tpu import tpu_strategy_util
    from tensorflow.python.training.experimental import loss_scale

    mends.add(
        distribute_lib.StrategyBase,
        experimental_run_v2=distribute_lib.StrategyBase.run,
        _in_multi_worker_mode=lambda strategy: strategy.extended._in_multi_worker_mode(),
    )
    refused = _refuses("initialize_tpu_system", "migrate the script: tf.distribute.TPUStrategy")
    mends.add(tpu_strategy_util, initialize_tpu_system=refused)
    mends.add(pywrap_tensorflow, TF_TryEvaluateConstant_wrapper=_evaluate)
    mends.add(context, list_devices=lambda: [device.name for device in context.context().list_logical_devices()])
    mends.around(execute, "record_gradient", _of_five_arguments)
    mends.add(profiler, start=_Profile.start, stop=_Profile.stop, save=_Profile.save)
    mends.add(ops, RegisterShape=lambda op_type: lambda function: function)  # shapes are C++'s since TensorFlow 1.4
    mends.add(
        common_shapes,
        call_cpp_shape_fn=None,
        has_fully_defined_shape=lambda x: x.shape.is_fully_defined(),
        rank=lambda x: x.shape.rank if isinstance(x, tensor.Tensor) else None,
    )
    mends.add(op_def_registry, get_registered_ops=_Operations)
    mends.add(summary_ops_v2, create_db_writer=_refuses("create_db_writer", "use create_file_writer"))
    mends.add(loss_scale, get_loss_scale_weights=lambda scale: scale._weights.values())
    mends.add(test_util, use_deterministic_cudnn=lambda function: function)


def _of_five_arguments(record: Any, op_type: Any, inputs: Any, attributes: Any, outputs: Any, name: Any = None) -> Any:
    """Let the name of the operation be passed last."""
    return record(op_type, inputs, attributes, outputs)


def _evaluate(graph: Any, output: Any) -> Any:
    from tensorflow.python.client import pywrap_tf_session

    with graph.get() as held:
        return pywrap_tf_session.TF_TryEvaluateConstant_wrapper(held, output)


def _refuses(name: str, instead: str) -> Any:
    def refuses(*args: Any, **options: Any) -> Any:
        raise NotImplementedError(f"{name} was removed from TensorFlow. What to do: {instead}.")

    return refuses


class _Operations:
    """What `get_registered_ops` returned: a dictionary of all operations, here only for look-ups."""

    def __contains__(self, name: str) -> bool:
        from tensorflow.python.framework import op_def_registry

        return op_def_registry.get(name) is not None

    def __getitem__(self, name: str) -> Any:
        from tensorflow.python.framework import op_def_registry

        found = op_def_registry.get(name)
        if found is None:
            raise KeyError(name)
        return found


class _Profile:
    """The profiler whose results are saved when it has stopped; today's wants the folder when it starts."""

    folder = ""

    @staticmethod
    def start() -> None:
        from tensorflow.python.profiler import profiler_v2

        _Profile.folder = tempfile.mkdtemp()
        profiler_v2.start(_Profile.folder)

    @staticmethod
    def stop() -> str:
        from tensorflow.python.profiler import profiler_v2

        profiler_v2.stop()
        return _Profile.folder

    @staticmethod
    def save(logdir: str, result: str) -> None:
        shutil.copytree(pathlib.Path(result), pathlib.Path(logdir), dirs_exist_ok=True)
        shutil.rmtree(result)
