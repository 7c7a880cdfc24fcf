"""Models of people in the forms of five that laboratories share, with numbers of our own: which joints, which
functions, which constraints, in which version of the format. And random limbs whose joints follow any function.
"""

from dataclasses import dataclass

import numpy as np

from documents.osim_models import J, axis, constant, spline, version_3, version_4

LINE = "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
DIRECTIONS = {"rotation1": "0 0 1", "rotation2": "1 0 0", "rotation3": "0 1 0"} | {
    f"translation{k + 1}": "1 0 0 0 1 0 0 0 1"[6 * k : 6 * k + 5] for k in range(3)
}


@dataclass
class GaitModel:
    """A file's text; its free coordinates' names, and those that follow others."""

    text: str
    free: tuple[str, ...]
    following: tuple[str, ...] = ()


def custom(parent, child, coordinates, axes, **more):
    """A CustomJoint, the axes that aren't named held still; `axes` are (coordinates, function, direction or none)."""
    six = []
    for name, direction in DIRECTIONS.items():
        moved_by, function, *own = axes.get(name, ("", constant(0)))
        six.append(axis(name, own[0] if own else direction, moved_by, function))
    inside = f"<SpatialTransform>{''.join(six)}</SpatialTransform>"
    return J("CustomJoint", parent, child, tuple(coordinates.split()), inside=inside, **more)


def multiple(function, factor):
    return f"<MultiplierFunction><function>{function}</function><scale>{factor}</scale></MultiplierFunction>"


def pelvis():
    """Six coordinates on the ground."""
    axes = {f"rotation{k + 1}": (name, LINE) for k, name in enumerate(("tilt", "list", "turn"))}
    axes |= {f"translation{k + 1}": (f"pelvis_t{'xyz'[k]}", LINE) for k in range(3)}
    return custom("ground", "pelvis", "tilt list turn pelvis_tx pelvis_ty pelvis_tz", axes)


def hip(side, sign):
    names = [f"hip_{what}_{side}" for what in ("flexion", "adduction", "rotation")]
    directions = ("0 0 1", f"{sign} 0 0", f"0 {sign} 0")
    axes = {f"rotation{k + 1}": (n, LINE, d) for k, (n, d) in enumerate(zip(names, directions, strict=True))}
    return custom("pelvis", f"femur_{side}", " ".join(names), axes, at=f"-0.06 -0.07 {0.08 * sign}")


KNEE_X = "-2.1 -1.7 -1.4 -1.05 -0.7 -0.35 -0.17 0 0.18"
SLIDE_X = "-0.0031 0.0016 0.0041 0.0043 0.0019 -0.0011 -0.0034 -0.0049 -0.0053"
SLIDE_Y = "-0.4221 -0.4079 -0.3993 -0.3962 -0.3958 -0.3951 -0.3955 -0.3969 -0.3972"
TURN = "0.11 0.09 0.06 0.051 0.043 0.02 0.01 0 -0.004"


def plain_knee(side, tag="NaturalCubicSpline", **more):
    """One angle; two translations follow it by splines."""
    name = f"knee_angle_{side}"
    axes = {"rotation1": (name, LINE)}
    axes |= {
        "translation1": (name, spline(KNEE_X, SLIDE_X, tag)),
        "translation2": (name, spline(KNEE_X, SLIDE_Y, tag)),
    }
    return custom(f"femur_{side}", f"tibia_{side}", name, axes, **more)


def scaled_knee(side):
    """The same with multiples, as scaling leaves them."""
    name = f"knee_angle_{side}"
    axes = {"rotation1": (name, LINE)}
    axes["translation1"] = (name, multiple(spline(KNEE_X, SLIDE_X), 0.94))
    axes["translation2"] = (name, multiple(spline(KNEE_X, SLIDE_Y), 1.07))
    axes["translation3"] = ("", multiple(constant(0.003), 1.07))
    return custom(f"femur_{side}", f"tibia_{side}", name, axes)


def rolling_knee(side, sign):
    """Five axes follow one angle; the patella's three follow a coordinate that follows that angle."""
    name, beta = f"knee_angle_{side}", f"knee_angle_{side}_beta"
    minus = "<LinearFunction><coefficients>-1 0</coefficients></LinearFunction>"
    axes = {"rotation1": (name, minus), "rotation2": (name, spline(KNEE_X, TURN), f"0 {sign} 0")}
    axes["rotation3"] = (name, spline(KNEE_X, TURN), f"{-sign} 0.1 0")
    axes |= {
        f"translation{k}": (name, multiple(spline(KNEE_X, y), 0.97)) for k, y in ((1, SLIDE_X), (2, SLIDE_Y))
    }
    axes["translation3"] = (name, spline("-2 2", "0.001 0.004"))
    patella = {"rotation1": (beta, spline(KNEE_X, "-1.9 -1.6 -1.25 -0.9 -0.66 -0.3 -0.1 0.02 0.2"))}
    patella |= {f"translation{k}": (beta, spline(KNEE_X, y)) for k, y in ((1, SLIDE_X), (2, SLIDE_Y))}
    return (
        custom(f"femur_{side}", f"tibia_{side}", name, axes, turned="0.02 -0.01 0.03"),
        custom(f"femur_{side}", f"patella_{side}", beta, patella, child_at="0.004 0 0"),
    )


def follow(dependent, leader, function=LINE, enforced=True, tag="isEnforced"):
    """A CoordinateCouplerConstraint."""
    flag = str(enforced if tag == "isEnforced" else not enforced).lower()
    return (
        f'<CoordinateCouplerConstraint name="{dependent}_by_{leader}"><{tag}>{flag}</{tag}>'
        f"<coupled_coordinates_function>{function}</coupled_coordinates_function>"
        f"<independent_coordinate_names>{leader}</independent_coordinate_names>"
        f"<dependent_coordinate_name>{dependent}</dependent_coordinate_name></CoordinateCouplerConstraint>"
    )


def weld(name, first, second, enforced="true"):
    """A WeldConstraint."""
    return (
        f'<WeldConstraint name="{name}"><isEnforced>{enforced}</isEnforced><socket_frame1>{first}</socket_frame1>'
        f"<socket_frame2>{second}</socket_frame2></WeldConstraint>"
    )


def foot(side, sign, toes=True, locked=("subtalar", "mtp")):
    """Ankle and hindfoot on oblique axes; what laboratories lock is locked."""
    hold = "<default_value>0.05</default_value><locked>true</locked>"
    data = {f"{name}_angle_{side}": hold for name in locked}

    def pin(parent, child, name, direction, at):
        own = {"rotation1": (name, LINE, direction), "rotation2": ("", constant(0), "0 1 0.2"),
               "rotation3": ("", constant(0), "1 0.2 0")}  # fmt: skip
        return custom(parent, child, name, own, at=at, coordinate_data=data)

    joints = [
        pin(
            f"tibia_{side}", f"talus_{side}", f"ankle_angle_{side}", f"-0.1 {-0.17 * sign} 0.98", "0 -0.43 0"
        ),
        pin(
            f"talus_{side}",
            f"calcn_{side}",
            f"subtalar_angle_{side}",
            f"0.79 {0.6 * sign} 0.12",
            "-0.05 -0.04 0.01",
        ),
    ]
    if toes:
        at = f"0.18 -0.002 {0.001 * sign}"
        joints.append(pin(f"calcn_{side}", f"toes_{side}", f"mtp_angle_{side}", f"-0.58 0 {0.81 * sign}", at))
    return joints


def torso():
    names = ("lumbar_extension", "lumbar_bending", "lumbar_rotation")
    axes = {f"rotation{k + 1}": (name, LINE) for k, name in enumerate(names)}
    return custom("pelvis", "torso", " ".join(names), axes, at="-0.1 0.08 0")


def arm(side, sign):
    """Shoulder, elbow, forearm, wrist."""
    names = [f"arm_{what}_{side}" for what in ("flex", "add", "rot")]
    axes = {f"rotation{k + 1}": (name, LINE) for k, name in enumerate(names)}
    return [
        custom("torso", f"humerus_{side}", " ".join(names), axes, at=f"0.003 0.37 {0.17 * sign}"),
        custom(f"humerus_{side}", f"ulna_{side}", f"elbow_flex_{side}",
               {"rotation1": (f"elbow_flex_{side}", LINE, f"{0.23 * sign} 0.02 0.97")}, at="0.013 -0.28 -0.01"),
        custom(f"ulna_{side}", f"radius_{side}", f"pro_sup_{side}",
               {"rotation1": (f"pro_sup_{side}", LINE, f"{0.06 * sign} 0.99 0.05"),
                "rotation3": ("", constant(0), "0 0 1")},
               at="-0.006 -0.013 0.026"),
        J("UniversalJoint", f"radius_{side}", f"hand_{side}", (f"wrist_flex_{side}", f"wrist_dev_{side}"),
          at="-0.009 -0.24 0.013"),
    ]  # fmt: skip


SIDES = (("r", 1), ("l", -1))


def names_of(joints, skip=()):
    """The coordinates that aren't locked, in the file's order."""
    return tuple(
        name for joint in joints for name in joint.coordinates
        if "locked" not in joint.coordinate_data.get(name, "") and name not in skip
    )  # fmt: skip


def constraints(*elements):
    return f"<ConstraintSet><objects>{''.join(elements)}</objects></ConstraintSet>"


def simple_walker():
    """Ten degrees of freedom, planar legs, version 3: two legs with splined knees, no forefoot."""
    joints = [custom("ground", "pelvis", "tilt pelvis_tx pelvis_ty", {"rotation1": ("tilt", LINE),
              "translation1": ("pelvis_tx", LINE), "translation2": ("pelvis_ty", LINE)})]  # fmt: skip
    for side, sign in SIDES:
        name = f"hip_flexion_{side}"
        joints.append(
            custom(
                "pelvis", f"femur_{side}", name, {"rotation1": (name, LINE)}, at=f"-0.06 -0.07 {0.08 * sign}"
            )
        )
        joints += [plain_knee(side), *foot(side, sign, toes=True)]
    joints.append(custom("pelvis", "torso", "lumbar", {"rotation1": ("lumbar", LINE)}, at="-0.1 0.08 0"))
    return GaitModel(version_3(joints), names_of(joints))


def standard_walker(version=version_3):
    """Twenty-three degrees of freedom, version 3: three-axis hips and trunk, knees on splines."""
    joints = [pelvis()]
    for side, sign in SIDES:
        joints += [hip(side, sign), plain_knee(side), *foot(side, sign, locked=())]
    joints.append(torso())
    return GaitModel(version(joints), names_of(joints))


def scaled_walker():
    """Eighteen coordinates, version 4: multiples of splines, locked forefeet, constraints that are switched off."""
    joints = [pelvis()]
    for side, sign in SIDES:
        joints += [hip(side, sign), scaled_knee(side), *foot(side, sign)]
    joints.append(torso())
    off = [
        follow("lumbar_bending", "list", enforced=False),
        weld("off", "/bodyset/pelvis", "/bodyset/torso", "false"),
    ]
    off.append(weld("nothing", "/bodyset/calcn_r", "/bodyset/calcn_r"))
    return GaitModel(version_4(joints, constraints(*off)), names_of(joints))


def full_body():
    """Thirty-nine coordinates, version 4: knees that roll and turn, patellae that follow them, arms."""
    joints, couplers, following = [pelvis()], [], []
    for side, sign in SIDES:
        joints += [hip(side, sign), *rolling_knee(side, sign), *foot(side, sign, locked=("mtp",))]
        couplers.append(follow(f"knee_angle_{side}_beta", f"knee_angle_{side}"))
        following.append(f"knee_angle_{side}_beta")
    joints.append(torso())
    joints += [joint for side, sign in SIDES for joint in arm(side, sign)]
    text = version_4(joints, constraints(*couplers)).replace("<mass>9.0</mass>", "<mass>0.1</mass>")
    return GaitModel(text, names_of(joints, following), tuple(following))


def rolling_leg(patella=False):
    """A hip, a knee whose five other axes follow its angle, an ankle; perhaps a patella that follows, too."""
    hung = rolling_knee("r", 1)[: 2 if patella else 1]
    joints = [J("GimbalJoint", "ground", "femur_r", ("h1", "h2", "h3")), *hung, *foot("r", 1)]
    more = constraints(follow("knee_angle_r_beta", "knee_angle_r")) if patella else ""
    return GaitModel(version_4(joints, more), names_of(joints, ("knee_angle_r_beta",)))


def runner():
    """Twenty-nine coordinates and arms, version 3: knees on splines, a wrist coupled by a spline."""
    joints, couplers = [pelvis()], []
    for side, sign in SIDES:
        joints += [
            hip(side, sign),
            plain_knee(side, "SimmSpline"),
            *foot(side, sign, locked=("subtalar", "mtp")),
        ]
    joints.append(torso())
    joints += [joint for side, sign in SIDES for joint in arm(side, sign)]
    couplers = [follow("wrist_flex_r", "elbow_flex_r", spline("-1 0 1 2", "0.2 0 0.1 0.4"), tag="isDisabled")]
    return GaitModel(
        version_3(joints, constraints(*couplers)), names_of(joints, ("wrist_flex_r",)), ("wrist_flex_r",)
    )


FORMS = {
    "gait10dof18musc": simple_walker,
    "gait2392": standard_walker,
    "gait2354": scaled_walker,
    "Rajagopal2016": full_body,
    "Hamner": runner,
}


def _written(*values):
    """Few digits: OpenSim itself rounds numbers of version 3 to eight or so when it brings a file up to date."""
    return " ".join(f"{value:.4f}" for value in values)


def random_function(rng):
    """Any function of one coordinate, with values about as large as a joint's."""
    kind = rng.choice(["simm", "natural", "lines", "polynomial", "line", "constant"])
    if kind in ("simm", "natural", "lines"):
        tag = {"simm": "SimmSpline", "natural": "NaturalCubicSpline", "lines": "PiecewiseLinearFunction"}[
            kind
        ]
        count = rng.integers(2, 9)
        x = np.sort(rng.uniform(-1.5, 1.5, count)) + 0.2 * np.arange(count)
        function = spline(_written(*x), _written(*rng.uniform(-0.4, 0.4, count)), tag)
    elif kind == "polynomial":
        coefficients = _written(*rng.uniform(-0.2, 0.2, rng.integers(1, 6)))
        function = f"<PolynomialFunction><coefficients>{coefficients}</coefficients></PolynomialFunction>"
    elif kind == "line":
        function = f"<LinearFunction><coefficients>{_written(*rng.uniform(-1, 1, 2))}</coefficients></LinearFunction>"
    else:
        function = constant(rng.uniform(-0.3, 0.3))
    return multiple(function, rng.uniform(0.5, 1.5)) if rng.random() < 0.3 else function


def random_limb(rng):
    """A chain or tree of CustomJoints of one or two coordinates, every axis following one of them by any function."""
    joints, free = [], []
    for k in range(rng.integers(1, 4)):
        names = [f"q{k}_{j}" for j in range(rng.integers(1, 3))]
        axes = {}
        for name in DIRECTIONS:
            around = np.eye(3)[{"1": 2, "2": 0, "3": 1}[name[-1]]] + rng.uniform(-0.3, 0.3, 3)
            mover = rng.choice(names)
            axes[name] = (mover, random_function(rng), _written(*around))
        for name, place in zip(names, rng.permutation(list(DIRECTIONS)), strict=False):
            sign = rng.choice(["1 0", "-1 0.2", "1 0", "0.7 0.1"])
            function = f"<LinearFunction><coefficients>{sign}</coefficients></LinearFunction>"
            axes[place] = (name, function, axes[place][2])
        parent = rng.choice(["ground", *[f"body{i}" for i in range(k)]])
        place, turned, back = (_written(*rng.uniform(-0.4, 0.4, 3)) for _ in range(3))
        joints.append(
            custom(
                str(parent),
                f"body{k}",
                " ".join(names),
                axes,
                at=place,
                turned=turned,
                child_at=back,
                child_turned=turned,
            )
        )
        free += names
    return GaitModel((version_3, version_4)[int(rng.integers(2))](joints), tuple(free))
