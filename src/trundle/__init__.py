"""Trundle: from the description of a wheeled robot or a linkage to equations, programs, simulations and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trundle.errors import InputError, NumericsError, TrundleError
from trundle.version import __version__

if TYPE_CHECKING:
    from trundle import catalog
    from trundle.analysis.analyze import Analysis, analyze
    from trundle.documents import load_robot as load
    from trundle.model import Model, derive
    from trundle.model.archive import open_model as open
    from trundle.results import Batch, Run
    from trundle.robot import Robot
    from trundle.show.diagram import to_svg as to_svg
    from trundle.show.words import explain as explain
    from trundle.show.words import to_html as to_html
    from trundle.show.words import to_text as to_text
    from trundle.simulation import roll, rollout, simulate, table
    from trundle.sympy_models.from_sympy import from_sympy

# Loaded when first asked for: `trundle --help` must not wait for CasADi.
_HOMES = {
    "Analysis": ("trundle.analysis.analyze", "Analysis"),
    "analyze": ("trundle.analysis.analyze", "analyze"),
    "Model": ("trundle.model", "Model"),
    "derive": ("trundle.model", "derive"),
    "from_sympy": ("trundle.sympy_models.from_sympy", "from_sympy"),
    "open": ("trundle.model.archive", "open_model"),
    "Batch": ("trundle.results", "Batch"),
    "Run": ("trundle.results", "Run"),
    "Robot": ("trundle.robot", "Robot"),
    "catalog": ("trundle.catalog", None),
    "load": ("trundle.documents", "load_robot"),
    "roll": ("trundle.simulation", "roll"),
    "rollout": ("trundle.simulation", "rollout"),
    "simulate": ("trundle.simulation", "simulate"),
    "table": ("trundle.simulation", "table"),
    # How nouns show themselves (see trundle.shown).
    "explain": ("trundle.show.words", "explain"),
    "to_html": ("trundle.show.words", "to_html"),
    "to_svg": ("trundle.show.diagram", "to_svg"),
    "to_text": ("trundle.show.words", "to_text"),
}

__all__ = [
    "Analysis",
    "Batch",
    "InputError",
    "Model",
    "NumericsError",
    "Robot",
    "Run",
    "TrundleError",
    "__version__",
    "analyze",
    "catalog",
    "derive",
    "from_sympy",
    "load",
    "open",
    "roll",
    "rollout",
    "simulate",
    "table",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'trundle' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    loaded = import_module(module)
    value = loaded if attribute is None else getattr(loaded, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
