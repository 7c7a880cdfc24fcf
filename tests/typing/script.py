"""A user's own script, as an editor sees it: it must type-check strictly (see test_user_script.py), and it runs."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import xarray as xr

import trundle
from trundle import Batch, InputError, Model, Robot, Run


def describe(radius: float) -> Robot:
    """A robot of the catalogue with another radius."""
    return trundle.catalog.differential_drive(radius=radius)


def drive(model: Model, volts: float) -> Run:
    """Inputs as numbers, text, functions and tables."""
    by_time = trundle.simulate(model, 1.0, {"left_motor.voltage": lambda t: volts * t}, samples=11)
    by_text = trundle.simulate(model, "1 s", {"left_motor.voltage": f"{volts} V"}, parameters={"d": "10 cm"})
    table = trundle.table([0.0, 1.0], [0.0, volts])
    by_table = trundle.simulate(model, inputs={"left_motor.voltage": table}, times=[0.5, 1.0])
    closed = trundle.simulate(
        model, 1.0, {"left_motor.voltage": lambda t, state: volts - state["v_x"], "right_motor.voltage": 1.0}
    )
    data = xr.DataArray([0.0, volts], dims="time")
    series = trundle.simulate(model, 1.0, {"left_motor.voltage": data}, method="RK45")
    return max((by_time, by_text, by_table, closed, series), key=lambda run: float(run["x"][-1]))


def many(model: Model, count: int) -> Batch:
    """A batch over a range of voltages."""
    volts: npt.NDArray[np.float64] = np.linspace(0.0, 24.0, count)
    return trundle.rollout(model, inputs={"left_motor.voltage": volts}, steps=10, dt="1 ms", every=5)


def poles(model: Model) -> list[complex]:
    """Poles of a linearisation, and whether inputs control it."""
    about = model.linearize({"v_x": 1.0}, outputs=["v_x"])
    controlled: bool = about.controllability.is_controllable
    return [] if controlled else [complex(pole) for pole in about.poles]


def pieces(model: Model) -> float:
    """What is evaluated on a model, and its equations, have types."""
    q: list[float] = [0.0] * len(model.coordinates)
    mass: npt.NDArray[np.float64] = model.mass_matrix(q)
    rate: npt.NDArray[np.float64] = model.rhs({"v_x": 1.0}, parameters={"r": "10 cm"})
    place: npt.NDArray[np.float64] = model.frame("base")(q).position
    ode = model.ode({"left_motor.voltage": 6.0})
    slope: npt.NDArray[np.float64] = ode.jacobian(0.0, ode.x0)
    latex: str = model.equations("kinematics").latex()
    return float(mass[0, 0] + rate[0] + place[0] + slope[0, 0]) + len(latex)


def main(folder: Path) -> None:
    """Files, questions, errors."""
    robot = describe(0.2)
    model = trundle.derive(robot)
    names: tuple[str, ...] = model.states
    run = drive(model, 12.0)
    print(pieces(model))
    run.save(folder / "run.nc")
    final: float = Run.load(folder / "run.nc").final[names[0]]
    batch = many(model, 8)
    shape: tuple[int, ...] = batch.values.shape
    motions: int = trundle.analyze(robot, {"theta": "30 deg"}).motions
    text: str = trundle.equations(model, "kinematics").text()
    size: int = trundle.odometry(robot).program.operations
    path = folder / "robot.yaml"
    path.write_text(trundle.catalog.document("differential_drive").source)
    seconds: float = trundle.run(path, duration="0.1 s", inputs={"left_motor.voltage": 1}).duration
    rolled: Run = trundle.roll(path, 1.0, {"left.rate": 1.0, "right.rate": "2 rad/s"})
    print(final, shape, motions, len(text), size, seconds, len(rolled), len(poles(model)))
    print(run.plot.path().axes, len(trundle.linearize_along(model, run)))
    try:
        trundle.load(folder / "nothing.yaml")
    except InputError as error:
        print(error.file, error.hint)
