"""Which samples of a long run a page draws: those without which straight lines would leave its curves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray

# Of what a panel or the picture spans: less than a pixel of 600.
_CLOSE = 1e-3


def kept_samples(curves: FloatArray, most: int) -> tuple[npt.NDArray[np.intp], float]:
    """Indices of at most `most` samples of curves (n, T), and how far straight lines between them leave any of the
    curves. Each round adds the worst sample of every stretch (as Douglas & Peucker 1973 do, for all curves at once).

    The curves are in units of what is seen of them; where one has no number it counts as zero.
    """
    count = curves.shape[1]
    curves = np.nan_to_num(curves, nan=0.0, posinf=0.0, neginf=0.0)
    kept = np.unique(np.linspace(0, count - 1, min(count, max(2, most // 4))).astype(np.intp))
    everywhere = np.arange(count)
    while True:
        off = np.zeros(count)
        for curve in curves:
            np.maximum(off, np.abs(curve - np.interp(everywhere, kept, curve[kept])), out=off)
        room, worst = most - kept.size, float(off.max())
        if worst <= _CLOSE or room <= 0:
            return kept, worst
        stretch = np.searchsorted(kept, everywhere, side="right")
        order = np.lexsort((-off, stretch))  # the worst of a stretch first
        firsts = order[np.unique(stretch[order], return_index=True)[1]]
        wanted = firsts[off[firsts] > _CLOSE]
        kept = np.union1d(kept, wanted[np.argsort(-off[wanted])][:room])
