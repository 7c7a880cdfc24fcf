"""A user's own script type-checks against the package, without knowing its insides."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
# What NumPy's and others' own types leave open isn't the user's to mend.
RULES = {
    "typeCheckingMode": "strict",
    "reportUnknownMemberType": False,
    "reportUnknownArgumentType": False,
    "reportUnknownVariableType": False,
    "reportUnknownLambdaType": False,
}


@pytest.mark.slow
def test_it_type_checks_strictly(tmp_path):
    (tmp_path / "script.py").write_text((HERE / "script.py").read_text())
    settings = {**RULES, "extraPaths": [str(SOURCE)], "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    checker = [
        sys.executable,
        "-m",
        "basedpyright",
        "--pythonpath",
        sys.executable,
        "--outputjson",
        "-p",
        ".",
    ]
    answer = subprocess.run(checker, cwd=tmp_path, capture_output=True, text=True, env={**os.environ})
    found = json.loads(answer.stdout)["generalDiagnostics"]
    told = [
        f"{each['range']['start']['line'] + 1}: {each['message']}"
        for each in found
        if each["severity"] == "error"
    ]
    assert not told, "\n".join(told)


def test_it_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.syspath_prepend(str(HERE))
    import script  # pyright: ignore[reportMissingImports]

    script.main(tmp_path)
    assert "nothing.yaml" in capsys.readouterr().out
