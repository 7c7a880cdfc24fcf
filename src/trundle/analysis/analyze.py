"""What a robot can and cannot do, by its description: `analyze(robot)`, or `model.analyze()`.

Kinematics only, every wheel on the ground rolling without slip: so a robot that its ideal wheels lock, or whose wheels
are meant to slip, can be asked, too. An answer is worked out when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.analysis.manipulability import Manipulability, manipulability, weights_of
from trundle.analysis.motor_rates import top_rates, unit_rates
from trundle.analysis.reach import Reach, reach
from trundle.analysis.redundancy import Relation, relations
from trundle.analysis.singular import TWIST, Singularity, TaskFrame, singularities
from trundle.analysis.top_speed import TopSpeed, top_speed
from trundle.analysis.velocity_maps import VelocityMaps, last_links, tip_of, velocity_maps
from trundle.errors import InputError, require_known
from trundle.mechanics.elimination import SEED, ZERO, generic_rank, null_space
from trundle.mechanics.mobility import BaseMotion, Mobility, base_motion
from trundle.mechanics.steering import steering_angles
from trundle.model.arguments import Given, named, number, robot_of, three
from trundle.model.classification import mobility_of, rolling, wheel_places
from trundle.robot import Robot

BASE_TWIST = ("v_x", "v_y", "omega")
# A rank that is generic shows at one random configuration already; the others are there against unlucky ones.
_SAMPLES = 5
# Robots are no smaller (m), and no larger than its reciprocal.
_SHORTEST = 1e-6
# A chain with more joints than this has no frame by default: nobody asks how its end moves.
MOST_COORDINATES = 30


@dataclass(frozen=True, repr=False)
class Analysis:
    """A robot at one configuration: `at` holds the coordinates that were given, the others are zero, or where loops
    need them; `q` are all, (n,), as `configuration` names them. `voltage` is the greatest that motors get whose own
    limit or battery says none (V).

    Made by `analyze`. Angular speeds count as speeds at the distance `length` (m).
    """

    maps: VelocityMaps
    at: Mapping[str, float]
    q: np.ndarray
    frame: TaskFrame | None = None
    voltage: float | None = None

    @property
    def robot(self) -> Robot:
        """The robot that was looked at."""
        return self.maps.mechanism.robot

    @property
    def length(self) -> float:
        """The length that compares turning with moving: by default the wheels' root-mean-square distance from the
        base's origin, or a linkage's reach.
        """
        return self.maps.length

    @cached_property
    def mobility(self) -> Mobility | None:
        """Degrees of mobility and steerability by the wheels on the base; None without any."""
        return mobility_of(self.maps.assembly)

    @cached_property
    def motions(self) -> int:
        """How many speeds are independent at this configuration."""
        return self._motions.shape[1]

    @cached_property
    def configuration(self) -> Mapping[str, float]:
        """All coordinates here (m, rad), by name."""
        return {name: float(value) for name, value in zip(self.maps.names, self.q, strict=True)}

    @cached_property
    def freedoms(self) -> int:
        """How many speeds are independent in general."""
        return len(self.maps.scale) - generic_rank(self.maps.constraints(self._general), self.maps.zero)

    @cached_property
    def held(self) -> bool:
        """Whether the robot stands still at this configuration when all its motors do; False at dead points."""
        rows = np.concatenate([self.maps.constraints(self.q[None]), self.maps.driven(1)], axis=1)
        return generic_rank(rows, self.maps.zero) == len(self.maps.scale)

    @cached_property
    def base_motion(self) -> BaseMotion | None:
        """The base's admissible twists at this configuration and their centre of rotation; None without wheels."""
        if not self._rolls:
            return None
        rows = self.maps.constraints(self.q[None])[0] / self.maps.scale
        return base_motion(rows, self.maps.base, self.length)

    @cached_property
    def repeated(self) -> tuple[Relation, ...]:
        """Rolling rows ('left.lateral') that follow from others in every configuration the wheels allow."""
        names = [f"{row.owner}.{row.what}" for row in self.maps.about]
        rows = self.maps.constraints(self._general)
        return relations(rows[:, : len(names)], names)

    @cached_property
    def rate_relations(self) -> tuple[Relation, ...]:
        """What the motors' rates must keep to while nothing slips, where there are more motors than motions."""
        motors = self.maps.motors()
        columns = list(motors.values())
        rates = [
            self.maps.scale[columns, None]
            * null_space(self.maps.constraints(q[None])[0], self.maps.zero)[columns]
            for q in self._general
        ]
        widest = max(rate.shape[1] for rate in rates)
        padded = [np.pad(rate, ((0, 0), (0, widest - rate.shape[1]))) for rate in rates]
        return relations(np.array(padded), list(motors))

    @property
    def top_speed(self) -> TopSpeed | None:
        """The greatest steady speed straight ahead on level ground, motors at full command, and what limits it.

        None where nothing says, or where the base can't go straight ahead: `no_top_speed` says why.
        """
        return self._top if isinstance(self._top, TopSpeed) else None

    @property
    def no_top_speed(self) -> str | None:
        """Why there is no top speed; None where there is one."""
        return self._top if isinstance(self._top, str) else None

    @cached_property
    def _top(self) -> TopSpeed | str:
        return top_speed(self.maps, self.voltage)

    @cached_property
    def manipulability(self) -> Manipulability | None:
        """The base's twists for rates a of motors' shafts with ‖a‖ ≤ 1, at this configuration; None without wheels.

        a is divided by the motors' rates at the top speed, where there is one.
        """
        if not self._rolls:
            return None
        task = self._motions[list(self.maps.base)]
        limits, *words = top_rates(self.maps, self.top_speed) or unit_rates(self.maps, self._drives)
        return manipulability(task, self._driven(limits), BASE_TWIST, self.length, *words)

    @cached_property
    def frame_manipulability(self) -> Manipulability | None:
        """The frame's twists (world axes) for rates of motors' shafts of norm 1; None without a frame."""
        if self.frame is None:
            return None
        jacobian = self.maps.frame(self.q[None], self.frame.link, self.frame.point)[0][self.frame.rows]
        weights = np.array(weights_of(self.frame.parts, self.length))
        task = jacobian / weights[:, None] @ (self._motions / self.maps.scale[:, None])
        limits, *words = unit_rates(self.maps, self._drives)
        return manipulability(task, self._driven(limits), self.frame.parts, self.length, *words)

    @cached_property
    def singularities(self) -> tuple[Singularity, ...]:
        """Where wheels, motors and the frame lose rank: over all configurations, not only this one."""
        return singularities(self.maps, self.frame, self._general)

    @cached_property
    def controllability(self) -> Reach:
        """Whether driving and steering lead everywhere: growth vector and Lie brackets of base, steering and joints.

        Raises InputError where the wheels lock the robot.
        """
        return reach(self.maps, self.q)

    @cached_property
    def full_controllability(self) -> Reach:
        """The same over all coordinates, wheels' and casters' angles too, which are often not all reached."""
        return reach(self.maps, self.q, whole=True)

    def steering(self, twist: Sequence[float]) -> dict[str, float]:
        """Find the angles of the steered wheels on the base that allow it a twist without slip.

        A wheel at p rolls along its heading where its axle's line goes through the centre of rotation:
        tan δ = (v_y + ω p_x)/(v_x − ω p_y). To turn about a point (x, y) of the base's frame: the twist (y, −x, 1).

        Parameters
        ----------
        twist : sequence of 3 numbers
            v_x, v_y (m/s) and ω (rad/s) in the base's frame.

        Returns
        -------
        dict of str to float
            `WHEEL.steering` to its angle (rad).

        Raises
        ------
        InputError
            Where no wheel on the base is steered, or the twist isn't three numbers.

        Examples
        --------
        >>> tricycle = trundle.analyze(trundle.catalog.tricycle())
        >>> tricycle.steering((1.0, 0.0, 0.0))
        {'front.steering': 0.0}
        """
        steered = [p for p, grips in wheel_places(self.maps.assembly) if p.steered and grips]
        if not steered:
            raise InputError(f"'{self.robot.name}' has no steered wheels on its base")
        v_x, v_y, omega = three(twist, "twist", "v_x, v_y and omega", ("m/s", "m/s", "rad/s"))
        angles = steering_angles(steered, (v_x, v_y, omega))
        return {f"{p.name}.steering": angle for p, angle in zip(steered, angles, strict=True)}

    def __repr__(self) -> str:
        at = ", ".join(f"{name} = {value:.4g}" for name, value in self.at.items())
        moves = "" if self.base_motion is None else f": {self.base_motion.explain()}"
        return f"Analysis of '{self.robot.name}'{' at ' if at else ''}{at}{moves}"

    @cached_property
    def _general(self) -> np.ndarray:
        return self.maps.general(_SAMPLES, np.random.default_rng(SEED))

    @cached_property
    def _rolls(self) -> bool:
        return bool(self.maps.base and rolling(self.maps.assembly))

    @cached_property
    def _motions(self) -> np.ndarray:
        """Columns that span all admissible ν at this configuration."""
        return self.maps.scale[:, None] * null_space(self.maps.constraints(self.q[None])[0], self.maps.zero)

    @property
    def _drives(self) -> str:
        if self.maps.assembly.actuators:
            return "motor"
        return "wheel" if self._rolls else "joint"

    def _driven(self, limits: np.ndarray) -> np.ndarray:
        return self._motions[list(self.maps.motors().values())] / limits[:, None]


def analyze(
    robot: Given,
    at: Mapping[str, float | str] | None = None,
    *,
    frame: str | None = None,
    point: Sequence[float | str] | None = None,
    length: float | str | None = None,
    voltage: float | str | None = None,
    base: str | None = None,
) -> Analysis:
    """What a described robot, or the one a model was derived from, can and cannot do, at a configuration.

    Everything follows from A(q) ν = 0, the velocities that rolling without slip, couplings and loops leave.

    Parameters
    ----------
    robot : Robot, Model, or a file or mapping that describes one
        What is looked at; every wheel on the ground rolls ideally here, whatever its contact law.
    at : Mapping[str, float or str], optional
        Coordinates by name (rad, m, or text with units); those left out are zero, or where loops need them.
    frame : str, optional
        The body, joint or wheel whose motion is the task; by default the one body that ends the joints.
    point : sequence of three float or str, optional
        The task's point in the axes of `frame` (m); by default its centre of mass on a fixed base, else its origin.
    length : float or str, optional
        The length (m) at which turning counts as moving; by default the robot's own (see `Analysis.length`).
    voltage : float or str, optional
        The greatest voltage (V) of motors that have no limit and no battery, for top speeds.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Analysis
        An answer is worked out when it is first asked for.

    Raises
    ------
    InputError
        For unknown names, numbers out of bounds, a model without a description, and where loops can't be closed.

    Examples
    --------
    >>> import trundle
    >>> can = trundle.analyze(trundle.catalog.differential_drive())
    >>> can.motions, can.controllability.growth
    (2, (2, 3))

    References
    ----------
    Campion, Bastin & d'Andréa-Novel 1996 (mobility, constraints); Yoshikawa 1985 (manipulability); Murray, Li & Sastry
    1994, ch. 7 (Lie brackets); Siciliano et al. 2009, ch. 11.
    """
    described = robot_of(robot, "analyze", "there are no wheels to look at", base)
    size = None if length is None else number(length, "length", "m")
    if size is not None and not _SHORTEST <= size <= 1 / _SHORTEST:
        raise InputError(
            f"expected a length between {_SHORTEST:g} and {1 / _SHORTEST:g} m, got {length!r}", key="length"
        )
    maps = velocity_maps(described, length=size)
    units = maps.assembly.quantities.units
    given = {
        str(name): number(value, str(name), units.get(name, "")) for name, value in named(at, "at").items()
    }
    most = None if voltage is None else number(voltage, "voltage", "V")
    if most is not None and most <= 0:
        raise InputError(f"expected a voltage above 0 V, got {voltage!r}", key="voltage")
    return Analysis(maps, given, maps.place(given), _frame(maps, frame, point), most)


def _frame(maps: VelocityMaps, name: str | None, point: Sequence[float | str] | None) -> TaskFrame | None:
    """The frame asked for, or the one at the end; None where there is no single one."""
    assembly = maps.assembly
    if name is None:
        ends = last_links(maps.mechanism.robot, assembly)
        if len(ends) != 1 or len(maps.configurable()) > MOST_COORDINATES:
            if point is not None:
                raise InputError(
                    "a point needs a frame that it belongs to", key="point", hint="give frame, too"
                )
            return None
        name = ends[0]
    require_known(name, assembly.links, f"there is no link '{name}'", key=str(name))
    link = assembly.links[name]
    if point is not None:
        x, y, z = three(point, "point", "x, y and z", ("m", "m", "m"))
    else:
        x, y, z = (0.0, 0.0, 0.0) if assembly.base_columns else tip_of(assembly, link)
    return _task(maps, name, link, (float(x), float(y), float(z)))


def _task(maps: VelocityMaps, name: str, link: int, point: tuple[float, float, float]) -> TaskFrame | None:
    """All parts of the twist that can move, or the linear ones where there are no more motions than these take."""
    general = maps.general(_SAMPLES, np.random.default_rng(SEED))
    rows, jacobian = maps.constraints(general, led=True), maps.frame(general, link, point)
    moving = [k for k in range(6) if np.abs(jacobian[:, k]).max(initial=0.0) > ZERO * maps.length]
    rank = generic_rank(rows, maps.zero)
    linear = [k for k in moving if k < 3]
    along = generic_rank(np.concatenate([rows, jacobian[:, linear]], axis=1), maps.zero) - rank
    motions = len(maps.scale) - rank
    chosen = linear if linear and motions <= along else moving
    return TaskFrame(name, link, point, tuple(TWIST[k] for k in chosen)) if chosen else None
