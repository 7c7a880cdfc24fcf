"""Equations as they are set: in a terminal, as LaTeX, Markdown and HTML; what stands in them comes from `formulas`."""
