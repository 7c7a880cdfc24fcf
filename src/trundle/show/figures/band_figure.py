"""The figure of bands: net joint moments with what they may be off by."""

from __future__ import annotations

from matplotlib.figure import Figure

from trundle.errors import InputError
from trundle.expected import check_type
from trundle.limbs.bands import Bands
from trundle.show.figures.panels import Panel
from trundle.show.figures.series import series
from trundle.show.figures.style import unit_label

_PER_MASS = {"N m": "N m/kg", "N": "N/kg"}


def band_figure(bands: Bands, mass: float | None = None) -> Figure:
    """Net moments over time in bands of 95 %, a panel a freedom of a joint.

    Parameters
    ----------
    bands : Bands
        What `found.uncertainty(…)` of `trundle.inverse` gave.
    mass : float, kg, optional
        What moments are divided by.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        There are no moments, or the mass isn't positive.

    Examples
    --------
    >>> import trundle
    >>> bands = trundle.Bands([0.0, 1.0], {"knee.net": [0.0, 60.0]}, {"markers": {"knee.net": [1.0, 1.0]}})
    >>> len(trundle.band_figure(bands).axes)
    1
    """
    table = check_type(bands, Bands, "bands", "found.uncertainty(…) gives them").table(mass)
    if not bands.values:
        raise InputError("there are no joints", key="bands", hint="a robot of one body has no moments")
    panels = []
    for name in bands.values:
        unit = bands.units.get(name, "N m")
        label = unit_label(
            "net moment" if "m" in unit else "net force", unit if mass is None else _PER_MASS[unit]
        )
        edges = (table[f"{name}.low"], table[f"{name}.high"])
        short = name.replace(".net", "")
        panels.append(Panel("", label, {short: table[name]}, bands={short: edges}))
    told = {"markers": "marker noise", "segments": "segments' parameters", "smoothing": "smoothing"}
    title = f"net moments, bands of 95 %: {' and '.join(told[source] for source in bands.sources)}"
    return series(title, table["time"], panels, "nothing moves", across="time (s)")
