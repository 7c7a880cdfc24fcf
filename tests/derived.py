"""Models of the catalogue's robots, once for all tests of a process: models are frozen, so tests may share them."""

from functools import cache

import trundle


@cache
def derived(name: str) -> trundle.Model:
    """The model of the catalogue's robot `name`, as it stands there."""
    return trundle.derive(trundle.catalog.robot(name))
