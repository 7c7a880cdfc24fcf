"""Nouns that show themselves: what they say is written in `trundle.show.summaries`, which loads when it is asked for.

It stands below all rooms, as nouns of the lowest ones (robots, programs, results) show themselves, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trundle.errors import no_attribute


class Displayable:
    """A noun that says what it is in a terminal and in a notebook."""

    def __repr__(self) -> str:
        """The noun in a line, or in a page where it is made of tables."""
        from trundle import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        """The noun in a notebook."""
        from trundle import to_html

        return to_html(self)

    if not TYPE_CHECKING:  # who checks types is to see what there is, and nothing else

        def __getattr__(self, name: str) -> object:
            """Say the nearest name; what is there and failed, a property say, fails again as it did."""
            if name.startswith("_") or hasattr(type(self), name):
                above = getattr(super(), "__getattr__", None)  # Pydantic's nouns have one
                return above(name) if above else object.__getattribute__(self, name)
            raise no_attribute(f"a {type(self).__name__}", name, dir(self))


class Explained:
    """A finding that says in a sentence what it means."""

    def explain(self) -> str:
        """One or two sentences for a person.

        Returns
        -------
        str
            Angles in degrees, other numbers in SI units.
        """
        from trundle import explain

        return explain(self)
