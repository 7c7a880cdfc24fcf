"""The package's names: said once for type checkers, and loaded when somebody asks for them."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import trundle


@pytest.mark.parametrize("name", trundle.__all__)
def test_every_name_leads_to_what_it_says(name):
    thing = getattr(trundle, name)
    renamed = {"load": "load_robot", "odometry": "derive_odometry", "open": "open_model"}
    if hasattr(thing, "__name__"):
        assert thing.__name__.rpartition(".")[2] == renamed.get(name, name)
    assert name in dir(trundle)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        trundle.lode  # noqa: B018


def test_names_are_known_before_anything_heavy_is_loaded():
    call = "import sys, trundle; 'simulate' in dir(trundle); print({'numpy', 'casadi', 'sympy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", call], capture_output=True, text=True).stdout == "set()\n"


def test_names_are_read_out_of_a_zip_file(tmp_path):
    folder = Path(trundle.__file__).parent
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        for path in folder.glob("*.py"):
            archive.write(path, f"trundle/{path.name}")
    call = "import trundle; print('package.zip' in trundle.__file__, 'simulate' in dir(trundle))"
    told = subprocess.run(
        [sys.executable, "-c", call],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path / "package.zip")},
    )
    assert told.stdout == "True True\n", told.stderr
