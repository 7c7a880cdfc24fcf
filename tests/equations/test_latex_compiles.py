"""What is written as LaTeX goes through a real TeX."""

import shutil
import subprocess

import pytest

from trundle import catalog, derive

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed"),
]
DOCUMENT = r"""\documentclass{article}
\usepackage[margin=2cm]{geometry}
\usepackage{amsmath, amssymb}
\begin{document}
%s
\end{document}
"""


@pytest.mark.parametrize("name", catalog.names())
def test_every_robot_of_the_catalogue(name, tmp_path):
    latex = derive(catalog.robot(name)).equations().latex()
    (tmp_path / "equations.tex").write_text(DOCUMENT % latex, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "equations.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, "\n".join(done.stdout.splitlines()[-30:])
