from __future__ import annotations

from parallel_compat.migrate.engine import Options, analyse
from tests.migrate.check import check_noop, check_transformed

TARGET = "parallel_compat.legacy.time_distributed"


def test_it_is_provided():
    before = """
        from keras.layers.core import Dense
        from keras.layers.wrappers import TimeDistributed as Each
        from keras import layers
        x = Each(Dense(3))(x)
        x = layers.TimeDistributed(layer=Dense(3))(x)
    """
    after = f"""
        from keras.layers import Dense
        from {TARGET} import TimeDistributed
        from {TARGET} import TimeDistributed as Each
        from keras import layers
        x = Each(Dense(3))(x)
        x = TimeDistributed(layer=Dense(3))(x)
    """
    check_transformed(before, after)


def test_in_a_file_without_anything_old_it_is_told_in_an_old_project_alone():
    analysis = analyse("from keras.layers import TimeDistributed\nx = TimeDistributed(layer)(x)\n", Options())
    assert {finding.rule for finding in analysis.findings} == {"time-distributed", "imports"}
    assert all(finding.hint for finding in analysis.findings)
    check_noop("from mine import TimeDistributed\nx = TimeDistributed(layer)(x)\n", rule="time-distributed")
    check_noop(f"from {TARGET} import TimeDistributed\nx = TimeDistributed(layer)(x)\n", rule="time-distributed")
