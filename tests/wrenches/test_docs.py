"""The section on wrenches in docs/inverse_dynamics.md runs, and each line gives what its comment says."""

import re
from pathlib import Path

import sympy as sp

PAGE = Path(__file__).parents[2] / "docs" / "inverse_dynamics.md"


def test_the_section_says_what_comes_out():
    section = PAGE.read_text().split("## Wrenches, frames and breakdowns")[1].split("\n## ")[0]
    names: dict[str, object] = {}
    checked = 0
    for block in re.findall(r"```python\n(.*?)```", section, re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)
        for line in block.splitlines():
            code, _, said = line.partition("  # (")
            if said and " = " not in code:
                off = sp.Matrix(eval(code, names)) - sp.Matrix(sp.sympify(f"({said}"))
                assert off.subs(sp.Symbol("t"), 0.7).norm() < 1e-12, line
                checked += 1
    assert checked == 5
