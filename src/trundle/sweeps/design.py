"""The robots of a sweep by their numbers: which values robot 123,456,789 has, without those before it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, get_args

import numpy as np

from trundle.arrays import FloatArray, Json
from trundle.errors import InputError, suggest
from trundle.expected import check_str
from trundle.sweeps.variation import Grid, Variation, from_plain

Draws = Literal["random", "sobol", "latin", "indices"]
"""How samples are drawn: independently; as Sobol's sequence, scrambled; as a Latin hypercube; or as Sobol' indices
need them.
"""

# A Latin hypercube comes in one piece of 8 bytes a number; this many fill 80 MB a name.
MOST_LATIN = 10**7
# SciPy's sequences have numbers of 30 bits, and end after 2³⁰ points.
_SOBOL_BITS = 30
_WORDS = 4  # numbers of 64 bits that Philox makes of one counter


@dataclass(frozen=True)
class Design:
    """What varies by name, and how many samples of it there are.

    A grid's every value goes with every other grid's, and with every sample: robot i is sample i mod `samples` of
    grid point i // `samples`, the last name's grid running fastest. All grid points share their samples.

    Attributes
    ----------
    over : mapping of str to Variation
        Grids and distributions by name.
    samples : int
        Draws at a grid point; with `draws="indices"` of every of the d + 2 matrices.
    draws : {"random", "sobol", "latin", "indices"}
        "random": independent, by Philox counters [1]_; "sobol": Sobol's sequence, scrambled by Owen's method [2]_;
        "latin": a Latin hypercube; "indices": A, B and A with one column of B, as Saltelli's estimates of Sobol'
        indices need them [3]_.
    seed : int
        Of all draws.

    References
    ----------
    .. [1] J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
    .. [2] A. B. Owen, "Scrambling Sobol' and Niederreiter-Xing points", 1998.
    .. [3] A. Saltelli et al., "Variance based sensitivity analysis of model output", 2010, table 2.
    """

    over: Mapping[str, Variation]
    samples: int = 1
    draws: Draws = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        """InputError where the way to draw doesn't go with the distributions and the samples."""
        if check_str(self.draws, "draws") not in get_args(Draws):
            hint = suggest(self.draws, get_args(Draws))
            raise InputError(f"there is no way to draw called {self.draws!r}", key="draws", hint=hint)
        if self.draws == "latin" and self.samples > MOST_LATIN:
            hint = f'take draws="sobol", or at most {MOST_LATIN:,} samples'
            message = f"a Latin hypercube of {self.samples:,} samples would come in one piece"
            raise InputError(message, key="samples", hint=hint)
        if self.draws in ("sobol", "indices") and self.samples > 2**_SOBOL_BITS:
            hint = f'take draws="random", or at most {2**_SOBOL_BITS:,} samples'
            raise InputError(
                f"Sobol's sequence has no {self.samples:,} points here", key="samples", hint=hint
            )
        if self.draws == "indices" and self.grids:
            hint = f"give {next(iter(self.grids))} a distribution"
            raise InputError("Sobol' indices take distributions, no grids", key="over", hint=hint)
        if self.draws == "indices" and len(self.drawn) < 2:
            hint = "of one name they are 1"
            raise InputError("Sobol' indices compare two names or more", key="over", hint=hint)
        if not self.drawn and self.samples > 1:
            hint = 'give one a distribution, such as "uniform(0.4, 0.9)", or leave samples out'
            raise InputError(
                f"{self.samples:,} samples of grids alone are all alike", key="samples", hint=hint
            )

    @property
    def grids(self) -> dict[str, Grid]:
        """The grids by name."""
        return {name: each for name, each in self.over.items() if isinstance(each, Grid)}

    @property
    def drawn(self) -> list[str]:
        """The names that have a distribution."""
        return [name for name, each in self.over.items() if not isinstance(each, Grid)]

    @cached_property
    def drawn_count(self) -> int:
        """Samples at a grid point."""
        return self.samples * (len(self.drawn) + 2) if self.draws == "indices" else self.samples

    @cached_property
    def count(self) -> int:
        """How many robots there are."""
        return math.prod(len(grid.values) for grid in self.grids.values()) * self.drawn_count

    def columns(self, first: int, count: int) -> dict[str, FloatArray]:
        """The values of `count` robots from the one with the number `first`, (count,) by name."""
        cells, samples = np.divmod(np.arange(first, first + count), self.drawn_count)
        columns: dict[str, FloatArray] = {}
        for name, grid in reversed(self.grids.items()):
            cells, places = np.divmod(cells, len(grid.values))
            columns[name] = np.array(grid.values)[places]
        for name, share in self._shares(samples).items():
            variation = self.over[name]
            assert not isinstance(variation, Grid)
            columns[name] = variation.at(share)
        return {name: columns[name] for name in self.over}

    @property
    def plain(self) -> dict[str, Json]:
        """All of it as JSON holds it."""
        over = {name: each.plain for name, each in self.over.items()}
        return {"over": over, "samples": self.samples, "draws": self.draws, "seed": self.seed}

    @staticmethod
    def from_plain(given: Mapping[str, Any]) -> Design:
        """What `plain` says."""
        over = {name: from_plain(each, name) for name, each in given["over"].items()}
        return Design(over, int(given["samples"]), given["draws"], int(given["seed"]))

    def _shares(self, samples: np.ndarray) -> dict[str, FloatArray]:
        """0 < u < 1 of these samples by name."""
        names = self.drawn
        if not names:
            return {}
        if self.draws == "random":
            return {name: _philox(self.seed, name, samples) for name in names}
        if self.draws == "latin":
            whole = _latin(len(names), self.samples, self.seed)
            return {name: whole[samples, k] for k, name in enumerate(names)}
        if self.draws == "sobol":
            points = _sobol(len(names), samples, self.seed)
            return {name: points[:, k] for k, name in enumerate(names)}
        matrix, row = np.divmod(samples, self.samples)
        points = _sobol(2 * len(names), row, self.seed)
        a, b = points[:, : len(names)], points[:, len(names) :]
        return {
            name: np.where((matrix == 1) | (matrix == 2 + k), b[:, k], a[:, k])
            for k, name in enumerate(names)
        }


def _philox(seed: int, name: str, samples: np.ndarray) -> FloatArray:
    """Independent u of a name's own stream: what else varies doesn't change them."""
    stream = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    first, last = int(samples.min()), int(samples.max())
    begin = first // _WORDS * _WORDS
    source = np.random.Philox(key=np.array([seed, stream], dtype=np.uint64))
    source.advance(begin // _WORDS)
    words = source.random_raw(last - begin + 1)[samples - begin]
    return ((words >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53


@cache
def _latin(dimensions: int, count: int, seed: int) -> FloatArray:
    from scipy.stats import qmc

    return qmc.LatinHypercube(dimensions, rng=np.random.default_rng(seed)).random(count)


def _sobol(dimensions: int, samples: np.ndarray, seed: int) -> FloatArray:
    """Points of the scrambled sequence, in the middle of their cell of 2⁻³⁰, so that no share is 0."""
    from scipy.stats import qmc

    first, last = int(samples.min()), int(samples.max())
    engine = qmc.Sobol(dimensions, bits=_SOBOL_BITS, rng=np.random.default_rng(seed))
    count = last - first + 1
    if first:
        points = engine.fast_forward(first).random(count)
    else:
        points = engine.random_base2((count - 1).bit_length())  # other counts would be warned of, one by one
    return points[samples - first] + 0.5 ** (_SOBOL_BITS + 1)
