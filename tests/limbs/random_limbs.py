"""Random trees of bodies as descriptions, and motions of them."""

import numpy as np

import trundle
from trundle.spatial.vectors import euler_rotation

KINDS = ("revolute", "spherical", "prismatic", "universal", "cylindrical", "screw", "planar", "fixed")
BASES = ("fixed", "planar", "floating")


def random_body(rng):
    """A cloud of points: an inertia that exists."""
    points = rng.normal(size=(6, 3)) * 0.3
    points -= points.mean(axis=0)
    about = np.sum(points**2) * np.eye(3) - points.T @ points
    inertia = {
        a + b: float(about["xyz".index(a), "xyz".index(b)]) for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")
    }
    return {
        "mass": float(rng.uniform(0.5, 2)),
        "center_of_mass": rng.normal(size=3).tolist(),
        "inertia": inertia,
    }


def random_limb(rng, count, kinds=KINDS, chain=False, base=None, **every):
    """A robot of `count` joints; `every` are fields of all joints that turn or slide along one axis."""
    joints = {}
    for k in range(count):
        kind = str(rng.choice(kinds))
        parent = k - 1 if chain else int(rng.integers(-1, k))
        joint = {"type": kind, "at": rng.normal(size=3).tolist(), "rpy": rng.normal(size=3).tolist()}
        if parent >= 0:
            joint["parent"] = f"j{parent}"
        if kind not in ("spherical", "fixed"):
            joint["axis"] = rng.normal(size=3).tolist()
        if kind == "universal":
            joint["axis2"] = np.cross(joint["axis"], rng.normal(size=3)).tolist()
        if kind == "screw":
            joint["pitch"] = float(rng.normal() * 0.2)
        if kind in ("revolute", "prismatic", "screw"):
            joint |= every
        joints[f"j{k}"] = {**joint, "body": random_body(rng)}
    base = str(rng.choice(BASES)) if base is None else base
    body = {} if base == "fixed" else {"body": random_body(rng)}
    return trundle.Robot(name="limb", base=base, **body, joints=joints, gravity=float(rng.uniform(1, 20)))


def random_samples(rng, robot, count):
    """Positions, speeds and accelerations that have nothing to do with each other, quaternions of length 1."""
    model = trundle.derive(robot) if not isinstance(robot, trundle.Model) else robot
    names, speeds = model.coordinates, model.speeds
    q = rng.normal(size=(count, len(names)))
    q = model.quantities.normalised(names, q.T).T
    return trundle.JointMotion(
        np.arange(float(count)),
        names,
        speeds,
        q,
        rng.normal(size=(count, len(speeds))),
        rng.normal(size=(count, len(speeds))),
    )


def random_rotation(rng):
    return np.array(euler_rotation(*rng.normal(size=3)), dtype=float)


def smooth_motion(rng, robot, count=28, duration=0.4):
    """A motion of sines at Chebyshev's points, where derivatives are a matrix: right to 1e-11; and that matrix."""
    model = trundle.derive(robot)
    nodes = np.cos(np.pi * np.arange(count) / (count - 1))[::-1]
    time = duration * (nodes + 1) / 2
    weights = (-1.0) ** np.arange(count) * np.where((np.arange(count) % (count - 1)) == 0, 0.5, 1.0)
    gaps = time[:, None] - time + np.eye(count)
    slopes = weights / weights[:, None] / gaps
    slopes -= np.eye(count)
    slopes -= np.diag(slopes.sum(axis=1))
    q = _sines(rng, model, time)
    rates = slopes @ q
    u = np.array([_speeds(model, *pair) for pair in zip(q, rates, strict=True)])
    return trundle.JointMotion(time, model.coordinates, model.speeds, q, u, slopes @ u), slopes


def _sines(rng, model, time):
    """q at those times; a quaternion that came near 0 would turn faster than Chebyshev's points tell."""
    while True:
        sines = np.array(
            [
                rng.normal(scale=0.7)
                + rng.uniform(-0.3, 0.3) * np.sin(rng.uniform(1, 4) * time + rng.uniform(0, 6))
                for _ in model.coordinates
            ]
        )
        q = model.quantities.normalised(model.coordinates, sines)
        if (sines / q).min() > 0.6:
            return q.T


def _speeds(model, q, rates):
    """u of q̇ = N(q) u, by least squares."""
    n, s = len(q), len(model.speeds)
    columns = np.array([model.rhs(np.concatenate([q, unit]), [])[:n] for unit in np.eye(s)]).T
    columns = columns - np.array(model.rhs(np.concatenate([q, np.zeros(s)]), [])[:n])[:, None]
    return np.linalg.lstsq(columns, rates, rcond=None)[0]
