"""The example of docs/estimation.md runs and gives what its comments say."""

import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[2] / "docs" / "estimation.md"


def test_the_example_says_what_comes_out():
    block = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
    names = {}
    exec(compile(block, str(PAGE), "exec"), names)
    said = re.findall(r"^(\S.*?)  # (\[.*\]|\(.*\)|\d+|True|False)$", block, re.MULTILINE)
    assert len(said) == 7
    for code, value in said:
        np.testing.assert_allclose(eval(code, names), eval(value), atol=5e-5, err_msg=code)
