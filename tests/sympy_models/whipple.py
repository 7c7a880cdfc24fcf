"""The Whipple bicycle by SymPy's KanesMethod, and the linearised equations of Meijaard et al. (2007) in exact numbers.

x forward, y right, z down, as in the paper. In the upright reference configuration the rear wheel touches the ground
at the origin. Both wheels roll without slipping on knife edges.
"""

from typing import Any

import mpmath
import sympy as sp
from sympy.physics.mechanics import (
    KanesMethod,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
)

# Table 1 of the paper, SI: wheelbase, trail, steer axis tilt, gravity, then wheels R and F, rear body B, handlebar H.
# Compared with BicycleParameters' tests, DynamicistToolKit (both J. K. Moore) and D. L. Peterson's bicycle code: all 26
# numbers agree.
BENCHMARK = {
    "w": 1.02, "c": 0.08, "tilt": float(sp.pi / 10), "g": 9.81,
    "r_R": 0.3, "m_R": 2.0, "R_xx": 0.0603, "R_yy": 0.12,
    "x_B": 0.3, "z_B": -0.9, "m_B": 85.0, "B_xx": 9.2, "B_xz": 2.4, "B_yy": 11.0, "B_zz": 2.8,
    "x_H": 0.9, "z_H": -0.7, "m_H": 4.0, "H_xx": 0.05892, "H_xz": -0.00756, "H_yy": 0.06, "H_zz": 0.00708,
    "r_F": 0.35, "m_F": 3.0, "F_xx": 0.1405, "F_yy": 0.28,
}  # fmt: skip


def whipple() -> Any:
    """The formed KanesMethod: q = yaw, roll, steer and (dependent) pitch; u = their rates and the wheels' spins.

    Independent speeds: roll, steer and rear wheel; dependent: yaw, pitch and front wheel, by the front contact's
    three components of velocity. The rear wheel's rolling gives its centre's velocity.
    """
    p: Any = {name: sp.Symbol(name) for name in BENCHMARK}
    moving: Any = dynamicsymbols
    yaw, roll, steer, pitch = moving("yaw roll steer pitch")
    u_yaw, u_roll, u_steer, u_pitch, u_rear, u_front = moving("u_yaw u_roll u_steer u_pitch u_rear u_front")
    s, c = sp.sin(p["tilt"]), sp.cos(p["tilt"])

    ground = ReferenceFrame("N")
    heading = ground.orientnew("A", "Axis", [yaw, ground.z])
    heading.set_ang_vel(ground, u_yaw * ground.z)
    leaning = heading.orientnew("L", "Axis", [roll, heading.x])
    leaning.set_ang_vel(heading, u_roll * heading.x)
    frame = leaning.orientnew("B", "Axis", [pitch, leaning.y])
    frame.set_ang_vel(leaning, u_pitch * leaning.y)
    head = frame.orientnew("T", "Axis", [p["tilt"], frame.y])
    head.set_ang_vel(frame, 0)
    fork = head.orientnew("H", "Axis", [steer, head.z])
    fork.set_ang_vel(head, u_steer * head.z)
    level = fork.orientnew(
        "K", "Axis", [-p["tilt"], fork.y]
    )  # the fork's axes for which its inertia is given
    level.set_ang_vel(fork, 0)
    rear_spin, front_spin = ReferenceFrame("R"), ReferenceFrame("F")
    rear_spin.orient_axis(frame, frame.y, 0)
    rear_spin.set_ang_vel(frame, u_rear * frame.y)
    front_spin.orient_axis(fork, fork.y, 0)
    front_spin.set_ang_vel(fork, u_front * fork.y)

    rear = Point("R")
    rear.set_vel(ground, rear_spin.ang_vel_in(ground).cross(-p["r_R"] * leaning.z))
    joint = rear.locatenew("S", (p["w"] + p["c"]) * frame.x + p["r_R"] * frame.z)
    front = joint.locatenew("F", (p["r_F"] * s - p["c"] * c) * fork.x - (p["c"] * s + p["r_F"] * c) * fork.z)
    ahead = p["x_H"] - p["w"] - p["c"]
    bar = joint.locatenew("H", (ahead * c - p["z_H"] * s) * fork.x + (ahead * s + p["z_H"] * c) * fork.z)
    seat = rear.locatenew("B", p["x_B"] * frame.x + (p["z_B"] + p["r_R"]) * frame.z)
    for point, base, body in (
        (joint, rear, frame),
        (seat, rear, frame),
        (front, joint, fork),
        (bar, joint, fork),
    ):
        point.v2pt_theory(base, ground, body)

    across: Any = ground.z.dot(fork.y)
    lowest = ground.z - across * fork.y
    down = p["r_F"] * lowest / sp.sqrt(1 - across**2)
    slip = front.vel(ground) + front_spin.ang_vel_in(ground).cross(down)
    height = (front.pos_from(rear) + down - p["r_R"] * leaning.z).dot(ground.z)

    def tensor(axes: Any, xx: Any, yy: Any, zz: Any, xz: Any = 0) -> Any:
        return inertia(axes, xx, yy, zz, izx=xz)

    bodies = [
        RigidBody(
            "rear wheel", rear, rear_spin, p["m_R"], (tensor(frame, p["R_xx"], p["R_yy"], p["R_xx"]), rear)
        ),
        RigidBody(
            "frame", seat, frame, p["m_B"], (tensor(frame, p["B_xx"], p["B_yy"], p["B_zz"], p["B_xz"]), seat)
        ),
        RigidBody(
            "bar", bar, fork, p["m_H"], (tensor(level, p["H_xx"], p["H_yy"], p["H_zz"], p["H_xz"]), bar)
        ),
        RigidBody(
            "front wheel", front, front_spin, p["m_F"], (tensor(fork, p["F_xx"], p["F_yy"], p["F_xx"]), front)
        ),
    ]
    rates = {yaw: u_yaw, roll: u_roll, steer: u_steer, pitch: u_pitch}
    method = KanesMethod(
        ground,
        q_ind=[yaw, roll, steer],
        u_ind=[u_roll, u_steer, u_rear],
        kd_eqs=[angle.diff() - rate for angle, rate in rates.items()],
        q_dependent=[pitch],
        configuration_constraints=[height],
        u_dependent=[u_yaw, u_pitch, u_front],
        velocity_constraints=[slip.dot(axis) for axis in (heading.x, heading.y, ground.z)],
        constraint_solver="CRAMER",
    )
    weights = [(body.masscenter, body.mass * p["g"] * ground.z) for body in bodies]
    method.kanes_equations(bodies, weights)
    return method


@mpmath.workdps(40)
def canonical() -> tuple[Any, Any, Any, Any]:
    """M, C₁, K₀, K₂ of M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = f for roll and steer, to 40 digits.

    Appendix A of the paper, from the masses of the whole and of the front assembly: another way to the linearised
    motion than SymPy's.
    """
    p: Any = {name: mpmath.mpf(str(value)) for name, value in BENCHMARK.items()}
    w, c, tilt = p["w"], p["c"], mpmath.pi / 10
    s, k = mpmath.sin(tilt), mpmath.cos(tilt)
    # mass, x, z, and moments about the own centre: xx, xz, zz
    parts = {
        "R": (p["m_R"], 0, -p["r_R"], p["R_xx"], 0, p["R_xx"]),
        "B": (p["m_B"], p["x_B"], p["z_B"], p["B_xx"], p["B_xz"], p["B_zz"]),
        "H": (p["m_H"], p["x_H"], p["z_H"], p["H_xx"], p["H_xz"], p["H_zz"]),
        "F": (p["m_F"], w, -p["r_F"], p["F_xx"], 0, p["F_xx"]),
    }
    m_t, x_t, z_t, t_xx, t_xz, t_zz = _lumped(list(parts.values()), about_center=False)
    m_a, x_a, z_a, a_xx, a_xz, a_zz = _lumped([parts["H"], parts["F"]], about_center=True)
    u = (x_a - w - c) * k - z_a * s  # how far the front assembly's centre is ahead of the steer axis
    ll = m_a * u**2 + a_xx * s**2 + 2 * a_xz * s * k + a_zz * k**2
    lx = -m_a * u * z_a + a_xx * s + a_xz * k
    lz = m_a * u * x_a + a_xz * s + a_zz * k
    mu = c / w * k
    front = p["F_yy"] / p["r_F"]
    spin = p["R_yy"] / p["r_R"] + front
    static = m_a * u + mu * m_t * x_t
    coupled = lx + mu * t_xz
    return (
        [[t_xx, coupled], [coupled, ll + 2 * mu * lz + mu**2 * t_zz]],
        [
            [0, mu * spin + front * k + t_xz * k / w - mu * m_t * z_t],
            [-(mu * spin + front * k), lz * k / w + mu * (static + t_zz * k / w)],
        ],
        [[m_t * z_t, -static], [-static, -static * s]],
        [[0, (spin - m_t * z_t) * k / w], [0, (static + front * s) * k / w]],
    )


def _lumped(parts: list[tuple[Any, ...]], *, about_center: bool) -> tuple[Any, ...]:
    """Mass, centre and xx, xz, zz of several bodies together, about their centre or about the origin."""
    mass = sum(m for m, *_ in parts)
    x, z = (sum(part[0] * part[axis] for part in parts) / mass for axis in (1, 2))
    x_0, z_0 = (x, z) if about_center else (0, 0)
    xx = sum(xx + m * (b - z_0) ** 2 for m, _, b, xx, _, _ in parts)
    xz = sum(xz - m * (a - x_0) * (b - z_0) for m, a, b, _, xz, _ in parts)
    zz = sum(zz + m * (a - x_0) ** 2 for m, a, _, _, _, zz in parts)
    return mass, x, z, xx, xz, zz


@mpmath.workdps(40)
def exact_eigenvalues(speed: float) -> list[Any]:
    """The four roots of det(M λ² + v C₁ λ + g K₀ + v² K₂) at a forward speed (m/s), by real part, then imaginary."""
    m, c_1, k_0, k_2 = canonical()
    v, g = mpmath.mpf(str(speed)), mpmath.mpf(str(BENCHMARK["g"]))

    def entry(i: int, j: int) -> list[Any]:
        return [m[i][j], v * c_1[i][j], g * k_0[i][j] + v**2 * k_2[i][j]]

    def times(a: list[Any], b: list[Any]) -> list[Any]:
        return [sum(a[i] * b[n - i] for i in range(3) if 0 <= n - i < 3) for n in range(5)]

    diagonal, others = times(entry(0, 0), entry(1, 1)), times(entry(0, 1), entry(1, 0))
    found = mpmath.polyroots(
        [a - b for a, b in zip(diagonal, others, strict=True)], maxsteps=500, extraprec=200
    )
    return sorted(found, key=lambda root: (mpmath.re(root), mpmath.im(root)))
