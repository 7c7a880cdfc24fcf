"""Linear systems of a model: linearisations along its constraints, and what inputs can move."""
