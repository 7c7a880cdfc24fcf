"""Trackers: controllers that lead a base to a pose that moves, which a run's inputs tell; their laws in any scalar.

    reference: the inputs NAME.x, .y, .theta (where the base should be), .v_x, .v_y, .omega (its twist, in its own axes)
        ──► law ──► a speed and a turning rate, or a steering angle, for other controllers or motors

A program with a tracker knows no time: a run fills the inputs (`trundle.reference`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from trundle.errors import InputError, suggest
from trundle.robot.component import default
from trundle.robot.controllers import CONTROLLERS, Action, Controller, DrivenBase, Sight, UnitOf, needs_two
from trundle.robot.kinds import Read
from trundle.robot.sensor import POSE, TWIST
from trundle.robot.values import Angle, Length, Plain, Positive, Rate, Ratio, Speed, problem
from trundle.scalars import Scalar, absolute, atan, atan2, clamp, cos, maximum, sin, sinc, sinc_to_pi, sqrt

Twist = tuple[Scalar, Scalar, Scalar]
_SPEED_TO = "What takes the speed: another controller's reference, speed.reference."
_TURN_TO = "What takes the turning rate: another controller's reference."
_STEER_TO = "What takes the steering angle: a servo's input, steering_servo.angle."
_WHEELBASE = "How far ahead of the base's origin, which lies on the fixed axle, the steered wheels stand (m)."
# Below this (m/s) a reference stands: a distance to its side can't be made good by going on.
_SLOW = 1e-2


class PoseError(NamedTuple):
    """How far the reference is from the base: ahead and to the left in the base's axes (m), and turned (rad).

    cos, sin: those of the angle, which the laws need beside it.
    """

    ahead: Scalar
    left: Scalar
    turned: Scalar
    cos: Scalar
    sin: Scalar


class PoseReader(Controller):
    """What hangs on where the base is, or on where an estimator says it is."""

    pose: str | None = Field(
        default=None, description="The estimator whose pose it reads, by name. Default: none, the true one."
    )

    def on(self, base: DrivenBase) -> Controller:
        """The same; raises InputError where nobody tells it the pose."""
        others = base.robot.controllers
        if self.pose is not None and self.pose not in others:
            estimators = [name for name, each in others.items() if {*POSE} <= {*each.at_once()}]
            hint = suggest(self.pose, estimators) if estimators else f"add {self.pose}: {{type: estimator}}"
            message = f"its pose is to be that of the estimator {self.pose!r}, which isn't there"
            raise InputError(message, hint=hint)
        return self

    @property
    def pose_read(self) -> tuple[str, ...]:
        """The names of the pose that it reads: the true one, or an estimator's."""
        return POSE if self.pose is None else tuple(f"{self.pose}.{name}" for name in POSE)


class PoseTracker(PoseReader):
    """What all trackers share: what they read, what a run gives them, and the errors that they show."""

    letters: ClassVar[Mapping[str, str]] = {"along": "e_x", "lateral": "e_y", "heading": "e_theta"}
    # The keys that name what takes a command.
    takers: ClassVar[tuple[str, ...]] = ()

    def reads_from(self) -> tuple[str, ...]:
        """The base's pose."""
        return self.pose_read

    def references(self) -> tuple[str, ...]:
        """Where the base should be, and its twist there."""
        return (*POSE, *TWIST)

    def outputs(self) -> tuple[str, ...]:
        """How far the base is ahead of where it should be, to the left of it, and turned to the left."""
        return ("along", "lateral", "heading")

    def units(self, unit_of: UnitOf) -> Mapping[str, str]:
        """Of references and outputs."""
        poses = {"x": "m", "y": "m", "theta": "rad", "v_x": "m/s", "v_y": "m/s", "omega": "rad/s"}
        return poses | {"along": "m", "lateral": "m", "heading": "rad"}

    def acts_on(self) -> tuple[str, ...]:
        """What takes the commands."""
        return tuple(getattr(self, key) for key in self.takers)

    def cannot(self, mobility: int, steerability: int) -> str | None:
        """A speed and a turning rate are two velocities to be chosen at once."""
        return needs_two(mobility)

    def command(self, off: PoseError, sight: Sight, read: Read) -> tuple[Scalar, ...]:
        """The commands, in the order of `acts_on`."""
        raise NotImplementedError

    def law(self, sight: Sight, read: Read) -> Action:
        """The commands, and the errors in the axes of the reference."""
        x, y, theta = (sight.read[name] for name in self.pose_read)
        goal = sight.references
        to_x, to_y = goal["x"] - x, goal["y"] - y
        off = goal["theta"] - theta
        turned = atan2(sin(off), cos(off))
        # by those of both, as the reference's don't change within a step of a rollout
        c, s = _turned_back((cos(goal["theta"]), sin(goal["theta"])), theta)
        ahead, left = _turned_back((to_x, to_y), theta)
        commands = self.command(PoseError(ahead, left, turned, c, s), sight, read)
        along, lateral = _turned_back((-to_x, -to_y), goal["theta"])
        errors = {"along": along, "lateral": lateral, "heading": -turned}
        return Action(dict(zip(self.acts_on(), commands, strict=True)), outputs=errors)

    @model_validator(mode="after")
    def _fits(self) -> PoseTracker:
        keys, taken = self.takers, self.acts_on()
        for k, name in enumerate(taken):
            if name in taken[:k]:
                message = f"{name!r} can't take two commands, {keys[taken.index(name)]} and {keys[k]}"
                raise problem(message, "give each a taker of its own, such as speed.reference", (keys[k],))
        return self


def named_in(references: Mapping[str, Scalar], names: Sequence[str]) -> list[Scalar]:
    """What is called so, in order."""
    return [references[name] for name in names]


def _turned_back(vector: tuple[Scalar, Scalar], angle: Scalar) -> tuple[Scalar, Scalar]:
    """R(−angle) times a vector: its components in axes that are turned by the angle."""
    c, s = cos(angle), sin(angle)
    return c * vector[0] + s * vector[1], c * vector[1] - s * vector[0]


class HeadingTracker(PoseTracker):
    """What trackers of bases that go along their heading share: a speed and a turning rate."""

    takers: ClassVar[tuple[str, ...]] = ("speed_to", "turn_to")
    speed_to: str = Field(description=_SPEED_TO)
    turn_to: str = Field(description=_TURN_TO)


class UnicycleTracker(HeadingTracker):
    """Leads a base that goes along its heading to a moving pose: the linear-quadratic regulator for every speed.

    With the reference's distance e_x ahead and e_y to the left, and its angle e_θ, all in the base's axes:
    v = v_r cos e_θ + k_x e_x, ω = ω_r + k_y e_y sin e_θ/e_θ + k_θ e_θ. The gains are those of the errors' linear motion
    beside the reference, ė_y = v_r e_θ, with tolerances as weights (Bryson's rule): k_x = Δv/Δx, k_y = ±Δω/Δy with the
    sign of v_r, and k_θ = √((Δω/Δθ)² + 2 |v_r| Δω/Δy). WPILib's LTVUnicycleController has the same law by a table.
    """

    tunable: ClassVar[tuple[str, ...]] = ("along", "lateral", "heading", "speed", "turn")
    sources: ClassVar[tuple[str, ...]] = ("bryson1975",)

    type: Literal["unicycle"] = "unicycle"
    along: Positive[Length] = default("0.1 m", "Tolerance of the distance ahead (m), default 0.1 m.")
    lateral: Positive[Length] = default("0.1 m", "Tolerance of the distance to the side (m), default 0.1 m.")
    heading: Positive[Angle] = default("10 deg", "Tolerance of the heading (rad), default 10 deg.")
    speed: Positive[Speed] = default(
        "0.3 m/s", "Speed that may be spent on the distance ahead (m/s), default 0.3 m/s."
    )
    turn: Positive[Rate] = default(
        "1 rad/s", "Turning rate that may be spent on the others (rad/s), default 1 rad/s."
    )

    def command(self, off: PoseError, sight: Sight, read: Read) -> tuple[Scalar, ...]:
        """Speed and turning rate."""
        speed, turn = sight.references["v_x"], sight.references["omega"]
        tolerances = (self.along, self.lateral, self.heading, self.speed, self.turn)
        return regulated(off, speed, turn, map(read, tolerances))


def regulated(
    off: PoseError, speed: Scalar, turn: Scalar, tolerances: Iterable[Scalar]
) -> tuple[Scalar, Scalar]:
    """The speed and the turning rate of the linear-quadratic regulator beside a reference's, by tolerances: of what is
    ahead, aside and turned, and of the speed and the turning rate that may be spent on it.
    """
    along, lateral, heading, most_speed, most_turn = tolerances
    size = absolute(speed)
    per_lateral = most_turn / lateral
    per_heading = sqrt((most_turn / heading) ** 2 + 2 * size * per_lateral)
    side = speed / maximum(size, _SLOW) * per_lateral
    ahead = speed * off.cos + most_speed / along * off.ahead
    return ahead, turn + side * off.left * sinc_to_pi(off.turned) + per_heading * off.turned


class KanayamaTracker(HeadingTracker):
    """Leads a base that goes along its heading to a moving pose, by Kanayama and others (1990, eq. 8).

    v = v_r cos e_θ + K_x e_x, ω = ω_r + v_r (K_y e_y + K_θ sin e_θ), with the errors in the base's axes. The gains that
    nobody writes are the paper's; K_θ² = 4 K_y damps critically.
    """

    tunable: ClassVar[tuple[str, ...]] = ("K_x", "K_y", "K_theta")
    sources: ClassVar[tuple[str, ...]] = ("kanayama1990",)

    type: Literal["kanayama"] = "kanayama"
    K_x: Plain = default(10.0, "Speed by the distance ahead (1/s), default 10.")
    K_y: Plain = default(64.0, "Curvature by the distance to the side (1/m^2), default 64.")
    K_theta: Plain = default(16.0, "Curvature by the heading's sine (1/m), default 16.")

    def command(self, off: PoseError, sight: Sight, read: Read) -> tuple[Scalar, ...]:
        """Speed and turning rate."""
        speed, turn = sight.references["v_x"], sight.references["omega"]
        curve = read(self.K_y) * off.left + read(self.K_theta) * off.sin
        return speed * off.cos + read(self.K_x) * off.ahead, turn + speed * curve


class SamsonTracker(HeadingTracker):
    """Leads a base that goes along its heading to a moving pose from anywhere, by Samson's nonlinear law.

    v = v_r cos e_θ + k e_x, ω = ω_r + b v_r e_y sin e_θ/e_θ + k e_θ with k = 2 ζ √(ω_r² + b v_r²), the errors in the
    base's axes (Siciliano and others 2009, sec. 11.5.1). Known as Ramsete, too.
    """

    tunable: ClassVar[tuple[str, ...]] = ("b", "damping")
    sources: ClassVar[tuple[str, ...]] = ("siciliano2009",)

    type: Literal["samson"] = "samson"
    b: Plain = default(2.0, "How strongly it steers toward the path (1/m^2), default 2.")
    damping: Positive[Ratio] = default(0.7, "Damping ratio ζ of the errors, default 0.7.")

    def command(self, off: PoseError, sight: Sight, read: Read) -> tuple[Scalar, ...]:
        """Speed and turning rate."""
        speed, turn, b = sight.references["v_x"], sight.references["omega"], read(self.b)
        gain = 2 * read(self.damping) * sqrt(turn * turn + b * speed * speed)
        turned = turn + b * speed * off.left * sinc_to_pi(off.turned) + gain * off.turned
        return speed * off.cos + gain * off.ahead, turned


class HolonomicTracker(PoseTracker):
    """Leads a base that goes any way to a moving pose: its twist, and a share of the errors.

    (v_x, v_y) = R(e_θ) (v_x, v_y)_r + k (e_x, e_y), ω = ω_r + k_θ e_θ in the base's axes, with k = Δv/Δx and
    k_θ = Δω/Δθ. So errors decay as e^(−k t) and e^(−k_θ t) where the base has these velocities at once.
    """

    takers: ClassVar[tuple[str, ...]] = ("speed_to", "sideways_to", "turn_to")
    tunable: ClassVar[tuple[str, ...]] = ("distance", "heading", "speed", "turn")

    type: Literal["holonomic"] = "holonomic"
    speed_to: str = Field(description=_SPEED_TO)
    sideways_to: str = Field(description="What takes the speed to the left: another controller's reference.")
    turn_to: str = Field(description=_TURN_TO)
    distance: Positive[Length] = default("0.1 m", "Tolerance of the distance (m), default 0.1 m.")
    heading: Positive[Angle] = default("10 deg", "Tolerance of the heading (rad), default 10 deg.")
    speed: Positive[Speed] = default(
        "0.3 m/s", "Speed that may be spent on the distance (m/s), default 0.3 m/s."
    )
    turn: Positive[Rate] = default(
        "0.5 rad/s", "Turning rate that may be spent on the heading (rad/s), default 0.5 rad/s."
    )

    def cannot(self, mobility: int, steerability: int) -> str | None:
        """It has to go any way, at once or by steering."""
        return None if mobility + steerability >= 3 else "its wheels don't let it go sideways"

    def command(self, off: PoseError, sight: Sight, read: Read) -> tuple[Scalar, ...]:
        """Speeds and turning rate."""
        tolerances = (self.distance, self.heading, self.speed, self.turn)
        return led_back(off, named_in(sight.references, TWIST), *map(read, tolerances))


def led_back(
    off: PoseError, twist: Sequence[Scalar], distance: Scalar, heading: Scalar, speed: Scalar, turn: Scalar
) -> Twist:
    """The twist of a reference as seen from a base beside it, and a share of the errors, by tolerances."""
    gain, (v_x, v_y, omega) = speed / distance, in_base(off, twist)
    return v_x + gain * off.ahead, v_y + gain * off.left, omega + turn / heading * off.turned


def in_base(off: PoseError, twist: Sequence[Scalar]) -> Twist:
    """A twist in the reference's axes, or its rate, in the base's."""
    v_x, v_y, omega = twist
    return off.cos * v_x - off.sin * v_y, off.sin * v_x + off.cos * v_y, omega


class CarTracker(PoseTracker):
    """What trackers of cars share: a speed, and a steering angle within a limit."""

    takers: ClassVar[tuple[str, ...]] = ("speed_to", "steer_to")
    tunable: ClassVar[tuple[str, ...]] = ("gain", "limit", "look_ahead")

    speed_to: str = Field(description=_SPEED_TO)
    steer_to: str = Field(description=_STEER_TO)
    wheelbase: Positive[Length] = Field(description=_WHEELBASE)
    gain: Positive[Rate] = default("2.5 rad/s", "By what rate errors decay, k (1/s), default 2.5.")
    limit: Positive[Angle] = default("35 deg", "The greatest steering angle (rad), default 35 deg.")

    def cannot(self, mobility: int, steerability: int) -> str | None:
        """Something has to steer."""
        return None if steerability else "none of its wheels steers"


class StanleyTracker(CarTracker):
    """Leads a car to a moving pose by its front axle: Stanley's law (Thrun and others 2006).

    δ = φ_r − θ − atan(k e/v): φ_r is the reference's direction at its front axle, θ_r + δ_r with tan δ_r = L ω_r/v_r,
    and e how far the front axle is to the left of the reference's. The speed is v_r cos e_θ + k e_x. For going forward.
    """

    sources: ClassVar[tuple[str, ...]] = ("thrun2006",)

    type: Literal["stanley"] = "stanley"

    def command(self, off: PoseError, sight: Sight, read: Read) -> tuple[Scalar, ...]:
        """Speed and steering angle."""
        speed, gain, length = sight.references["v_x"], read(self.gain), read(self.wheelbase)
        forward = maximum(speed, _SLOW)
        # in the base's axes: where the reference's front axle is, seen from the base's own, and how it moves
        way = off.turned + atan(length * sight.references["omega"] / forward)
        to_x, to_y = off.ahead + length * (off.cos - 1), off.left + length * off.sin
        beside = sin(way) * to_x - cos(way) * to_y
        angle = way - atan(gain * beside / forward)
        angle = clamp(atan2(sin(angle), cos(angle)), read(self.limit))
        return speed * off.cos + gain * off.ahead, angle


class PurePursuitTracker(CarTracker):
    """Leads a car to a moving pose by the arc through a point ahead of it: pure pursuit (Coulter 1992).

    tan δ = L κ with κ = 2 g_y/(g_x² + g_y²), g the point in the base's axes. It lies a look-ahead beyond the reference,
    on the arc that the reference is on. The speed is v_r cos e_θ + k e_x.
    """

    sources: ClassVar[tuple[str, ...]] = ("coulter1992",)

    type: Literal["pure_pursuit"] = "pure_pursuit"
    look_ahead: Positive[Length] = default(
        "1 m", "How far beyond the reference the point lies (m), default 1 m."
    )

    def command(self, off: PoseError, sight: Sight, read: Read) -> tuple[Scalar, ...]:
        """Speed and steering angle."""
        speed, ahead = sight.references["v_x"], read(self.look_ahead)
        half = ahead * sight.references["omega"] / maximum(speed, _SLOW) / 2
        # the chord of an arc of that length, seen from the base
        chord, way = ahead * sinc(half), off.turned + half
        to_x, to_y = off.ahead + chord * cos(way), off.left + chord * sin(way)
        curve = 2 * to_y / maximum(to_x * to_x + to_y * to_y, ahead * ahead / 100)
        angle = clamp(atan(read(self.wheelbase) * curve), read(self.limit))
        return speed * off.cos + read(self.gain) * off.ahead, angle


CONTROLLERS.add(
    UnicycleTracker, KanayamaTracker, SamsonTracker, HolonomicTracker, StanleyTracker, PurePursuitTracker
)
