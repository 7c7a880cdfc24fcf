"""For research: a URDF and a model by SymPy, evaluated, trimmed, linearised, regulated, and run by a pool of processes.

python examples/python/researcher.py
"""

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import sympy as sp
from scipy.linalg import solve_continuous_are
from sympy.physics.mechanics import LagrangesMethod, Point, ReferenceFrame, dynamicsymbols

import trundle

POSE = {"shoulder.angle": 0.6, "elbow.angle": 0.8}


def arm() -> trundle.Model:
    """The arm of a URDF file, with a torque at each joint."""
    bare = trundle.load(Path(__file__).parents[1] / "urdf" / "arm.urdf")
    motors = {
        f"{joint}_motor": {"type": "torque", "drives": joint} for joint in ("turret", "shoulder", "elbow")
    }
    return trundle.derive(trundle.Robot(**{**dict(bare), "motors": motors}))


def cart_pole() -> trundle.Model:
    """A pole on a cart that a force pushes, by SymPy's Lagrange."""
    x, angle, force = dynamicsymbols("x angle force")
    cart, pole, length, g = sp.symbols("cart pole length g")
    speed, turning = x.diff(), angle.diff()
    across, up = speed + length * turning * sp.cos(angle), length * turning * sp.sin(angle)
    energy = (cart * speed**2 + pole * (across**2 + up**2)) / 2 - pole * g * length * sp.cos(angle)
    ground, hub = ReferenceFrame("N"), Point("hub")
    hub.set_vel(ground, speed * ground.x)
    method = LagrangesMethod(energy, [x, angle], forcelist=[(hub, force * ground.x)], frame=ground)
    method.form_lagranges_equations()
    return trundle.from_sympy(method, inputs=[force], parameters={cart: 1, pole: 0.2, length: 0.5, g: 9.81})


def regulated(model: trundle.Model, start: dict[str, float], targets: dict[str, float]) -> float:
    """How far from a steady motion the model ends under the linear-quadratic regulator that was made for it."""
    steady = model.trim(targets)
    part = steady.linearize().reduced()
    weights = np.eye(len(part.states)), np.eye(len(part.inputs))
    gain = dict(zip(model.inputs, part.B.T @ solve_continuous_are(part.A, part.B, *weights), strict=True))
    inputs = {
        name: lambda t, state, name=name: steady.input[name] - gain[name] @ part.deviation(state)
        for name in model.inputs
    }
    run = trundle.simulate(model, 8.0, inputs, initial={**steady.state, **start}, progress=False)
    return float(np.linalg.norm(part.deviation(run.final)))


if __name__ == "__main__":
    model = arm()
    turning = {"turret.rate": 1.0}
    print(
        "M =",
        model.mass_matrix(POSE).round(4).tolist(),
        "\nbias =",
        model.bias(POSE, turning).round(4).tolist(),
    )
    print("rhs =", model.rhs({**POSE, **turning}, {"elbow_motor.torque": "1 N m"}).round(3).tolist())
    print("torques that hold it:", model.trim(POSE).u.round(4), "gravity:", model.gravity(POSE).round(4))
    print("poles of the pole that stands:", cart_pole().trim(x=0.0).linearize().poles.round(4))

    # Models pickle, so each process has them without deriving them again.
    with ProcessPoolExecutor(2) as pool:
        standing = [
            pool.submit(regulated, cart_pole(), {"angle": lean}, {"x": 0.0}) for lean in (0.05, 0.1, 0.2)
        ]
        holding = pool.submit(regulated, model, {"elbow.angle": 1.0}, POSE)
        print("left after 8 s, of three leans:", [f"{each.result():.1e}" for each in standing])
        print(f"and of 0.2 rad beside the arm's pose: {holding.result():.1e}")
