"""Octave's functions called from Python."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from trundle.languages import source
from trundle.languages.octave import OCTAVE

_CALL = """
file = fopen("given"); all = fread(file, [{width}, Inf], "double"); fclose(file);
[{made}] = f({given});
file = fopen("found", "w"); fwrite(file, [{rows}], "double"); fclose(file);
"""


def run_script(text, folder):
    """What Octave prints when it runs a script in a folder."""
    if shutil.which("octave-cli") is None:
        pytest.skip("no octave-cli")
    command = ["octave-cli", "--norc", "--quiet", "--no-history", "--eval", text]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=600)
    assert done.returncode == 0, done.stderr[:3000]
    assert not done.stderr, done.stderr[:3000]
    return done.stdout


def called(program, *groups):
    """The outputs of a program's function at many states, groups (n, count) in and out."""
    sizes, results = [g.size for g in program.inputs], [g.size for g in program.outputs]
    ends = np.cumsum(sizes)
    given = ", ".join(f"all({end - size + 1}:{end}, :)" for size, end in zip(sizes, ends, strict=True))
    made = [f"r{k}" for k in range(len(results))]
    with TemporaryDirectory() as folder:
        (Path(folder) / "f.m").write_text(source({"f": program}, OCTAVE), encoding="utf-8")
        np.vstack(groups).T.tofile(Path(folder) / "given")
        run_script(
            _CALL.format(width=sum(sizes), given=given, made=", ".join(made), rows="; ".join(made)), folder
        )
        found = np.fromfile(Path(folder) / "found").reshape(groups[0].shape[1], -1).T
    return np.split(found, np.cumsum(results)[:-1])
