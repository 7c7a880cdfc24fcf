"""Random wheeled robots as plain descriptions, numbers only."""

from itertools import count

from trundle.mechanics.wheels import load_shares


def _u(rng, low, high):
    return float(rng.uniform(low, high))


def wheel(rng, x, y, **keys):
    """A wheel with random sizes; the ground lies at z = −0.1 below the base's frame."""
    radius = _u(rng, 0.05, 0.2)
    made = {
        "at": [x, y, radius - 0.1],
        "radius": radius,
        "width": _u(rng, 0.02, 0.1),
        "mass": _u(rng, 0.5, 2.0),
        "damping": _u(rng, 0, 0.2),
        "coulomb": _u(rng, 0, 0.1),
        "coulomb_speed": _u(rng, 0.1, 1.0),
        **keys,
    }
    if made.get("type") in ("steered", "caster"):
        made["fork"] = body(rng, 0.05)
        made["steering_damping"] = _u(rng, 0, 0.2)
    return made


def body(rng, spread=0.3):
    center = [_u(rng, -spread, spread), _u(rng, -spread, spread), 0.0]
    return {"mass": _u(rng, 0.5, 10), "center_of_mass": center, "inertia": {"zz": _u(rng, 0.1, 2)}}


def motor(rng, drives):
    """Any kind of motor."""
    kind = rng.choice(["torque", "dc", "dc", "dc0"])
    ratio = _u(rng, 0.5, 5) * float(rng.choice([-1, 1]))
    if kind == "torque":
        return {"type": "torque", "drives": drives, "gear_ratio": ratio}
    made = {
        "drives": drives,
        "torque_constant": _u(rng, 0.1, 1),
        "resistance": _u(rng, 0.1, 1),
        "gear_ratio": ratio,
        "rotor_inertia": _u(rng, 0, 0.1),
        "friction": _u(rng, 0, 0.1),
        "coulomb": _u(rng, 0, 0.1),
        "back_emf_constant": _u(rng, 0.1, 1),
    }
    if kind == "dc":
        made["inductance"] = _u(rng, 1e-3, 1e-1)
    return made


def servo(rng, drives):
    return {"type": "servo", "drives": drives, "stiffness": _u(rng, 1, 50), "damping": _u(rng, 0, 5)}


def robot(rng, wheels, joints=None, servos=()):
    """A planar robot with random masses; a motor on every wheel but casters."""
    number = count(1)
    motors = {
        f"motor_{next(number)}": motor(rng, name)
        for name, w in wheels.items()
        if w.get("type") not in ("caster", "ball")
    }
    motors |= {f"servo_{k}": servo(rng, drives) for k, drives in enumerate(servos)}
    return {
        "name": "random",
        "base": "planar",
        "body": {**body(rng, 0.1), "mass": _u(rng, 20, 50)},
        "wheels": wheels,
        "joints": joints or {},
        "motors": motors,
    }


def _pair(rng, **keys):
    half = _u(rng, 0.2, 0.6)
    return {"left": wheel(rng, 0.0, half, **keys), "right": wheel(rng, 0.0, -half, **keys)}


def differential(rng):
    return robot(rng, _pair(rng))


def with_casters(rng):
    """A differential drive with one or two casters, one of them mounted askew."""
    wheels = _pair(rng) | {
        "rear": wheel(rng, _u(rng, -0.8, -0.4), _u(rng, -0.1, 0.1), type="caster", offset=_u(rng, 0.03, 0.1))
    }
    if rng.random() < 0.5:
        wheels["front"] = wheel(
            rng, 0.5, 0.1, type="caster", offset=_u(rng, 0.03, 0.1), heading=_u(rng, -2, 2)
        )
    return robot(rng, wheels)


def tricycle(rng):
    wheels = _pair(rng) | {"front": wheel(rng, _u(rng, 0.4, 1.0), _u(rng, -0.1, 0.1), type="steered")}
    return robot(rng, wheels, servos=["front.steering"])


def ackermann(rng):
    """A car whose front wheels steer, or one whose rear wheels do; the fixed axle somewhere, its wheels driven."""
    x, track, ahead = _u(rng, -0.2, 0.2), _u(rng, 0.2, 0.4), _u(rng, 0.8, 1.2) * float(rng.choice([-1, 1]))
    wheels = {
        "left": wheel(rng, x, 0.4),
        "right": wheel(rng, x, -0.4),
        "steered_left": wheel(rng, x + ahead, track, type="steered"),
        "steered_right": wheel(rng, x + ahead, -track, type="steered"),
    }
    made = robot(rng, wheels)
    made["couplings"] = {"linkage": {"wheels": ["steered_left", "steered_right"], "axle": x}}
    made["motors"]["linkage_motor"] = motor(rng, "linkage")
    return made


def car(rng):
    """A car: one wheel or two behind, an Ackermann front, now and then a caster, up to two trailers in tow; no radius
    like another, any of its wheels driven.
    """
    x, half, track = _u(rng, -0.2, 0.2), _u(rng, 0.2, 0.5), _u(rng, 0.2, 0.5)
    ahead = x + _u(rng, 0.6, 1.2)
    pair = {"left": wheel(rng, x, half), "right": wheel(rng, x, -half)}
    wheels = pair if rng.random() < 0.7 else {"rear": wheel(rng, x, _u(rng, -0.1, 0.1))}
    wheels["steered_left"] = wheel(rng, ahead, track, type="steered")
    wheels["steered_right"] = wheel(rng, ahead, -track, type="steered")
    if rng.random() < 0.4:
        place = _u(rng, -0.6, 0.4), _u(rng, -0.2, 0.2)
        wheels["caster"] = wheel(rng, *place, type="caster", offset=_u(rng, 0.03, 0.1))
    joints, carrier = {}, "base"
    for k in range(int(rng.integers(0, 3))):
        hitch = {"type": "revolute", "at": [-0.5, 0.0, 0.0], "axis": [0, 0, 1], "body": body(rng)}
        name, axle = f"hitch_{k}", -0.5 * (k + 1) - _u(rng, 0.3, 0.5)
        joints[name], carrier = hitch | {"parent": carrier}, name
        wheels[f"trailer_{k}_left"] = wheel(rng, axle, 0.3, parent=name)
        wheels[f"trailer_{k}_right"] = wheel(rng, axle, -0.3, parent=name)
    made = robot(rng, wheels, joints)
    made["couplings"] = {"linkage": {"wheels": ["steered_left", "steered_right"], "axle": x}}
    names = list(made["motors"])
    kept = names if rng.random() < 0.4 else rng.choice(names, int(rng.integers(1, len(names) + 1)), False)
    made["motors"] = {str(name): made["motors"][name] for name in kept}
    made["motors"]["linkage_motor"] = motor(rng, "linkage")
    return made


def two_steered(rng):
    """A bicycle robot: two steered wheels anywhere."""
    wheels = {
        "front": wheel(rng, 0.5, _u(rng, -0.2, 0.2), type="steered", heading=_u(rng, -0.3, 0.3)),
        "rear": wheel(rng, -0.5, _u(rng, -0.2, 0.2), type="steered"),
    }
    return robot(rng, wheels, servos=["front.steering", "rear.steering"])


def one_steered(rng):
    wheels = {
        "front": wheel(rng, _u(rng, -0.4, 0.4), _u(rng, -0.4, 0.4), type="steered"),
        "rear": wheel(rng, -0.5, 0.0, type="caster", offset=0.05),
    }
    return robot(rng, wheels, servos=["front.steering"])


def omni(rng):
    import numpy as np

    wheels = {}
    for k in range(3):
        angle = 2 * np.pi * k / 3 + _u(rng, -0.3, 0.3)
        wheels[f"omni_{k}"] = wheel(
            rng,
            0.4 * float(np.cos(angle)),
            0.4 * float(np.sin(angle)),
            type="omni",
            heading=float(angle + np.pi / 2),
        )
    return robot(rng, wheels)


def mecanum(rng):
    x, y, turn = _u(rng, 0.2, 0.5), _u(rng, 0.2, 0.5), _u(rng, 0.5, 1.0)
    places = {
        "front_left": (x, y, -turn),
        "front_right": (x, -y, turn),
        "rear_left": (-x, y, turn),
        "rear_right": (-x, -y, -turn),
    }
    return robot(
        rng, {n: wheel(rng, a, b, type="mecanum", roller_angle=g) for n, (a, b, g) in places.items()}
    )


def trailer(rng):
    """A differential drive that pulls a trailer on its own axle, the hitch with a spring and a damper."""
    hitch = {
        "type": "revolute",
        "at": [-0.3, 0.0, 0.0],
        "axis": [0, 0, -1],
        "body": body(rng),
        "stiffness": _u(rng, 0, 5),
        "rest": 0.2,
        "damping": _u(rng, 0, 1),
        "armature": 0.05,
    }
    wheels = _pair(rng) | {
        "trailing": wheel(rng, -0.7, 0.1, parent="hitch"),
        "other": wheel(rng, -0.7, -0.3, parent="hitch"),
    }
    return robot(rng, wheels, {"hitch": hitch})


def platform(rng):
    """A differential drive under a platform on a joint with a motor."""
    joint = {"type": "revolute", "at": [0.2, 0.0, 0.0], "axis": [0, 0, -1], "body": body(rng), "damping": 0.3}
    made = robot(rng, _pair(rng), {"steering": joint})
    made["motors"]["turner"] = motor(rng, "steering")
    return made


def skid(rng):
    x, y = _u(rng, 0.2, 0.5), _u(rng, 0.2, 0.5)
    places = {"a": (x, y), "b": (x, -y), "c": (-x, y), "d": (-x, -y)}
    return robot(
        rng,
        {
            n: wheel(rng, a, b, contact="slip", friction=_u(rng, 0.2, 1), slip_speed=_u(rng, 0.01, 0.1))
            for n, (a, b) in places.items()
        },
    )


def slipping_swerve(rng):
    """Modules that slip, a caster that rolls ideally, one wheel's load given: near its share, or others would lift."""
    places = {"a": (0.6, 0.5), "b": (-0.6, 0.5), "c": (-0.6, -0.5), "d": (0.6, -0.5)}
    wheels = {
        n: wheel(rng, a, b, type="steered", contact="slip", slip_speed=0.05) for n, (a, b) in places.items()
    }
    wheels["tail"] = wheel(rng, -0.3, 0.1, type="caster", offset=0.06)
    made = robot(rng, wheels, servos=[f"{n}.steering" for n in places])
    weights = [(w["mass"] + w["fork"]["mass"], w["at"]) for w in wheels.values()]
    weights.append((made["body"]["mass"], made["body"]["center_of_mass"]))
    resultant = tuple(
        9.81 * sum(m * arm for m, arm in ((m, (1, *at)[k]) for m, at in weights)) for k in range(3)
    )
    shares = load_shares([w["at"][:2] for w in wheels.values()], resultant, (0, 1))
    wheels["a"]["load"] = shares[0] * _u(rng, 0.8, 1.2)
    return made


def mixed(rng):
    """Two fixed wheels on one axle of which one slips, an omni and a ball besides."""
    wheels = _pair(rng)
    wheels["right"] |= {"contact": "slip"}
    wheels["omni"] = wheel(rng, 0.5, 0.1, type="omni", roller_angle=1.2)
    wheels["ball"] = {"type": "ball", "at": [-0.5, 0.1, -0.05], "radius": 0.05, "mass": 0.4}
    return robot(rng, wheels)


def gear(joint, offset=0.0, **follows):
    """A gear coupling; a dot in a name is written as two underscores."""
    leaders = {name.replace("__", "."): ratio for name, ratio in follows.items()}
    return {"type": "gear", "joint": joint, "follows": leaders, "offset": offset}


def belted(rng):
    """Four slipping wheels, the two of each side on one belt over pulleys of any size."""
    made = skid(rng)
    made["couplings"] = {
        "left_belt": gear("c", a=_u(rng, 0.5, 2), offset=0.4),
        "right_belt": gear("b", d=_u(rng, 0.5, 2)),
    }
    return made


def belted_omni(rng):
    """Ideal wheels on one axle, each belted to an omni wheel in front of it: the belts repeat what rolling says."""
    half, ahead = _u(rng, 0.2, 0.6), _u(rng, 0.4, 0.8)
    wheels = {
        "left": wheel(rng, 0.0, half),
        "right": wheel(rng, 0.0, -half),
        "front_left": wheel(rng, ahead, half, type="omni"),
        "front_right": wheel(rng, ahead, -half, type="omni"),
    }
    made = robot(rng, wheels)
    made["couplings"] = {
        f"{side}_belt": gear(
            f"front_{side}", **{side: wheels[side]["radius"] / wheels[f"front_{side}"]["radius"]}
        )
        for side in ("left", "right")
    }
    return made


def differential_gear(rng):
    """A tricycle whose wheels share one engine by a differential gear behind a reduction; a screen wiper on the engine
    besides, with a spring.
    """
    half = _u(rng, 0.2, 0.6)
    wheels = {"left": wheel(rng, 0.0, half), "right": wheel(rng, 0.0, -half)}
    wheels["front"] = wheel(rng, 0.8, 0.1, type="steered")
    turning = {
        "type": "revolute",
        "at": [0.3, 0.0, 0.0],
        "axis": [0, 0, 1],
        "body": body(rng),
        "armature": 0.1,
    }
    wiper = {
        **turning,
        "at": [0.6, 0.1, 0.0],
        "axis": [0, 0, -1],
        "stiffness": 4.0,
        "rest": 0.3,
        "damping": 0.2,
    }
    made = robot(rng, wheels, {"carrier": turning, "engine": dict(turning), "wiper": wiper})
    made["couplings"] = {
        "reduction": gear("engine", carrier=_u(rng, -4, -2)),
        "differential": gear("carrier", left=0.5, right=0.5),
        "crank": gear("wiper", engine=0.3, front__steering=_u(rng, -1, 1), offset=-0.2),
    }
    made["motors"] = {
        "engine_motor": motor(rng, "engine"),
        "wiper_motor": motor(rng, "wiper"),
        "steering": servo(rng, "front.steering"),
    }
    return made


def synchro(rng):
    """Three wheels anywhere that one motor steers and another one drives, by two chains."""
    radius = _u(rng, 0.05, 0.2)
    wheels = {
        name: {**wheel(rng, *rng.uniform(-0.6, 0.6, 2).tolist(), type="steered"), "radius": radius}
        for name in "abc"
    }
    for each in wheels.values():
        each["at"][2] = radius - 0.1
    made = robot(rng, wheels)
    made["couplings"] = {
        "steer_b": gear("b.steering", a__steering=1),
        "steer_c": gear("c.steering", b__steering=1),
        "drive_b": gear("b", a=1),
        "drive_c": gear("c", b=1),
    }
    made["motors"]["steer"] = motor(rng, "a.steering")
    return made


def steering_column(rng):
    """The car of `ackermann`, its linkage moved by a wheel on a column."""
    made = ackermann(rng)
    column = {"type": "revolute", "at": [0.1, 0.2, 0.0], "axis": [0, 0, 1], "body": body(rng), "damping": 0.1}
    made["joints"] = {"column": column}
    made["couplings"]["box"] = gear("linkage", column=_u(rng, 0.1, 0.5))
    made["motors"]["driver"] = motor(rng, "column")
    return made


ALL = {
    f.__name__: f
    for f in (
        differential,
        with_casters,
        tricycle,
        ackermann,
        two_steered,
        one_steered,
        omni,
        mecanum,
        trailer,
        platform,
        skid,
        slipping_swerve,
        mixed,
        belted,
        belted_omni,
        differential_gear,
        synchro,
        steering_column,
    )
}
