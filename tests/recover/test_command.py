"""`parallel-compat inspect` and `recover`: what they print, their exit codes, and what they never import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from parallel_compat.command import main

SOURCE = Path(__file__).parent.parent / "data" / "oracle" / "h5" / "sgd_uneven_last_batch.parallel.h5"


def test_inspect_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(SOURCE)]) == 0
    said = capsys.readouterr().out
    for what in (
        "whole model",
        "a parallel model over 4 devices",
        "Keras 2.2.4",
        "hidden",
        "(8, 16), (16,)",
        "195",
        "SGD",
    ):
        assert what in said


def test_inspect_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "--json", str(SOURCE)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["form"], found["parallel"][0]["gpus"], found["parameters"]) == ("model", 4, 195)
    assert [layer["name"] for layer in found["layers"]] == ["x", "hidden", "probs"]
    assert found["optimizer_arrays"] == 5


@pytest.mark.parametrize("arguments", [["inspect"], ["recover", "-o", "out.h5"]])
def test_a_bad_file_is_exit_2(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.h5").write_bytes(b"nothing")
    assert main([arguments[0], str(tmp_path / "bad.h5"), *arguments[1:]]) == 2
    assert "not an HDF5 file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("out", "options", "said"),
    [
        ("out.pb", [], "Received"),
        ("out.keras", ["--weights-only"], "weights only write"),
        ("no/where/out.h5", [], "is not there"),
    ],
)
def test_an_impossible_output_is_refused(
    out: str, options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["recover", str(SOURCE), "-o", str(tmp_path / out), *options]) == 2
    assert said in capsys.readouterr().err


def test_max_bytes_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recover", str(SOURCE), "-o", str(tmp_path / "out.h5"), "--max-bytes", "100"]) == 2
    assert "--max-bytes" in capsys.readouterr().err


WATCHED = """
import sys
from parallel_compat.command import main
code = main(sys.argv[1:])
heavy = sorted({name.split(".")[0] for name in sys.modules} & {"tensorflow", "keras", "jax", "torch"})
print("heavy:", heavy)
sys.exit(code)
"""


@pytest.mark.parametrize(
    "arguments",
    [["inspect"], ["recover", "--weights-only", "-o", "out.h5"], ["recover", "--weights-only", "-o", "w.hdf5"]],
)
def test_neither_keras_nor_tensorflow_is_imported(arguments: list[str], tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", WATCHED, arguments[0], str(SOURCE), *arguments[1:]],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={"PYTHONPATH": str(Path(__file__).parent.parent.parent), "PATH": ""},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "heavy: []" in run.stdout


def test_no_deserializer_of_code_is_used() -> None:
    """Nothing in the package that reads files names a function that could run what is in them."""
    import ast

    import parallel_compat.recover as package

    forbidden = {"marshal", "pickle", "eval", "exec", "cloudpickle", "dill", "func_load", "literal_eval"}
    for path in Path(str(package.__file__)).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {
            one.name for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)) for one in node.names
        }
        assert not names & forbidden, path


def config_with(path: Path, more: dict[str, object]) -> Path:
    """Write the example file with further arguments in the config of its layer "hidden"."""
    import h5py

    path.write_bytes(SOURCE.read_bytes())
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        template = next(layer for layer in config["config"]["layers"] if layer["name"] == "mlp")
        next(layer for layer in template["config"]["layers"] if layer["name"] == "hidden")["config"].update(more)
        file.attrs["model_config"] = json.dumps(config).encode()
    return path


def test_what_there_is_too_much_of_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = config_with(tmp_path / "in.h5", {f"k{number}": 1 for number in range(1000)})
    assert main(["inspect", str(source)]) == 0
    said = capsys.readouterr().out
    assert "... and 960 more" in said
    assert len(said) < 20_000
    assert main(["inspect", "--json", str(source)]) == 0
    assert len(json.loads(capsys.readouterr().out)["refused"]) == 1000


def test_a_file_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = config_with(tmp_path / "in.h5", {"activation": "\x1b[2J\x07evil"})
    assert main(["inspect", str(source)]) == 0
    assert main(["recover", str(source), "-o", str(tmp_path / "out.h5")]) == 0
    said = capsys.readouterr()
    assert "evil" in said.out + said.err
    assert "\x1b" not in said.out + said.err
    assert "\x07" not in said.out + said.err


def test_an_existing_output_needs_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.h5"
    assert main(["recover", str(SOURCE), "-o", str(out)]) == 0
    before = out.stat().st_ino
    assert main(["recover", str(SOURCE), "-o", str(out)]) == 2
    assert "--force" in capsys.readouterr().err
    assert out.stat().st_ino == before
    assert main(["recover", str(SOURCE), "-o", str(out), "--force"]) == 0
    assert out.stat().st_ino != before


@pytest.mark.parametrize("suffix", [".h5", ".hdf5", ".weights.h5"])
def test_weights_only_leaves_out_the_config(suffix: str, tmp_path: Path) -> None:
    import h5py

    out = tmp_path / f"out{suffix}"
    assert main(["recover", str(SOURCE), "-o", str(out), "--weights-only"]) == 0
    with h5py.File(out) as file:
        assert "model_config" not in file.attrs


def test_keep_lambda_keeps_it_as_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import h5py

    source = SOURCE.parent.parent.parent / "old" / "keras224_own_lambda.parallel.h5"
    out = tmp_path / "out.h5"
    assert main(["recover", str(source), "-o", str(out)]) == 2
    assert "--keep-lambda" in capsys.readouterr().err
    assert main(["recover", str(source), "-o", str(out), "--keep-lambda"]) == 0
    assert "safe_mode" in capsys.readouterr().err
    with h5py.File(out) as file:
        layers = json.loads(file.attrs["model_config"])["config"]["layers"]
    assert [layer["name"] for layer in layers if layer["class_name"] == "Lambda"] == ["double"]


def test_max_bytes_lets_more_through(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import h5py
    import numpy as np

    with h5py.File(tmp_path / "packed.h5", "w") as file:
        file.attrs["layer_names"], file.attrs["keras_version"] = [b"a"], b"2.2.4"
        file.create_group("a").attrs["weight_names"] = [b"k:0"]
        file["a"].create_dataset("k:0", data=np.zeros(10 << 20, "f4"), compression="gzip")
    arguments = ["recover", str(tmp_path / "packed.h5"), "-o", str(tmp_path / "out.h5")]
    assert main(arguments) == 2
    assert main([*arguments, "--max-bytes", str(1 << 26)]) == 0


@pytest.mark.parametrize(
    ("files", "asked", "said"),
    [
        (["sm/saved_model.pb"], "sm", "Received: a SavedModel folder. `parallel_compat.legacy.models.load_model`"),
        (["w.index", "w.data-00000-of-00001"], "w", "load_weights(model, 'w')"),
        (["w.index", "w.data-00000-of-00001"], "w.data-00000-of-00001", "load_weights(model, 'w')"),
        (["w.index", "w.meta"], "w.meta", "a TensorFlow 1 session. Load it in the code that wrote it"),
        ([], "w", "no such file"),
    ],
)
def test_what_tensorflow_wrote_is_named_with_what_reads_it(
    files: list[str],
    asked: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in files:
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_bytes(b"\x00" * 40)
    assert main(["recover", asked, "-o", "out.keras"]) == 2
    assert said in capsys.readouterr().err
