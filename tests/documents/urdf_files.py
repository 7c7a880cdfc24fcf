"""Random URDF files for tests: everything that files from elsewhere hold, numbers written in several ways."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from trundle.documents.urdf.elements import NOUNS

MIMICS = ("revolute", "continuous", "prismatic")
ENDINGS = ("", "-1", "/left", " 2", ".x", "é")


def number(rng: np.random.Generator, value: float) -> str:
    """A number as people and programs write it; reading it gives what stands there."""
    style = rng.integers(5)
    if style == 0:
        return f"{value:.4g}"
    if style == 1:
        return f"{value:.6e}"
    if style == 2:
        return f"{value:+.3f}" if abs(value) >= 0.01 else repr(value)
    return repr(float(value))


def three(rng: np.random.Generator, values: np.ndarray) -> str:
    return ("  " if rng.random() < 0.1 else " ").join(number(rng, float(value)) for value in values)


def inertial(rng: np.random.Generator) -> str:
    """The inertia of a cloud of points, in a frame of its own."""
    points = rng.normal(size=(6, 3)) * rng.uniform(0.05, 0.5)
    points -= points.mean(axis=0)
    mass = float(rng.uniform(0.1, 5))
    moments = mass / 6 * np.sum([np.dot(p, p) * np.eye(3) - np.outer(p, p) for p in points], axis=0)
    six = {
        "ixx": moments[0, 0],
        "ixy": moments[0, 1],
        "ixz": moments[0, 2],
        "iyy": moments[1, 1],
        "iyz": moments[1, 2],
        "izz": moments[2, 2],
    }
    if rng.random() < 0.3:
        six |= {"ixy": 0.0, "ixz": 0.0, "iyz": 0.0}
    attributes = " ".join(f'{name}="{float(value)!r}"' for name, value in six.items())
    rpy = f' rpy="{three(rng, rng.normal(size=3))}"' if rng.random() < 0.6 else ""
    origin = f'<origin xyz="{three(rng, rng.normal(size=3) * 0.2)}"{rpy}/>' if rng.random() < 0.8 else ""
    return f'<inertial>\n      {origin}<mass value="{number(rng, mass)}"/>\n      <inertia {attributes}/></inertial>'


def link(rng: np.random.Generator, name: str, *, massive: bool) -> str:
    inside = [inertial(rng)] if massive else []
    if rng.random() < 0.4:
        inside.append(
            '<visual name="a>b"><geometry><mesh filename="package://robot/a&amp;b.stl" scale="1 1 1"/></geometry>'
            "</visual>"
        )
    if rng.random() < 0.3:
        inside.append("<!-- a > in a comment, and <inertial> -->\n")
    if rng.random() < 0.3:
        inside.insert(
            0, '<collision><origin xyz="0 0 1"/><geometry><box size="1 1 1"/></geometry></collision>'
        )
    if not inside and rng.random() < 0.5:
        return f"  <link name='{name}' />\n"
    return f'  <link name="{name}">\n    ' + "\n    ".join(inside) + "\n  </link>\n"


def joint(rng: np.random.Generator, name: str, kind: str, parent: str, child: str, leaders: list[str]) -> str:
    inside = [f'<parent link="{parent}"/>', f'<child link="{child}"/>']
    if rng.random() < 0.8:
        rpy = f' rpy="{three(rng, rng.normal(size=3))}"' if rng.random() < 0.7 else ""
        inside.append(f'<origin{rpy} xyz="{three(rng, rng.normal(size=3) * 0.5)}" />')
    if kind == "planar":  # Pinocchio knows planes across z only
        inside.append('<axis xyz="0 0 1"/>')
    elif kind not in ("fixed", "floating") and rng.random() < 0.8:
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        if rng.random() < 0.5:
            axis = np.eye(3)[rng.integers(3)] * rng.choice([-1, 1])
        inside.append(f'<axis xyz="{" ".join(repr(float(a)) for a in axis)}"/>')
    if kind in ("revolute", "prismatic"):
        inside.append('<limit effort="10" lower="-1.5" upper="1.50" velocity="2e0"/>')
    if kind != "fixed" and rng.random() < 0.5:
        inside.append(
            f'<dynamics damping="{number(rng, rng.uniform(0, 1))}" friction="0.10" spring_reference="1"/>'
        )
    if kind in MIMICS and leaders and rng.random() < 0.3:
        leader = leaders[int(rng.integers(len(leaders)))]
        written = number(rng, float(rng.uniform(0.3, 2) * rng.choice([-1, 1])))
        inside.append(f'<mimic joint="{leader}" multiplier="{written}" offset=".1"/>')
    if kind == "fixed" and leaders and rng.random() < 0.2:  # as exporters leave it when they freeze a joint
        inside.append(f'<mimic joint="{leaders[0]}"/>')
    rng.shuffle(inside)
    return f'  <joint type="{kind}" name="{name}">\n    ' + "\n    ".join(inside) + "\n  </joint>\n"


def random_urdf(rng: np.random.Generator, count: int, *, massive_root: bool = True) -> str:
    """A tree of `count` joints in any order of links; massless links are never all that a joint moves."""
    kinds = [str(rng.choice(list(NOUNS))) for _ in range(count)]
    if "revolute" not in kinds:
        kinds[0] = "revolute"
    names = [f"link{i}{rng.choice(ENDINGS)}" for i in range(count + 1)]
    joints = [f"{'link' if rng.random() < 0.2 else 'joint'}{i}{rng.choice(ENDINGS)}" for i in range(count)]
    pieces = [link(rng, names[0], massive=massive_root)]
    leaders: list[str] = []
    for i, kind in enumerate(kinds):
        parent = names[int(rng.integers(max(0, i - 3), i + 1))]
        pieces.append(link(rng, names[i + 1], massive=kind != "fixed" or rng.random() < 0.7))
        pieces.append(joint(rng, joints[i], kind, parent, names[i + 1], leaders))
        if kind in MIMICS:
            leaders.append(joints[i])
    pieces.append(
        '  <transmission name="t"><type>transmission_interface/SimpleTransmission</type></transmission>\n'
    )
    pieces.append('  <gazebo reference="link0"><material>Gazebo/Grey</material></gazebo>\n')
    rng.shuffle(pieces)
    return f'<?xml version="1.0" ?>\n<!-- made by a test -->\n<robot name="a robot">\n{"".join(pieces)}</robot>\n'


def meaning(text: str) -> object:
    """All that a file says, comments too, read by ElementTree's own parser: only space between elements may differ."""
    builder = ElementTree.TreeBuilder(insert_comments=True, insert_pis=True)
    return _meaning(ElementTree.fromstring(text, ElementTree.XMLParser(target=builder)))


def _meaning(element: ElementTree.Element) -> object:
    tag = element.tag if isinstance(element.tag, str) else element.tag.__name__
    words = ((element.text or "").strip(), (element.tail or "").strip())
    return tag, dict(element.attrib), words, [_meaning(each) for each in element]
