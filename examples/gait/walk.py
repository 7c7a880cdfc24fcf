"""A person who walks on a treadmill with a force plate under each foot: C3D files of it, and all that is true of it.

Every angle is a sum of eight harmonics, so angles, rates and accelerations are exact. What the ground has to give then
follows from Newton and Euler, and the feet share it; so the moments in all joints are known without any error. The
numbers were chosen so that feet stand on the belt while they carry, and the pressure goes from heel to toe.

    python examples/gait/walk.py           # writes runs/gait/static.c3d and walk.c3d; needs ezc3d

The truth, at any times (s): `motion(t)` has q, u and u̇, `pushes(t)` the wrenches of the ground on the feet, `loads(t)`
every joint's wrench and, in `loads(t).actuator_torque["knee_flexion_r.rate"]`, the net moment about a joint's own axis.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

import trundle

Array = np.ndarray
Turn = tuple[Array, Array, Array]  # a quaternion over time, (n, 4), and its first two derivatives

PERIOD, SPEED = 1.1, 1.1  # of a stride (s), of the belt (m/s)
START = 0.5  # when the right heel first strikes (s); the left one follows half a period later
ON, OFF = 0.12, 0.62  # parts of a stride: a foot carries all from the one, and leaves the ground at the other
FEET = {"foot_r": 0.0, "foot_l": 0.5}
BETWEEN = 0.06  # m: how far from the belts' border a foot lands
PERSON = trundle.catalog.person(body_mass=70, height=1.75, sex="male")
MARKERS = trundle.catalog.person_markers(PERSON)

# The mean, then cosine and sine of every harmonic of the stride. Of the pelvis mm and degrees (turned about z, then y,
# then x); of the joints degrees, on the right as here, on the left half a stride later.
PELVIS = {
    "x": (0, 0, 0, -10.8, 5.5, 0, 0, -1.5, -0.9, 0, 0, -0.2, -0.3),
    "y": (0, 12.2, -19.5, 0, 0, 0.8, -0.6, 0, 0, 0.2, 0),
    "z": (969.4, 0, 0, -13.6, -7.6),
    "rotation": (0, 4, 0),
    "tilt": (3, 0, 0, 1, 0.5),
    "list": (0, 0, -3.5),
}
TRUNK = {
    "lumbar_extension": (6.39, 0, 0, 0.76, -1.18, 0, 0, 0.02, -0.08),
    "lumbar_bending": (0, 0, 3.5),
    "lumbar_rotation": (0, -6, 0),
}
LEGS = {
    "hip_flexion": (
        20.62,
        14.9,
        1.19,
        3.1,
        -2.84,
        -3.1,
        -0.28,
        -0.33,
        1.16,
        0.12,
        0.06,
        -0.2,
        0.3,
        0.15,
        0.33,
        0.1,
        0,
    ),
    "hip_adduction": (
        0.58,
        -1.52,
        5.33,
        -0.22,
        -0.33,
        0.18,
        -0.02,
        0.13,
        -0.12,
        0,
        -0.04,
        0.02,
        -0.03,
        0,
        -0.04,
    ),
    "hip_rotation": (-5.5, -3.69, -1.75, 0.15, -0.71, 0.27, -0.17, 0.04, -0.04, 0.07, 0.02, 0.06, 0, 0.04, 0),
    "knee_flexion": (
        *(
            34.77,
            -8.71,
            -8.77,
            -3.51,
            1.76,
            -5.15,
            1.34,
            -0.85,
            2.08,
            0.06,
            0.51,
            -0.24,
            0.69,
            0.23,
            0.66,
            0.2,
            0.26,
        ),
    ),
    "ankle_dorsiflexion": (
        *(
            5.77,
            -4.2,
            8.69,
            3.83,
            -9.21,
            -4.6,
            -0.2,
            1.65,
            0.95,
            0.72,
            -0.77,
            0.29,
            0.6,
            1.03,
            0.23,
            0.38,
            -0.07,
        ),
    ),
    "ankle_inversion": (-2.74, -1.04, -2.13, -0.36, 0.34, 0.15, 0.03, 0.01, -0.05, 0, 0.02, 0.03, 0.01),
}
# No stride is like another, nor left like right: legs bend by so many degrees more, which hip, knee and ankle share so
# that soles stay as they are; on the average, and up and down, so many times a stride.
BEND = {"hip_flexion": 1, "knee_flexion": 2, "ankle_dorsiflexion": 1}
MORE, WANDER, OFTEN = {"foot_r": 0.0, "foot_l": 1.5}, 1.2, 0.3
# Where under the foot the pressure is wanted, from the ankle on (m), at parts of the stride.
PRESSURE = ((0, 0.06, 0.15, 0.3, 0.45, 0.55, 0.62, 1), (-0.05, -0.025, 0, 0.03, 0.08, 0.105, 0.115, 0.115))
AT_STRIKE = 0.2995  # how far ahead of the pelvis's mean place the ankle is then (m)
# Of the load that both feet carry, what they push against each other along the line between them: braking and driving.
AGAINST = 0.6


def waves(numbers: Sequence[float], phase: Array) -> tuple[Array, Array, Array]:
    """A series and its first two derivatives by time (n,), at phases in strides."""
    mean, *rest = numbers
    cosines, sines = np.array(rest).reshape(-1, 2).T
    rate = 2 * np.pi * np.arange(1, len(cosines) + 1)
    c, s = np.cos(np.outer(phase, rate)), np.sin(np.outer(phase, rate))
    w = rate / PERIOD
    return (
        mean + c @ cosines + s @ sines,
        (-s * w) @ cosines + (c * w) @ sines,
        -(c * w**2) @ cosines - (s * w**2) @ sines,
    )


def product(p: Array, q: Array) -> Array:
    """Quaternions (n, 4), multiplied."""
    scalar = p[:, 0] * q[:, 0] - (p[:, 1:] * q[:, 1:]).sum(axis=1)
    return np.column_stack([scalar, p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])])


def turned(axis: Array, angle: Array, rate: Array, second: Array) -> Turn:
    """The quaternion of a turn about an axis, and its first two derivatives."""
    c, s = np.cos(angle / 2)[:, None], np.sin(angle / 2)[:, None]
    along, across = np.hstack([c, s * axis]), np.hstack([-s, c * axis])
    return along, across * rate[:, None] / 2, across * second[:, None] / 2 - along * rate[:, None] ** 2 / 4


def then(p: Turn, q: Turn) -> Turn:
    """Two turns, one after the other, with their derivatives."""
    return (
        product(p[0], q[0]),
        product(p[1], q[0]) + product(p[0], q[1]),
        product(p[2], q[0]) + 2 * product(p[1], q[1]) + product(p[0], q[2]),
    )


def pelvis(phase: Array) -> dict[str, Array | tuple[Array, Array]]:
    """The pelvis's coordinates, and its speeds in its own axes with their rates, by name."""
    place, velocity, acceleration = (
        np.stack(parts, axis=1) / 1e3
        for parts in zip(*(waves(PELVIS[axis], phase) for axis in "xyz"), strict=True)
    )
    turns = [
        turned(np.eye(3)[axis], *np.radians(waves(PELVIS[name], phase)))
        for name, axis in (("rotation", 2), ("tilt", 1), ("list", 0))
    ]
    q, dq, ddq = then(then(turns[0], turns[1]), turns[2])
    back = np.array([1, -1, -1, -1])
    omega = 2 * product(q * back, dq)[:, 1:]
    alpha = 2 * (product(q * back, ddq) + product(dq * back, dq))[:, 1:]

    def own(vectors: Array) -> Array:
        return product(product(q * back, np.column_stack([0 * phase, vectors])), q)[:, 1:]

    v = own(velocity)
    v_dot = own(acceleration) - np.cross(omega, v)
    values: dict[str, Array | tuple[Array, Array]] = {f"q_{part}": q[:, k] for k, part in enumerate("wxyz")}
    for k, axis in enumerate("xyz"):
        values[axis] = place[:, k]
        values |= {f"v_{axis}": (v[:, k], v_dot[:, k]), f"omega_{axis}": (omega[:, k], alpha[:, k])}
    return values


@cache
def order() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the person's coordinates and speeds, in order."""
    model = trundle.derive(PERSON)
    return model.coordinates, model.speeds


def motion(time: Array) -> trundle.JointMotion:
    """The true motion at times (n,), s: coordinates, speeds and their rates."""
    time = np.asarray(time, dtype=float)
    phase = (time - START) / PERIOD
    values = pelvis(phase)
    joints = {name: np.array(waves(numbers, phase)) for name, numbers in TRUNK.items()}
    for foot, late in FEET.items():
        # slowly, so that rates are smaller by how often that is, and second ones by its square
        bend = np.array(waves((MORE[foot], 0, WANDER), OFTEN * phase + late)) * np.array(
            [[1], [OFTEN], [OFTEN**2]]
        )
        for name, numbers in LEGS.items():
            joints[name + foot[-2:]] = np.array(waves(numbers, phase + late)) + BEND.get(name, 0) * bend
    for name, (angle, rate, second) in joints.items():
        values |= {f"{name}.angle": np.radians(angle), f"{name}.rate": (np.radians(rate), np.radians(second))}
    coordinates, speeds = order()
    q = np.column_stack([values[name] for name in coordinates])
    u, u_dot = (np.column_stack([values[name][k] for name in speeds]) for k in (0, 1))
    return trundle.JointMotion(time, coordinates, speeds, q, u, u_dot)


def step(x: Array) -> Array:
    """From 0 to 1, three times smooth at both."""
    x = np.clip(x, 0, 1)
    return x**4 * (35 - 84 * x + 70 * x**2 - 20 * x**3)


def share(part: Array) -> Array:
    """What a foot carries of all at a part (n,) of its stride."""
    return np.where(part < 0.3, step(part / ON), 1 - step((part - OFF + ON) / ON))


def pushes(time: Array) -> dict[str, tuple[Array, Array, Array]]:
    """By foot the true force (n, 3), N, its place (n, 3), m, and the free moment (n, 3), N m, of the ground on it."""
    time = np.asarray(time, dtype=float)
    free = trundle.joint_loads(PERSON, motion(time))
    need = free.wrench("base", at=free.world.origin, frame="world")
    force, moment = np.asarray(need.force), np.asarray(need.moment)
    middle = np.column_stack([-moment[:, 1], moment[:, 0], 0 * time]) / force[:, 2:]
    vertical = (moment - np.cross(middle, force)) * [0, 0, 1]
    parts, places = {}, {}
    for foot, late in FEET.items():
        part = np.mod((time - START) / PERIOD + late, 1)
        x = AT_STRIKE - SPEED * PERIOD * part + np.interp(part, *PRESSURE)
        side = -BETWEEN if foot == "foot_r" else BETWEEN
        parts[foot], places[foot] = share(part)[:, None], np.column_stack([x, side + 0 * x, 0 * x])
    right, left = FEET
    # the places are moved together so that both shares give the moment
    off = middle - sum(parts[foot] * places[foot] for foot in FEET)
    along = places[right] - places[left]
    along /= np.linalg.norm(along, axis=1)[:, None]
    against = AGAINST * parts[right] * parts[left] * force[:, 2:] * along
    return {
        foot: (parts[foot] * force + sign * against, places[foot] + off, parts[foot] * vertical)
        for foot, sign in ((right, -1), (left, 1))
    }


def wrenches(time: Array) -> list[trundle.Wrench]:
    """`pushes` as `trundle.joint_loads` takes them."""
    world = trundle.Frame("world")
    return [
        trundle.Wrench(
            force, free, on=foot, by="ground", point=world.point(f"under {foot}", place), frame=world
        )
        for foot, (force, place, free) in pushes(time).items()
    ]


def loads(time: Array) -> trundle.Loads:
    """The true wrench through every joint at times (n,), s."""
    return trundle.joint_loads(PERSON, motion(time), external=wrenches(time))


def markers(true: trundle.Loads) -> dict[str, Array]:
    """Where the markers are (n, 3), m, by name, in a motion's loads."""
    found = {}
    for name, (body, place) in MARKERS.items():
        point = true.frames[body].point(name, place)
        found[name] = np.asarray(point.position(relative_to=true.world.origin, frame=true.world))
    return found


def standing(time: Array) -> trundle.Loads:
    """The person in the static trial: upright, knees a little bent as people's are, soles level."""
    degrees = {"hip_flexion_r": 4, "hip_flexion_l": 3, "knee_flexion_r": 4, "knee_flexion_l": 3}
    numbers = {"z": 1.0, "q_w": 1.0}
    numbers |= {f"{name}.angle": np.radians(angle) for name, angle in degrees.items()}
    coordinates, _ = order()
    still = {name: np.full(len(time), numbers.get(name, 0.0)) for name in coordinates}
    return trundle.joint_loads(PERSON, {"time": time} | still)


def noisy(places: Mapping[str, Array], size: float, seed: int) -> dict[str, Array]:
    """Markers with Gaussian noise of that size (m) on every axis."""
    noise = np.random.default_rng(seed)
    return {name: place + noise.normal(scale=size, size=place.shape) for name, place in places.items()}


def plates(time: Array) -> list[trundle.ForcePlate]:
    """The two force plates, right and left, that measure the feet."""
    found = []
    for foot, (force, place, free) in pushes(time).items():
        middle = np.array([0.0, -0.3 if foot == "foot_r" else 0.3, 0.0])
        corners = middle + np.array([(0.9, 0.29, 0), (0.9, -0.29, 0), (-0.9, -0.29, 0), (-0.9, 0.29, 0)])
        moment = np.cross(place - middle, force) + free
        found.append(
            trundle.ForcePlate("right" if foot == "foot_r" else "left", corners, time, force, moment)
        )
    return found


def events(end: float) -> Iterator[tuple[str, str, float]]:
    """When heels strike and toes leave until a time (s): (side, label, s)."""
    for foot, late in FEET.items():
        side = "Right" if foot == "foot_r" else "Left"
        for stride in range(-1, int(end / PERIOD) + 2):
            for label, part in (("Foot Strike", 0.0), ("Foot Off", OFF)):
                when = START + (stride - late + part) * PERIOD
                if 0 <= when <= end:
                    yield side, label, when


def write_c3d(
    path: Path,
    places: Mapping[str, Array],
    rate: float,
    floor: Sequence[trundle.ForcePlate] = (),
    ratio: int = 1,
    marks: Sequence[tuple[str, str, float]] = (),
) -> None:
    """Markers (m) by name, force plates and events as a C3D file in mm, N and N mm."""
    import ezc3d

    file = ezc3d.c3d()
    group = file["parameters"]
    points = np.ones((4, len(places), len(next(iter(places.values())))))
    points[:3] = 1e3 * np.stack(list(places.values()), axis=1).T
    group["POINT"]["LABELS"]["value"], group["POINT"]["UNITS"]["value"] = tuple(places), ("mm",)
    group["POINT"]["RATE"]["value"] = [rate]
    file["data"]["points"] = points
    if floor:
        channels = [
            np.hstack([plate.force, 1e3 * plate.moment]) @ np.kron(np.eye(2), plate.axes) for plate in floor
        ]
        group["ANALOG"]["RATE"]["value"] = [rate * ratio]
        names = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
        group["ANALOG"]["LABELS"]["value"] = [f"{name}{k + 1}" for k in range(2) for name in names]
        group["ANALOG"]["UNITS"]["value"] = ["N", "N", "N", "Nmm", "Nmm", "Nmm"] * 2
        file["data"]["analogs"] = np.hstack(channels).T[None]
        settings = {
            "USED": [2],
            "TYPE": [2, 2],
            "CORNERS": np.stack([1e3 * plate.corners.T for plate in floor], axis=2),
            "ORIGIN": np.zeros((3, 2)),
            "CHANNEL": np.arange(1, 13).reshape(2, 6).T,
        }
        for name, value in settings.items():
            group["FORCE_PLATFORM"][name]["value"] = value
    if marks:
        file.add_parameter("EVENT", "USED", [len(marks)])
        file.add_parameter("EVENT", "CONTEXTS", [side for side, _, _ in marks])
        file.add_parameter("EVENT", "LABELS", [label for _, label, _ in marks])
        file.add_parameter("EVENT", "TIMES", np.array([(when // 60, when % 60) for *_, when in marks]).T)
    file.write(str(path))


def write(
    folder: str | Path,
    cycles: int = 10,
    noise: float = 5e-4,
    rate: float = 100.0,
    ratio: int = 10,
    seed: int = 20250601,
) -> Path:
    """The static trial and the walk, as a laboratory would record them, in a folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    still = np.arange(round(rate)) / rate
    write_c3d(folder / "static.c3d", noisy(markers(standing(still)), noise, seed), rate)
    end = START + (cycles + 0.5) * PERIOD + 0.5
    time = np.arange(round(end * rate)) / rate
    fine = np.arange(len(time) * ratio) / (rate * ratio)
    seen = noisy(markers(loads(time)), noise, seed + 1)
    write_c3d(folder / "walk.c3d", seen, rate, plates(fine), ratio, list(events(end)))
    return folder


if __name__ == "__main__":
    print("wrote", write("runs/gait"))
