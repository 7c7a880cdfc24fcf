"""A contact law of your own: a brush tyre. A skid-steered cart creeps round on it; dry friction holds it straight.

Bristles on the rim bend in proportion to the slip for each distance rolled, until those at the end of the contact slide
(Pacejka 2012, section 3.2): F = μN (3s − 3s² + s³), s = C σ/(3μN) up to 1, with the slip σ = |v|/|R ω|.
"""

from typing import ClassVar, Literal

import trundle
from trundle.robot import ContactLaw, Push, Read, Touch, default, parse_robot
from trundle.robot.values import Force, Positive
from trundle.scalars import minimum, sqrt


@trundle.register
class Brush(ContactLaw):
    """A brush tyre, as stiff along its heading as along its axle."""

    called: ClassVar[str] = "brush tyre"

    type: Literal["brush"] = "brush"
    tread: Positive[Force] = default(3000.0, "Force C for each unit of slip, where that is small (N).")

    def push(self, touch: Touch, read: Read) -> Push:
        """Against the slip in all directions together; at rest bristles hold like dampers below `slip_speed`."""
        tread, width = read(self.tread), read(self.slip_speed)
        grip = read(self.friction) * touch.load + 1e-9  # a wheel that is lifted divides by no zero
        rolled = sqrt(touch.rim * touch.rim + width * width)
        slip = sqrt(sum(v * v for v in touch.slip) + 1e-18)
        bent = minimum(slip, 3 * grip * rolled / tread)  # slip of bristles that don't slide
        share = tread * bent / (3 * grip * rolled)
        force = grip * share * (3 - 3 * share + share * share)
        return Push([-force * v / slip for v in touch.slip])

    def words(self, read: Read) -> str:
        """Its numbers."""
        return f"brush tyre, friction {read(self.friction):.3g}, C = {read(self.tread):.4g} N"


def cart(contact: str) -> trundle.Robot:
    """Four driven wheels that can't be steered, on this contact."""
    places = {"fl": [0.25, 0.3, 0], "fr": [0.25, -0.3, 0], "rl": [-0.25, 0.3, 0], "rr": [-0.25, -0.3, 0]}
    wheel = {"radius": 0.12, "mass": 1.5, "contact": contact, "friction": 0.8}
    return parse_robot(
        {
            "name": f"{contact} cart",
            "body": {"mass": 40, "inertia": {"zz": 2.5}},
            "wheels": {name: {"at": at, **wheel} for name, at in places.items()},
            "motors": {f"{name}_motor": {"type": "torque", "drives": name} for name in places},
        }
    )


if __name__ == "__main__":
    torques = {"fl_motor.torque": 3.0, "rl_motor.torque": 3.0, "fr_motor.torque": 9.0, "rr_motor.torque": 9.0}
    for contact in ("brush", "slip"):
        run = trundle.simulate(trundle.derive(cart(contact)), 3.0, torques)
        print(f"{contact:>6}: turned by {run.final['theta']:.3f} rad, lost {run['energy.losses'][-1]:.1f} J")
