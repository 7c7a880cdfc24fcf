"""A differential drive derived by SymPy's LagrangesMethod, run by Trundle.

The robot is the one of a 2014 tutorial on SymPy's mechanics: a body on two driven wheels that roll without slipping,
with the body's centre of mass a distance d ahead of the axle, and a motor with inductance on each wheel. The tutorial
pushes each wheel's hub with the force r τ, where a motor that turns the wheel with the torque τ pushes with τ/r; both
are here. It also had to set d = 0, because the symbolic solution took an hour; nothing is solved symbolically here.

    python examples/from_sympy/diff_drive_lagrange.py
"""

import sympy as sp
from sympy.physics.mechanics import (
    LagrangesMethod,
    Lagrangian,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
)

import trundle

NUMBERS = {"I_zz": 5.0, "t_w": 0.15, "m_w": 2.0, "r": 0.15, "m_b": 50.0, "w": 0.6, "R": 0.05, "L": 1e-4}
# Voltages of the right and the left motor, constant of the left one, duration (s).
CASES = {
    "24 V and 20 V": (24.0, 20.0, 1.0, 30.0),
    "20 V and 20 V": (20.0, 20.0, 1.0, 10.0),
    "24 V twice, K2 = 0.99": (24.0, 24.0, 0.99, 10.0),
}
SHOWN = ("x", "y", "theta", "phi_1_dot", "phi_2_dot")


def build(drive: str = "wheel torque", offset: float = 0.0) -> trundle.Model:
    """The robot as a model; drive: "wheel torque" or the tutorial's "hub force"; offset: d in m."""
    r, w, d, t_w, m_w, m_b, i_zz = sp.symbols("r w d t_w m_w m_b I_zz")
    resistance, inductance = sp.symbols("R L")
    q = x, y, theta, phi_1, phi_2 = dynamicsymbols("x y theta phi_1 phi_2")
    currents, volts, gains = dynamicsymbols("i_1 i_2"), dynamicsymbols("V_1 V_2"), sp.symbols("K_1 K_2")

    ground = ReferenceFrame("N")
    base = ground.orientnew("B", "Axis", [theta, ground.z])
    origin, axle = Point("O"), Point("A")
    origin.set_vel(ground, 0)
    axle.set_pos(origin, x * ground.x + y * ground.y)
    axle.set_vel(ground, x.diff() * ground.x + y.diff() * ground.y)
    center = axle.locatenew("C", d * base.x)
    center.v2pt_theory(axle, ground, base)
    bodies = [RigidBody("body", center, base, m_b, (inertia(base, 0, 0, i_zz), center))]

    loads, rolling = [], []
    about_axle, about_diameter = m_w * r**2 / 2, m_w * (3 * r**2 + t_w**2) / 12
    for side, spin, current, gain in zip((-w, w), (phi_1, phi_2), currents, gains, strict=True):
        wheel = base.orientnew(f"W_{spin.name}", "Axis", [spin, base.y])
        hub = axle.locatenew(f"H_{spin.name}", side * base.y)
        hub.v2pt_theory(axle, ground, base)
        tensor = inertia(base, about_diameter, about_axle, about_diameter)
        bodies.append(RigidBody(f"wheel {spin.name}", hub, wheel, m_w, (tensor, hub)))
        contact = hub.locatenew(f"P_{spin.name}", -r * ground.z)
        contact.v2pt_theory(hub, ground, wheel)
        rolling.append(contact.vel(ground).dot(base.x))
        torque = gain * current
        loads.append((wheel, torque * base.y) if drive == "wheel torque" else (hub, r * torque * base.x))
    rolling.append(
        axle.vel(ground).dot(base.y)
    )  # the wheels share an axle: one of them keeps it from sliding

    method = LagrangesMethod(
        Lagrangian(ground, *bodies), q, nonhol_coneqs=rolling, forcelist=loads, frame=ground
    )
    method.form_lagranges_equations()
    motors = {
        current: (volt - resistance * current - gain * spin.diff()) / inductance
        for current, volt, gain, spin in zip(currents, volts, gains, (phi_1, phi_2), strict=True)
    }
    return trundle.from_sympy(
        method,
        inputs=volts,
        extra_states=motors,
        outputs={"forward speed": axle.vel(ground).dot(base.x)},
        parameters={**NUMBERS, d: offset, "K_1": 1.0, "K_2": 1.0},
        name=f"diff drive, {drive}",
    )


def final_states(model: trundle.Model, case: str) -> dict[str, float]:
    """The states at the end of one of the CASES, from rest at the origin."""
    right, left, gain, duration = CASES[case]
    run = trundle.simulate(
        model, duration, {"V_1": right, "V_2": left}, parameters={"K_2": gain}, rtol=1e-10, atol=1e-12
    )
    return {name: run.final[name] for name in SHOWN}


def main() -> None:
    """Print the final states of every case, with both drives, the centre of mass on the axle and 0.1 m ahead."""
    for offset in (0.0, 0.1):
        for drive in ("wheel torque", "hub force"):
            model = build(drive, offset)
            print(
                f"\n{model.name}, d = {offset:g} m: {model.operations} operations, "
                f"constraints {model.constraints.explain()}"
            )
            print(f"{'':24}" + "".join(f"{name:>16}" for name in SHOWN))
            for case in CASES:
                end = final_states(model, case)
                print(f"{case:24}" + "".join(f"{value:16.9f}" for value in end.values()))


if __name__ == "__main__":
    main()
