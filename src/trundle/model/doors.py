"""What a model's doors stand on: methods that are looked for by a dot, and that lead to what other rooms do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from trundle.model.model import Model


class Doors:
    """A part of `Model` whose methods hand the model on, each to a function of its own."""

    @property
    def _model(self) -> Model:
        return cast("Model", self)
