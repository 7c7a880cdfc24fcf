"""Figures of what a motion takes: what binds it, wheels' forces within friction, motors by torque and speed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from trundle.arrays import FloatArray
from trundle.mechanics.actuation import Actuator
from trundle.motion.commands.drive import Driven
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import MotionForces
from trundle.show.figures.panels import Panel
from trundle.show.figures.series import series
from trundle.show.figures.style import COLOURS, INK, MUTED, house_style, new_figure, time_colours

# Points of a curve of torques by speed.
_POINTS = 181
# Axes in a row, and names in a legend's; how tall a row of axes is (inches).
_ACROSS, _NAMES, _TALL = 2, 4, 3.6
# A motor's speeds go so far beyond those that the motion takes.
BEYOND = 1.15


def force_figures(driven: Driven) -> dict[str, Figure]:
    """Those that there is something to show on, by name: binding, friction, motors, battery."""
    uses, found = driven.limit_usage, dict[str, Figure]()
    if uses.shares:
        found["binding"] = binding_figure(driven)
    if uses.forces is not None:
        if np.isfinite(uses.forces.grip).all(axis=0).any():
            found["friction"] = friction_figure(driven)
        found["motors"] = motors_figure(driven)
    if uses.currents:
        found["battery"] = battery_figure(driven)
    return found


def binding_figure(driven: Driven) -> Figure:
    """Speed along the way that the base's origin goes, in the colour of what binds there."""
    uses = driven.limit_usage
    twist = uses.samples.twist
    speed = np.hypot(twist[:, 0], twist[:, 1])
    steps = np.diff(uses.times)
    way = np.concatenate([[0.0], np.cumsum((speed[1:] + speed[:-1]) / 2 * steps)])
    lasting: dict[str, float] = {}
    for name, begin, end in uses.binding:
        kind = name.partition(" of ")[0]
        lasting[kind] = lasting.get(kind, 0.0) + end - begin
    kinds = sorted(lasting, key=lambda kind: -lasting[kind])
    with house_style():
        figure = new_figure(3.4, title=f"{driven.name}: speed, and what binds it")
        axes = figure.subplots()
        axes.plot(way, speed, color=MUTED, linewidth=1.0)
        for name, begin, end in uses.binding:
            inside = (uses.times >= begin) & (uses.times <= end)
            place = kinds.index(name.partition(" of ")[0])
            axes.plot(way[inside], speed[inside], color=COLOURS[place % len(COLOURS)], linewidth=2.6)
        for place, kind in enumerate(kinds):
            label = f"{kind.replace('_', ' ')}, {lasting[kind]:.2f} s"
            axes.plot([], [], color=COLOURS[place % len(COLOURS)], linewidth=2.6, label=label)
        rest = driven.motion.duration - sum(lasting.values())
        if rest > 0.005 * driven.motion.duration:
            axes.plot([], [], color=MUTED, linewidth=1.0, label=f"nothing, {rest:.2f} s")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=_NAMES)
        axes.set(
            xlabel="way of the base's origin (m)",
            ylabel="speed (m/s)",
            ylim=(0, None),
            xlim=(0, way[-1] or 1),
        )
        return figure


def friction_figure(driven: Driven) -> Figure:
    """Every wheel's force on the ground's friction circle, in shares of friction times load, coloured by time."""
    forces, times = _forces(driven), driven.limit_usage.times
    gripping = [k for k in range(len(forces.names)) if np.isfinite(forces.grip[:, k]).all()]
    lines = None
    with house_style():
        figure, every = _grid(f"{driven.name}: forces of the ground on the wheels", len(gripping))
        for axes, k in zip(every, gripping, strict=True):
            grip = forces.grip[:, k]
            ahead, left = forces.traction[:, k] / grip, forces.side_force[:, k] / grip
            axes.add_patch(Circle((0, 0), 1.0, fill=False, edgecolor=INK, linewidth=1.2))
            if driven.grip is not None:
                look = {"edgecolor": MUTED, "linestyle": "--", "linewidth": 1.0}
                axes.add_patch(Circle((0, 0), driven.grip, fill=False, **look))
            lines = _by_time(axes, [np.stack([-left, ahead], axis=1)], times)
            low, high = grip.min(), grip.max()
            told = f"{low:.0f} N" if high - low < 0.5 else f"{low:.0f} to {high:.0f} N"
            axes.set_title(f"{forces.names[k]}: 1 is {told}")
            reach = max(1.08, 1.05 * float(np.hypot(ahead, left).max()))
            axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
            axes.set(xlabel="to the right (share)", ylabel="forward (share)")
        _bar(figure, every, lines)
        return figure


def motors_figure(driven: Driven) -> Figure:
    """Torque by speed of the motors on what they drive, within what full batteries and their limits let them give."""
    forces = _forces(driven)
    who = Motors(DrivenRobot(driven.robot, driven.motion.kinematics.names), forces.torques)
    groups, rates = who.groups, who.robot.speeds(driven.limit_usage.samples)
    lines = None
    with house_style():
        figure, every = _grid(f"{driven.name}: motors, and what full batteries let them give", len(groups))
        for axes, (title, motors) in zip(every, groups.items(), strict=True):
            curves = [np.stack([rates[motor.column], forces.torques[motor.name]], axis=1) for motor in motors]
            lines = _by_time(axes, curves, driven.limit_usage.times)
            most = BEYOND * max(1e-3, *(float(np.abs(curve[:, 0]).max()) for curve in curves))
            looked = np.linspace(-most, most, _POINTS)
            for edge in who.edges(motors[0], looked):
                axes.plot(looked, edge, color=INK, linewidth=1.2)
            axes.set(title=title, xlabel="speed (rad/s)", ylabel="torque (N m)")
            axes.autoscale_view()
        _bar(figure, every, lines)
        return figure


def battery_figure(driven: Driven) -> Figure:
    """Voltage and current of the batteries over time."""
    forces = _forces(driven)
    volts = Panel("", "voltage (V)", forces.supplies, 0.1)
    amperes = Panel("", "current (A)", driven.limit_usage.currents, 0.1)
    return series(f"{driven.name}: batteries", driven.limit_usage.times, [volts, amperes], "no battery")


@dataclass(frozen=True)
class Motors:
    """The motors of a robot that drives along a motion, those of these names."""

    robot: DrivenRobot
    named: Collection[str]

    @cached_property
    def groups(self) -> Mapping[str, Sequence[Actuator]]:
        """Motors on wheels and those on steering; of each, those that differ only in where they stand."""
        spins = {wheel.spin for wheel in self.robot.wheels}
        found: dict[str, list[Actuator]] = {}
        for column, motors in self.robot.actuators.items():
            for motor in motors:
                if motor.name in self.named:
                    kind = "on wheels" if column in spins else "on steering"
                    found.setdefault(f"{kind}: {self._alike(motor)}", []).append(motor)
        return found

    def _alike(self, motor: Actuator) -> str:
        """A motor's model or type, and its gearing."""
        ratio = float(np.abs(motor.turns))
        name = getattr(motor.motor, "model", None) or getattr(motor.motor, "type", "motor")
        return f"{name}, {ratio:.4g}:1"

    def edges(self, motor: Actuator, rates: FloatArray) -> Sequence[FloatArray]:
        """What a motor can give either way at most at these rates; nothing where it can give any torque."""
        forward, backward = self._reach(motor, rates), self._reach(motor, -rates)
        return [] if forward is None or backward is None else [forward, -backward]

    def _reach(self, motor: Actuator, rates: FloatArray) -> FloatArray | None:
        """What a motor can give forward at most at these rates; None for any."""
        volts = None
        for supply in self.robot.here.assembly.supplies:
            if motor.name in supply.feeds:
                volts = supply.full_voltage
        torque = motor.greatest_torque(rates, volts)
        return None if torque is None else np.broadcast_to(np.asarray(torque, float), rates.shape)


def _forces(driven: Driven) -> MotionForces:
    forces = driven.limit_usage.forces
    assert forces is not None  # who draws asks first
    return forces


def _by_time(axes: Axes, curves: Sequence[FloatArray], times: FloatArray) -> LineCollection:
    """Curves (n, 2) in the colours of time; over jumps there is no line."""
    on = np.diff(times) > 1e-9
    segments = [np.stack([points[:-1], points[1:]], axis=1)[on] for points in curves]
    lines = LineCollection(list(np.concatenate(segments)), cmap=time_colours(), linewidths=1.4, zorder=5)
    lines.set_array(np.tile(times[:-1][on], len(curves)))
    lines.set_clim(times[0], times[-1])
    axes.add_collection(lines, autolim=False)
    axes.update_datalim(np.concatenate(list(curves)))
    return lines


def _grid(title: str, count: int) -> tuple[Figure, list[Axes]]:
    """A figure with so many axes, two in a row."""
    rows = max(1, -(-count // _ACROSS))
    figure = new_figure(0.4 + rows * _TALL, title=title)
    every: list[Axes] = np.atleast_1d(figure.subplots(rows, _ACROSS, squeeze=False)).ravel().tolist()
    for axes in every[count:]:
        axes.remove()
    return figure, every[:count]


def _bar(figure: Figure, every: Sequence[Axes], lines: LineCollection | None) -> None:
    """The colours of time, beside all axes."""
    if lines is not None:
        bar = figure.colorbar(lines, ax=list(every), fraction=0.03, pad=0.02)
        bar.set_label("time (s)")
        bar.outline.set_visible(False)  # type: ignore[operator]
