"""Wheeled robots in the form of published URDF files, lines that put wheels on them, and the same robots in YAML."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from documents.urdf_files import inertial

# The frame of a wheel whose axle is its own z.
QUARTER = "-1.5707963267948966 0 0"
EXAMPLES = Path(__file__).parents[2] / "examples" / "urdf"


def link(name: str, mass: float = 0.0, six: str = "", at: str = "0 0 0", rpy: str = "0 0 0") -> str:
    """A link; `six` are ixx, iyy, izz and, where there are more, ixy, ixz, iyz."""
    if not mass:
        return f'  <link name="{name}"/>\n'
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    moments = dict.fromkeys(names, "0") | dict(zip(names, six.split(), strict=False))
    written = " ".join(f'{key}="{value}"' for key, value in moments.items())
    return (
        f'  <link name="{name}"><inertial><origin xyz="{at}" rpy="{rpy}"/><mass value="{mass}"/>'
        f"<inertia {written}/></inertial></link>\n"
    )


def joint(
    name: str, parent: str, child: str, at: str, rpy: str = "0 0 0", axis: str = "", more: str = ""
) -> str:
    """A joint, continuous where it has an axis, else fixed."""
    kind = "continuous" if axis else "fixed"
    along = f'<axis xyz="{axis}"/>' if axis else ""
    return (
        f'  <joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at}" rpy="{rpy}"/>{along}{more}</joint>\n'
    )


def robot(*pieces: str) -> str:
    return f'<?xml version="1.0"?>\n<robot name="base">\n{"".join(pieces)}</robot>\n'


def _husky() -> tuple[str, str, str]:
    """Four wheels on a base that skids; axles along y, a link of its own for the mass."""
    places = {
        f"{end}_{side}": (x, y)
        for end, x in (("front", 0.256), ("rear", -0.256))
        for side, y in (("left", 0.2854), ("right", -0.2854))
    }
    pieces = [
        link("base_link"),
        link("inertial_link", 46.034, "0.6022 1.7386 2.0296", "-0.00065 -0.085 0.062"),
    ]
    pieces.append(joint("inertial_joint", "base_link", "inertial_link", "0 0 0"))
    beside, own = [], []
    for name, (x, y) in places.items():
        pieces += [
            joint(f"{name}_wheel", "base_link", f"{name}_wheel_link", f"{x} {y} 0.03282", axis="0 1 0"),
            link(f"{name}_wheel_link", 2.637, "0.02467 0.04411 0.02467"),
        ]
        beside.append(f"{name}: {{joint: {name}_wheel, radius: 0.1651, width: 0.1143, contact: slip}}")
        own.append(
            f"{name}: {{at: [{x}, {y}, 0.03282], radius: 0.1651, width: 0.1143, mass: 2.637, contact: slip, "
            "inertia: {axle: 0.04411, diameter: 0.02467}}"
        )
    body = (
        "body: {mass: 46.034, center_of_mass: [-0.00065, -0.085, 0.062], "
        "inertia: {xx: 0.6022, yy: 1.7386, zz: 2.0296}}"
    )
    return robot(*pieces), _wheels(beside), f"  {body}\n{_wheels(own)}"


def _mecanum() -> tuple[str, str, str]:
    """Rollers; the right wheels' frames are turned over, so that their joints turn the other way."""
    pieces = [link("base_link", 22.0, "0.4 0.7 0.9", "0.01 0 0.04")]
    beside, own = [], []
    for end, x in (("front", 0.23), ("rear", -0.23)):
        for side, y in (("left", 0.19), ("right", -0.19)):
            name, right = f"{end}_{side}", side == "right"
            roller = "45 deg" if (end == "front") == right else "-45 deg"
            turned = "3.141592653589793 0 0" if right else "0 0 0"
            pieces += [
                joint(f"{name}_joint", "base_link", name, f"{x} {y} 0.05", turned, "0 1 0"),
                link(name, 1.2, "0.0012 0.0021 0.0012"),
            ]
            keys = f"type: mecanum, radius: 0.08, roller_angle: {roller}"
            beside.append(f"{name}: {{joint: {name}_joint, {keys}}}")
            heading = "heading: 180 deg, " if right else ""
            own.append(
                f"{name}: {{at: [{x}, {y}, 0.05], {heading}{keys}, mass: 1.2, "
                "inertia: {axle: 0.0021, diameter: 0.0012}}"
            )
    body = "body: {mass: 22, center_of_mass: [0.01, 0, 0.04], inertia: {xx: 0.4, yy: 0.7, zz: 0.9}}"
    return robot(*pieces), _wheels(beside), f"  {body}\n{_wheels(own)}"


def _car() -> tuple[str, str, str]:
    """Front wheels 4 cm beside their kingpins, an Ackermann linkage, axles along the wheels' z."""
    wheel = (3.1, "0.03 0.03 0.055")
    pieces = [link("base_link"), link("chassis", 90.0, "3.1 9.5 11.2", "0.55 0 0.2", "0 0 0")]
    pieces.append(joint("chassis_joint", "base_link", "chassis", "0 0 0.1"))
    beside, own = [], []
    for side, sign in (("left", 1), ("right", -1)):
        pieces += [
            joint(
                f"rear_{side}_joint",
                "chassis",
                f"rear_{side}_wheel",
                f"0 {sign * 0.4} 0.06",
                QUARTER,
                "0 0 1",
            ),
            link(f"rear_{side}_wheel", *wheel),
            joint(
                f"{side}_steering_joint",
                "chassis",
                f"{side}_knuckle",
                f"1.1 {sign * 0.36} 0.06",
                axis="0 0 1",
            ),
            link(f"{side}_knuckle", 1.4, "0.004 0.003 0.005", f"0 {sign * 0.01} 0"),
            joint(
                f"front_{side}_joint",
                f"{side}_knuckle",
                f"front_{side}_wheel",
                f"0 {sign * 0.04} 0",
                QUARTER,
                "0 0 1",
            ),
            link(f"front_{side}_wheel", *wheel),
        ]
        beside += [
            f"rear_{side}: {{joint: rear_{side}_joint, radius: r}}",
            f"front_{side}: {{joint: front_{side}_joint, radius: r}}",
        ]
        keys = "radius: r, mass: 3.1, inertia: {axle: 0.055, diameter: 0.03}"
        fork = (
            f"fork: {{mass: 1.4, center_of_mass: [0, {sign * 0.01}, 0], "
            "inertia: {xx: 0.004, yy: 0.003, zz: 0.005}}"
        )
        own += [
            f"rear_{side}: {{at: [0, {sign * 0.4}, 0.16], {keys}}}",
            f"front_{side}: {{type: kingpin, at: [1.1, {sign * 0.36}, 0.16], scrub: {sign * 0.04}, {keys}, {fork}}}",
        ]
    rest = "  couplings:\n    steering: {wheels: [front_left, front_right]}\n  parameters: {r: 0.16}\n"
    body = "body: {mass: 90, center_of_mass: [0.55, 0, 0.3], inertia: {xx: 3.1, yy: 9.5, zz: 11.2}}"
    return robot(*pieces), _wheels(beside) + rest, f"  {body}\n{_wheels(own)}{rest}"


def _tiago() -> tuple[str, str, str]:
    """Two wheels and four casters of two joints."""
    pieces = [
        link("base_footprint"),
        link("base_link", 28.26, "0.466 0.473 0.594", "-0.0115 0 0.15"),
        joint("base_footprint_joint", "base_footprint", "base_link", "0 0 0.0985"),
    ]
    beside, own = [], []
    for side, sign in (("left", 1), ("right", -1)):
        pieces += [
            joint(
                f"wheel_{side}_joint",
                "base_link",
                f"wheel_{side}_link",
                f"0 {sign * 0.2022} 0",
                QUARTER,
                "0 0 1",
            ),
            link(f"wheel_{side}_link", 1.82362, "0.00225843 0.00225843 0.00412484"),
        ]
        beside.append(f"{side}: {{joint: wheel_{side}_joint, radius: 0.0985, width: 0.04}}")
        own.append(
            f"{side}: {{at: [0, {sign * 0.2022}, 0.0985], radius: 0.0985, width: 0.04, mass: 1.82362, "
            "inertia: {axle: 0.00412484, diameter: 0.00225843}}"
        )
    for end, x in (("front", 0.1695), ("back", -0.1695)):
        for side, sign in (("left", 1), ("right", -1)):
            name = f"caster_{end}_{side}"
            pieces += [
                joint(
                    f"{name}_1_joint",
                    "base_link",
                    f"{name}_1_link",
                    f"{x} {sign * 0.102} -0.0335",
                    axis="0 0 1",
                ),
                link(f"{name}_1_link", 0.051448, "4e-5 5e-5 3e-5", "0 0 -0.01"),
                joint(f"{name}_2_joint", f"{name}_1_link", f"{name}_2_link", "-0.016 0 -0.04", axis="0 1 0"),
                link(f"{name}_2_link", 0.088558, "2e-5 3e-5 2e-5"),
            ]
            beside.append(f"{name}: {{joint: {name}_2_joint, radius: 0.025}}")
            own.append(
                f"{name}: {{type: caster, offset: 0.016, at: [{x}, {sign * 0.102}, 0.025], radius: 0.025, "
                "mass: 0.088558, inertia: {axle: 3e-5, diameter: 2e-5}, "
                "fork: {mass: 0.051448, center_of_mass: [0, 0, 0.03], inertia: {xx: 4e-5, yy: 5e-5, zz: 3e-5}}}"
            )
    body = "body: {mass: 28.26, center_of_mass: [-0.0115, 0, 0.2485], inertia: {xx: 0.466, yy: 0.473, zz: 0.594}}"
    return robot(*pieces), _wheels(beside), f"  {body}\n{_wheels(own)}"


def _turtlebot() -> tuple[str, str, str]:
    """The example, whose file has its scanner and its ball's link as bodies of their own."""
    text = (EXAMPLES / "turtlebot.urdf").read_text(encoding="utf-8")
    beside = [
        f"{side}: {{joint: wheel_{side}_joint, radius: 0.033, width: 0.018}}" for side in ("left", "right")
    ]
    beside.append("caster: {type: ball, joint: caster_back_joint, radius: 0.006}")
    keys = "radius: 0.033, width: 0.018, mass: 0.0285, damping: 1e-4, inertia: {axle: 2.07e-5, diameter: 1.12e-5}"
    own = [f"{side}: {{at: [0, {y}, 0.033], {keys}}}" for side, y in (("left", 0.08), ("right", -0.08))]
    own.append("caster: {type: ball, at: [-0.081, 0, 0.006], radius: 0.006}")
    bodies = (
        "  body: {mass: 0.83, center_of_mass: [-0.012, 0, 0.055], inertia: {xx: 2.1e-3, yy: 2.1e-3, zz: 1.9e-3}}\n"
        "  joints:\n"
        "    ball: {type: fixed, at: [-0.081, 0, 0.006], "
        "body: {mass: 0.005, inertia: {xx: 1e-6, yy: 1e-6, zz: 1e-6}}}\n"
        "    scan: {type: fixed, at: [-0.032, 0, 0.182], "
        "body: {mass: 0.114, inertia: {xx: 3e-5, yy: 3e-5, zz: 5e-5}}}\n"
    )
    motors = "".join(
        f"    wheel_{side}_motor: {{type: torque, drives: {side}, torque_limit: 1.5}}\n"
        for side in ("left", "right")
    )
    return text, _wheels(beside), f"{bodies}{_wheels(own)}  motors:\n{motors}"


def _wheels(lines: list[str]) -> str:
    return "  wheels:\n" + "".join(f"    {line}\n" for line in lines)


# By name: the URDF text, the lines beside it, and the lines of the same robot in YAML.
WHEELED = {
    "turtlebot": _turtlebot(),
    "husky": _husky(),
    "mecanum": _mecanum(),
    "car": _car(),
    "tiago": _tiago(),
}


def beside(folder: Path, name: str, *, extra: str = "") -> Path:
    """A URDF file in a folder, and the path of the YAML that puts wheels on it."""
    text, lines, _ = WHEELED[name]
    (folder / "base.urdf").write_text(text, encoding="utf-8")
    path = folder / "base.yaml"
    path.write_text(f"trundle: 1\nrobot:\n  urdf: base.urdf\n{lines}{extra}", encoding="utf-8")
    return path


def own_words(name: str) -> str:
    """The same robot in YAML alone."""
    return f"trundle: 1\nrobot:\n  name: base\n{WHEELED[name][2]}"


def round_inertia(rng: np.random.Generator) -> str:
    """The inertia of a body that is round about z, its mass anywhere on it."""
    across, along = rng.uniform(0.01, 0.05), rng.uniform(0.01, 0.02)
    return (
        f'<inertial><origin xyz="0 0 {rng.uniform(-0.1, 0.1)!r}"/><mass value="{rng.uniform(1, 3)!r}"/>'
        f'<inertia ixx="{across!r}" iyy="{across!r}" izz="{along!r}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def random_wheeled(rng: np.random.Generator) -> tuple[str, str]:
    """A random file of a base with wheels in any frames, on forks or not, with links fixed to all of them: wheels w0
    and so on, on the joints spin0, ... below the joints steer0, ...; and the elements that say so.
    """
    pieces = [f'<link name="base">{inertial(rng)}</link>', f'<link name="plate">{inertial(rng)}</link>']
    pieces.append(joint("plate_joint", "base", "plate", _three(rng), _three(rng)))
    wheels = []
    for i in range(int(rng.integers(2, 5))):
        parent, at, heading = "base", rng.uniform(-1, 1, 3), float(rng.uniform(-3, 3))
        height = float(at[2])
        if rng.random() < 0.6:
            up = "0 0 -1" if rng.random() < 0.3 else "0 0 1"
            pieces += [
                joint(f"steer{i}", "base", f"fork{i}", _text(at), f"0 0 {heading!r}", up),
                f'<link name="fork{i}">{inertial(rng)}</link><link name="arm{i}">{inertial(rng)}</link>',
                joint(f"arm_joint{i}", f"fork{i}", f"arm{i}", _three(rng), _three(rng)),
            ]
            parent, at, heading = f"fork{i}", _off_pivot(rng), 0.0
            height += float(at[2])
        rpy = f"{float(rng.choice([-1, 1])) * np.pi / 2!r} 0 {heading!r}"  # the axle is z of the wheel's own frame
        pieces += [
            joint(f"spin{i}", parent, f"wheel{i}", _text(at), rpy, "0 0 1"),
            f'<link name="wheel{i}">{round_inertia(rng)}</link><link name="hub{i}">{round_inertia(rng)}</link>',
            joint(f"hub_joint{i}", f"wheel{i}", f"hub{i}", f"0 0 {rng.uniform(-0.1, 0.1)!r}", "0 0 0.7"),
        ]
        # all stand on one floor
        wheels.append(f'<wheel name="w{i}" joint="spin{i}" radius="{height + 2!r}" contact="free"/>')
    return robot(*pieces), "".join(wheels)


def _off_pivot(rng: np.random.Generator) -> np.ndarray:
    """The wheel's centre from its pivot: above it, behind or ahead of it, or beside it."""
    along = rng.uniform(0.05, 0.2) * rng.choice([-1, 1])
    down = rng.uniform(-0.3, 0.0)
    places = [(0.0, 0.0, down), (along, 0.0, down), (0.0, along, down)]
    return np.array(places[int(rng.integers(3))])


def _three(rng: np.random.Generator) -> str:
    return _text(rng.normal(size=3))


def _text(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)
