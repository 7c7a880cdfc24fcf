"""Contact laws: how a wheel meets the ground. One class a law: its keys, its physics in any scalar, its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

from trundle.errors import InputError
from trundle.robot import units
from trundle.robot.component import default
from trundle.robot.kinds import Kind, Read, Registry, State, must_define, must_measure
from trundle.robot.units import PhysicalQuantity
from trundle.robot.values import Damping, NotNegative, Positive, Ratio, Speed, Stiffness
from trundle.scalars import Scalar, maximum, smooth_sign, sqrt


class Bearing(NamedTuple):
    """How the ground carries a wheel that sinks into it: the depth of its contact (m), how fast it sinks (m/s), and the
    ground's stiffness (N/m) and damping (N s/m) under it.
    """

    depth: Scalar
    sinking: Scalar
    stiffness: Scalar
    damping: Scalar

    @property
    def load(self) -> Scalar:
        """max(K h + D ḣ, 0) in N: it pushes and never pulls."""
        return maximum(self.stiffness * self.depth + self.damping * self.sinking, 0)


class Touch(NamedTuple):
    """What a contact does now.

    Attributes
    ----------
    slip : tuple of scalars, m/s
        The velocity of the wheel's material against the ground in each direction in which the ground can push: along
        the heading (traction), then along the axle (side force); along the roller for wheels with rollers.
    load : scalar, N
        The force between wheel and ground.
    rim : scalar, m/s
        Speed of the rim, radius times spin rate: slip[0] + rim is the wheel's own speed along its heading.
    radius : scalar, m
        The wheel's radius.
    states : mapping of str to scalar
        The law's own states by name.
    bearing : Bearing or None
        How deep it is in the ground, on terrain; None on a planar base, which rests on rigid ground.
    width : scalar, m
        The wheel's, for laws that carry it; 0 where nobody says it.
    """

    slip: tuple[Scalar, ...]
    load: Scalar
    rim: Scalar
    radius: Scalar
    states: Mapping[str, Scalar]
    bearing: Bearing | None = None
    width: Scalar = 0


class Push(NamedTuple):
    """What the ground does to a wheel: a force in each direction of the slip (N), a moment about its axle (N m), rates
    of the law's own states, further outputs; the power lost (W; None: all that the forces take out) and what is stored
    (J). With states, `loss` is −f·v less the rate of what is stored. A law that `carries` gives the load, too (N).
    """

    forces: Sequence[Scalar]
    moment: Scalar = 0
    rates: Mapping[str, Scalar] = {}
    outputs: Mapping[str, Scalar] = {}
    loss: Scalar | None = None
    stored: Scalar = 0
    load: Scalar | None = None


def _check_law(kind: type[Kind]) -> None:
    """Raise InputError where a law's class lacks its `push`, or both rolls and pushes."""
    assert issubclass(kind, ContactLaw)
    must_measure(kind, "output", kind.outputs)
    if kind.pushes or kind.resists:
        must_define(kind, ContactLaw, "push")
    if kind.pushes and kind.rolls:
        raise InputError(
            f"{kind.__name__} rolls and pushes: the forces of a constraint follow from the motion",
            hint="leave one out; a moment about the axle of a wheel that rolls goes by resists = True",
        )


LAWS = Registry("contact law", "ideal", key="contact", check=_check_law)


class ContactLaw(Kind):
    """How a wheel meets the ground. Its keys stand among the wheel's own.

    What a law can do: `rolls`: its wheel never slips (a constraint, whose forces follow from the motion); `pushes`: it
    gives forces by `push`; with neither, the wheel moves as if the ground were not there. `resists`: `push` gives a
    moment about the axle, beside forces or on a wheel that rolls (whose slip and forces are empty then). `stiff`: its
    forces change over so small a slip that explicit methods would have to resolve it. `outputs`: what else it shows.
    `carries`: its `push` gives the load, too, by how deep the wheel is in the ground; so it needs a terrain.
    `firmness`: the field, of a law that carries, in which that load is linear: errors say which value would do.
    `spins`: its forces are those of a wheel that spins about an axle; a foot has none.
    """

    family: ClassVar[Registry] = LAWS
    inline: ClassVar[bool] = True
    rolls: ClassVar[bool] = False
    pushes: ClassVar[bool] = True
    resists: ClassVar[bool] = False
    stiff: ClassVar[bool] = True
    carries: ClassVar[bool] = False
    firmness: ClassVar[str] = ""
    spins: ClassVar[bool] = False
    outputs: ClassVar[Mapping[str, PhysicalQuantity]] = {}
    tunable: ClassVar[tuple[str, ...]] = ("friction", "slip_speed")

    type: str
    # Every law has them, so that a wheel keeps its friction while another law is tried.
    friction: NotNegative[Ratio] = default(0.8, "Friction coefficient of a contact that slips, default 0.8.")
    slip_speed: Positive[Speed] = default(
        0.01, "Slip at which friction nears its full force (m/s), default 0.01."
    )

    def default_counts(self, field: str) -> bool:
        """What all laws have has an effect where a law pushes; one that doesn't read it says so."""
        return self.pushes and field in self.tunable

    @property
    def grips(self) -> bool:
        """Whether the ground does anything to the wheel but carry it."""
        return self.rolls or self.pushes

    def states(self, read: Read, directions: Sequence[str]) -> Mapping[str, State]:
        """Its own states by name, for a wheel with these directions ("rolling", "lateral")."""
        return {}

    def push(self, touch: Touch, read: Read) -> Push:
        """What the ground does to the wheel now; `read` turns a field of the law into a scalar."""
        raise NotImplementedError

    def creep(self, share: Scalar, read: Read) -> Scalar:
        """The slip (m/s) at which it lasts to give a share of its grip μ N, below 1; 0 where it holds without slip."""
        return 0.0 * share

    def drag(self, speed: Scalar, read: Read) -> Scalar | None:
        """g(v)/v (s/m) of a contact that slides at v (m/s) and gives the share g of its grip μ N against that, in all
        directions alike; None where its force hangs on more than that.
        """
        return None

    def words(self, read: Read) -> str:
        """The law in a few words, with its numbers."""
        return self.called


class Ideal(ContactLaw):
    """Rolls without slipping: a constraint."""

    rolls: ClassVar[bool] = True
    pushes: ClassVar[bool] = False
    stiff: ClassVar[bool] = False

    type: Literal["ideal"] = "ideal"

    def words(self, read: Read) -> str:
        """It has no numbers."""
        return "rolls without slipping"


class Slip(ContactLaw):
    """Regularised Coulomb friction, f = −μ N v/√(|v|² + ε²) in N, with v the slip (m/s).

    Below the speed ε the contact creeps like a damper of μN/ε; the error in the limit friction is (ε/|v|)²/2
    (Pennestrì et al. 2016).
    """

    sources: ClassVar[tuple[str, ...]] = ("pennestri2016",)

    type: Literal["slip"] = "slip"

    def push(self, touch: Touch, read: Read) -> Push:
        """Friction against the slip in all directions together."""
        grip, width = read(self.friction) * touch.load, read(self.slip_speed)
        if len(touch.slip) == 1:
            return Push([-grip * smooth_sign(touch.slip[0], width)])
        speed = sqrt(sum(v * v for v in touch.slip) + width * width)
        return Push([-grip * v / speed for v in touch.slip])

    def creep(self, share: Scalar, read: Read) -> Scalar:
        """v = ε s/√(1 − s²)."""
        return read(self.slip_speed) * share / sqrt(1 - share * share)

    def drag(self, speed: Scalar, read: Read) -> Scalar:
        """1/√(v² + ε²)."""
        width = read(self.slip_speed)
        return 1 / sqrt(speed * speed + width * width)

    def words(self, read: Read) -> str:
        """Friction and the speed below which it is smoothed."""
        return f"friction {read(self.friction):.3g}, smoothed below {read(self.slip_speed):.3g} m/s"


class Free(ContactLaw):
    """No force at all."""

    pushes: ClassVar[bool] = False
    stiff: ClassVar[bool] = False

    type: Literal["free"] = "free"

    def words(self, read: Read) -> str:
        """It has no numbers."""
        return "carries weight, no other force"


class Bristle(ContactLaw):
    """Dry friction whose contact is a spring until it slides, so that a wheel at rest stays where it is.

    ż = v − σ₀|v| z/(μN), f = −σ₀ z − σ₁ ż/(1 + σ₁|v|/(μN)), with z the deflection of the tread and v the slip (Dahl
    1968; σ₁ as in Canudas de Wit, Olsson, Åström & Lischinsky 1995). The damping wears off with the slip: f lies
    between −σ₀ z and −μN v/|v|, so that a tread never gives more than it can hold. States NAME.rolling_deflection
    and NAME.lateral_deflection (m).
    """

    tunable: ClassVar[tuple[str, ...]] = ("friction", "bristle_stiffness", "bristle_damping")
    sources: ClassVar[tuple[str, ...]] = ("dahl1968", "canudas1995")

    type: Literal["bristle"] = "bristle"
    bristle_stiffness: Positive[Stiffness] = default(
        1e5, "Stiffness of the tread before it slides (N/m), default 1e5."
    )
    bristle_damping: Damping = default(300.0, "Damping of the tread (N s/m), default 300.")

    def states(self, read: Read, directions: Sequence[str]) -> Mapping[str, State]:
        """How far the tread is bent in each direction."""
        return {f"{direction}_deflection": State(units.LENGTH) for direction in directions}

    def push(self, touch: Touch, read: Read) -> Push:
        """The spring's and the damper's forces; what the tread stores comes back."""
        stiffness, viscous = read(self.bristle_stiffness), read(self.bristle_damping)
        # A wheel that is lifted has nothing to divide by: a millinewton is no grip, either.
        grip = read(self.friction) * touch.load + 1e-3
        speed = sqrt(sum(v * v for v in touch.slip) + 1e-18)  # with a derivative at rest
        damping = viscous * grip / (grip + viscous * speed)
        bent = tuple(touch.states.values())
        rates = [v - stiffness * speed * z / grip for v, z in zip(touch.slip, bent, strict=True)]
        forces = [-stiffness * z - damping * rate for z, rate in zip(bent, rates, strict=True)]
        kept = [stiffness * z * rate for z, rate in zip(bent, rates, strict=True)]
        loss = sum(-f * v - k for f, v, k in zip(forces, touch.slip, kept, strict=True))
        stored = sum(stiffness * z * z / 2 for z in bent)
        return Push(forces, rates=dict(zip(touch.states, rates, strict=True)), loss=loss, stored=stored)

    def words(self, read: Read) -> str:
        """Friction and stiffness."""
        return (
            f"friction {read(self.friction):.3g}, a spring of {read(self.bristle_stiffness):.3g} N/m at rest"
        )


LAWS.add(Ideal, Slip, Free, Bristle)
# Laws of vehicles on terrain, in a file of their own that few robots need.
LAWS.later("trundle.robot.ground_laws", "linear", "pacejka", "soil")
