"""`parallel_compat.install()`: old Keras in a process that `parallel-compat run` did not start."""

from __future__ import annotations

from parallel_compat.names.eras import Era


def install(*, era: str | None = None, replicas: int | None = None, allow_lambdas: bool = False) -> None:
    """Make `keras` and `tensorflow` those of an old project, from their first import on.

    Call it before TensorFlow is imported: a process has one Keras. The old library's code is fetched once.

    Examples:
        ```python
        import parallel_compat
        parallel_compat.install(era="keras-2.2.4")
        from keras.utils import multi_gpu_model
        ```

    Args:
        era: `"keras-2.2.4"`, `"keras-2.3"`, `"tf.keras-1.15"` or `"tf.keras-2.2"`. Default: decided by the main script
            and the files beside it.
        replicas: number of GPUs to simulate if there are fewer. Default: none.
        allow_lambdas: let `load_model` execute the code of Lambda layers.

    Raises:
        ValueError: if `era` is another string, or the main script does not show its era.
        RuntimeError: if TensorFlow or Keras is imported already, or another era was installed.
    """
    from parallel_compat.originals import activate
    from parallel_compat.originals.settings import Settings

    chosen, tensorflow = _chosen(era)
    activate.activate(Settings(chosen, replicas=replicas, allow_lambdas=allow_lambdas, tensorflow=tensorflow))


def _chosen(name: str | None) -> tuple[Era, int]:
    """Return the era, and the TensorFlow that the main script was written for."""
    expected = ", ".join(f'"{era}"' for era in Era if era is not Era.TODAY)
    if name is None:
        from parallel_compat.names.project_era import era_of_project
        from parallel_compat.run import users_code

        script = users_code.main_script()
        decision = era_of_project(script=script) if script else None
        if decision is None or decision.era is Era.TODAY:
            raise ValueError(
                f"Expected one of {expected} as `era`. Received: none, and {script or 'no script'} names none"
            )
        return decision.era, decision.tensorflow
    if name == Era.TODAY.value or name not in {each.value for each in Era}:
        raise ValueError(f"Expected one of {expected} as `era`. Received: era={name!r}")
    return Era(name), 1
