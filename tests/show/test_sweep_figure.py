"""Figures of sweeps say what is there."""

import trundle


def test_few_robots_are_counted_in_whole_numbers():
    found = trundle.sweep(
        trundle.catalog.differential_drive(), over={"r": "14 cm, 15 cm, 16 cm"}, measures=["final.x"], steps=5,
        inputs={"left_motor.voltage": 20.0}, progress=False,
    )  # fmt: skip
    figure = found.figure()
    figure.canvas.draw()
    (counts,) = (axes for axes in figure.axes if axes.get_ylabel() == "robots")
    assert all(float(tick).is_integer() for tick in counts.get_yticks())
