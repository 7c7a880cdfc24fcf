"""What to cite for a robot: keys that exist, works of the parts that it has, laws of a user's own."""

import re
from importlib.resources import files
from typing import ClassVar, Literal

import pytest

import trundle
import trundle.robot.ground_laws  # its laws are looked for by name else
from trundle.robot.component import plain
from trundle.robot.contact import ContactLaw
from trundle.robot.kinds import Kind

KEYS = re.findall(r"^@\w+\{(\S+),", files("trundle").joinpath("bibliography.bib").read_text(), re.MULTILINE)


def cited(given):
    return re.findall(r"^@\w+\{(\S+),", trundle.citation(given), re.MULTILINE)


def kinds(base=Kind):
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def test_what_kinds_name_is_in_the_bibliography_and_all_of_that_is_used():
    named = {key for kind in kinds() if kind.__module__.startswith("trundle.") for key in kind.sources}
    whole = {"featherstone2008", "campion1996", "muir1987", "seegmiller2014", "seegmiller2016"}
    assert named | whole == set(KEYS)
    assert len(KEYS) == len(set(KEYS))


def test_a_robot_is_cited_by_its_parts():
    drive = trundle.catalog.differential_drive()
    assert cited(drive) == ["trundle", "campion1996", "featherstone2008", "muir1987"]
    assert cited(trundle.derive(drive)) == cited(drive)
    assert cited(trundle.catalog.pendulum()) == ["trundle", "featherstone2008"]
    assert "pennestri2016" in cited(trundle.catalog.skid_steer())
    assert {"seegmiller2014", "seegmiller2016"} <= set(cited(trundle.catalog.zoe()))
    assert "seegmiller2016" in cited(trundle.catalog.quadruped())
    assert "version = {" + trundle.__version__ in trundle.citation(drive)


def test_a_controller_cites_its_law():
    data = plain(trundle.catalog.differential_drive())
    data["controllers"] = {"track": {"type": "kanayama", "speed_to": "v", "turn_to": "w"}}
    assert "kanayama1990" in cited(trundle.Robot(**data))


def test_braces_of_every_entry_close():
    text = files("trundle").joinpath("bibliography.bib").read_text()
    assert text.count("{") == text.count("}")


def test_a_law_of_a_users_own_names_its_work():
    entry = "@misc{mine,\n  title = {Mine},\n  year = {2026}\n}"

    @trundle.register
    class Cited(ContactLaw):
        """Friction that somebody published."""

        sources: ClassVar[tuple[str, ...]] = (entry, "canudas1995")
        pushes: ClassVar[bool] = False
        type: Literal["cited_slip"] = "cited_slip"

    robot = {"base": "planar", "body": {"mass": 1.0, "inertia": {"zz": 1.0}}}
    wheel = {"at": [0, 0, 0], "radius": 0.1, "contact": "cited_slip"}
    assert cited({"robot": {**robot, "wheels": {"only": wheel}}})[-1] == "mine"


def test_what_has_no_description_says_so():
    with pytest.raises(trundle.InputError, match="citation"):
        trundle.citation(3)
