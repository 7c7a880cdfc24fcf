"""Models from the equations that SymPy's mechanics forms: `from_sympy(method) -> Model`."""
