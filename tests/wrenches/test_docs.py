"""The pages on wrenches and balances run, and each line gives what its comment says."""

import re
from pathlib import Path

import pytest
import sympy as sp

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("page", "said"), [("inverse/wrenches.md", 3), ("inverse/balances.md", 2)])
def test_the_page_says_what_comes_out(page, said):
    names: dict[str, object] = {}
    checked = 0
    for block in re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, page, "exec"), names)
        for line in block.splitlines():
            code, _, value = line.partition("  # (")
            if value and " = " not in code:
                off = sp.Matrix(eval(code, names)) - sp.Matrix(sp.sympify(f"({value}"))
                assert off.subs(sp.Symbol("t"), 0.7).norm() < 1e-12, line
                checked += 1
    assert checked == said
