"""OpenSim models in both layouts, as text, of one description of joints."""

from dataclasses import dataclass, field


@dataclass
class J:
    """A joint: where it is on parent and child (location, orientation), its coordinates, more XML inside."""

    kind: str
    parent: str
    child: str
    coordinates: tuple = ()
    at: str = "0 0 0"
    turned: str = "0 0 0"
    child_at: str = "0 0 0"
    child_turned: str = "0 0 0"
    inside: str = ""
    coordinate_data: dict = field(default_factory=dict)


def axis(
    name,
    direction,
    coordinate="",
    function="<LinearFunction><coefficients>1 0</coefficients></LinearFunction>",
):
    return (
        f'<TransformAxis name="{name}"><coordinates>{coordinate}</coordinates><axis>{direction}</axis>'
        f"<function>{function}</function></TransformAxis>"
    )


def constant(value):
    return f"<Constant><value>{value}</value></Constant>"


def spline(x, y, tag="SimmSpline"):
    return f"<{tag}><x>{x}</x><y>{y}</y></{tag}>"


def spatial(*axes):
    return f"<SpatialTransform>{''.join(axes)}</SpatialTransform>"


def _coordinates(joint):
    return "".join(
        f'<Coordinate name="{name}">{joint.coordinate_data.get(name, "")}</Coordinate>'
        for name in joint.coordinates
    )


def _body(name, mass, inner="", inertia=""):
    return f'<Body name="{name}">{inner}<mass>{mass}</mass><mass_center>0 -0.2 0.05</mass_center>{inertia}</Body>'


def version_3(joints, more=""):
    moments = "".join(f"<inertia_{k}>{v}</inertia_{k}>" for k, v in MOMENTS.items())
    bodies = "".join(
        _body(
            joint.child,
            2.0 + k,
            f'<Joint><{joint.kind} name="{joint.child}_joint"><parent_body>{joint.parent}</parent_body>'
            f"<location_in_parent>{joint.at}</location_in_parent>"
            f"<orientation_in_parent>{joint.turned}</orientation_in_parent>"
            f"<location>{joint.child_at}</location><orientation>{joint.child_turned}</orientation>"
            f"<CoordinateSet><objects>{_coordinates(joint)}</objects></CoordinateSet>{joint.inside}"
            f"</{joint.kind}></Joint>",
            moments,
        )
        for k, joint in enumerate(joints)
    )
    return (
        '<?xml version="1.0"?>\n<OpenSimDocument Version="30000">\n<Model name="leg">\n'
        "<gravity>0 -9.80665 0</gravity>\n"
        f'<BodySet><objects><Body name="ground"><mass>0</mass></Body>\n{bodies}</objects></BodySet>\n{more}'
        "</Model></OpenSimDocument>"
    )


def version_4(joints, more=""):
    inertia = f"<inertia>{' '.join(map(str, MOMENTS.values()))}</inertia>"
    bodies = "".join(_body(joint.child, 2.0 + k, inertia=inertia) for k, joint in enumerate(joints))
    standing = "\n".join(_standing(joint) for joint in joints)
    return (
        '<?xml version="1.0"?>\n<OpenSimDocument Version="40500">\n<Model name="leg">\n<Ground name="ground"/>\n'
        f"<gravity>0 -9.80665 0</gravity>\n<BodySet><objects>{bodies}</objects></BodySet>\n"
        f"<JointSet><objects>\n{standing}</objects></JointSet>\n{more}</Model></OpenSimDocument>"
    )


def _standing(joint):
    parent = "/ground" if joint.parent == "ground" else f"/bodyset/{joint.parent}"
    return (
        f'<{joint.kind} name="{joint.child}_joint"><socket_parent_frame>{joint.parent}_offset</socket_parent_frame>'
        f"<socket_child_frame>{joint.child}_offset</socket_child_frame>"
        f"<coordinates>{_coordinates(joint)}</coordinates><frames>"
        f'<PhysicalOffsetFrame name="{joint.parent}_offset"><socket_parent>{parent}</socket_parent>'
        f"<translation>{joint.at}</translation><orientation>{joint.turned}</orientation></PhysicalOffsetFrame>"
        f'<PhysicalOffsetFrame name="{joint.child}_offset"><socket_parent>/bodyset/{joint.child}</socket_parent>'
        f"<translation>{joint.child_at}</translation><orientation>{joint.child_turned}</orientation>"
        f"</PhysicalOffsetFrame></frames>{joint.inside}</{joint.kind}>"
    )


MOMENTS = {"xx": 0.03, "yy": 0.01, "zz": 0.03, "xy": 0.001, "xz": -0.002, "yz": 0.0015}
