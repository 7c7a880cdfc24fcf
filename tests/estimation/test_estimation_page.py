"""The examples of docs/estimation.md and docs/estimation/ run and give what their comments say."""

import re
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
SAID = {"estimation": 5, "estimation/smoothed": 1, "estimation/logs": 1}


@pytest.mark.parametrize("page", SAID)
def test_the_example_says_what_comes_out(page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    block = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    names = {}
    exec(compile(block, page, "exec"), names)
    said = re.findall(r"^(\S.*?)  # (\[.*\]|\(.*\)|\d+|True|False)$", block, re.MULTILINE)
    assert len(said) == SAID[page]
    for code, value in said:
        np.testing.assert_allclose(eval(code, names), eval(value), atol=5e-5, err_msg=code)
