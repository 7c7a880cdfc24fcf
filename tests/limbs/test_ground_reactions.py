"""OpenSim's ground reactions as wrenches, and recordings turned from one laboratory's axes into another's."""

import numpy as np
import pytest

import trundle
from trundle import InputError

T = np.linspace(0.0, 1.0, 11)
UP = np.sin(np.pi * T) ** 2  # a step: no force at both ends
TABLES = {
    "force": np.column_stack([60 * UP, 700 * UP, -20 * UP]),
    "place": np.column_stack([0.1 + 0.2 * T, 0 * T, 0.05 + 0 * T]),
    "torque": np.column_stack([0 * T, 4 * UP, 0 * T]),
}


def columns(force="ground_force_v{}", place="ground_force_p{}", torque="ground_torque_{}"):
    names = {"force": force, "place": place, "torque": torque}
    return {names[what].format(axis): TABLES[what][:, k] for what in names for k, axis in enumerate("xyz")}


def recording(found):
    return trundle.Recording(T, channels=found)


NAMED = {
    "ground": columns(),
    "1_ground": columns("1_ground_force_v{}", "1_ground_force_p{}", "1_ground_torque_{}"),
    "l_ground": columns("l_ground_force_v{}", "l_ground_force_p{}", "l_ground_torque_{}"),
    "ground_1": columns("ground_force_1_v{}", "ground_force_1_p{}", "ground_moment_1_m{}"),
    "ground_2": columns("ground_force_2_v{}", "ground_force_2_p{}", "ground_torque_2_{}"),
}


@pytest.mark.parametrize("degrees", ["no", "yes"])
@pytest.mark.parametrize("name", NAMED)
def test_columns_are_wrenches_at_the_files_points(tmp_path, name, degrees):
    table = {"time": T, **NAMED[name]}
    head = f"grf\nversion=1\nnRows={len(T)}\nnColumns=10\ninDegrees={degrees}\nendheader\n"
    rows = "\n".join("\t".join(map(repr, row)) for row in np.column_stack([*table.values()]).tolist())
    (tmp_path / "grf.mot").write_text(head + "\t".join(table) + "\n" + rows + "\n")
    (ground,) = trundle.ground_reactions(trundle.read_recording(tmp_path / "grf.mot"))
    assert ground.name == name
    found = ground.wrench("foot", threshold=20)
    stood = np.linalg.norm(TABLES["force"], axis=1) >= 20
    assert 0 < stood.sum() < len(T)
    for values, key in ((found.force, "force"), (found.moment, "torque")):
        np.testing.assert_allclose(values, TABLES[key] * stood[:, None], atol=1e-12)
    places = found.point.position(frame=found.frame)
    np.testing.assert_allclose(places[stood], TABLES["place"][stood], atol=1e-12)


def test_between_samples_force_and_moment_are_linear():
    (ground,) = trundle.ground_reactions(recording(columns()))
    times = np.linspace(0.2, 0.8, 37)
    found = ground.wrench("foot", times=times, threshold=1)
    at_origin = found.at(found.frame.origin)
    about = np.cross(TABLES["place"], TABLES["force"]) + TABLES["torque"]
    for values, table in ((at_origin.force, TABLES["force"]), (at_origin.moment, about)):
        expected = np.column_stack([np.interp(times, T, column) for column in table.T])
        np.testing.assert_allclose(values, expected, atol=1e-12)
    # the centre of pressure doesn't stray towards the origin, where files put it while the foot is up
    swing = columns()
    swing["ground_force_px"] = np.where(UP > 0, TABLES["place"][:, 0], 0.0)
    early = trundle.ground_reactions(recording(swing))[0].at([0.05])
    assert early.place[0, 0] == pytest.approx(0.12)
    with pytest.raises(InputError, match="ground reaction 'ground' was recorded from 0 to 1 s, not at 2 s"):
        ground.wrench("foot", times=[2.0])
    with pytest.raises(InputError, match="positive threshold"):
        ground.wrench("foot", threshold=0)


def test_what_columns_lack_is_told():
    up = UP < 1e-9
    found = {
        name: np.where(up, np.nan if "_p" in name else 0.0, values) for name, values in columns().items()
    }
    trundle.ground_reactions(recording(found))  # no centre of pressure where there is no force
    found["ground_force_pz"] = np.where(T[4] == T, np.nan, found["ground_force_pz"])
    with pytest.raises(
        InputError, match=r"ground_force_pz: there is no number at 0.4 s, where ground pushes"
    ):
        trundle.ground_reactions(recording(found))
    del found["ground_force_pz"]
    with pytest.raises(InputError, match="there is no column 'ground_force_pz'"):
        trundle.ground_reactions(recording(found))


def test_turning_is_one_rotation_of_all_vectors():
    corners = [(0.3, 0.2, 0), (-0.3, 0.2, 0), (-0.3, -0.2, 0), (0.3, -0.2, 0)]
    force, moment = np.tile([5.0, 10.0, 700.0], (11, 1)), np.tile([70.0, -35.0, 3.0], (11, 1))
    plate = trundle.ForcePlate("left", corners, T, force, moment)
    heel = np.tile([1.0, 2.0, 3.0], (11, 1))
    given = trundle.Recording(T, {"heel": heel}, columns() | {"knee": T}, (plate,), {"strike": (0.1,)})
    found = given.turned("z", to="y")
    np.testing.assert_array_equal(found.markers["heel"][0], [1, 3, -2])
    np.testing.assert_array_equal(found.plates[0].force[0], [5, 700, -10])
    np.testing.assert_allclose(np.abs(found.plates[0].normal), [0, 1, 0], atol=1e-15)
    np.testing.assert_array_equal(found.channels["knee"], T)
    wrenches = [(plate.wrench("foot"), found.plates[0].wrench("foot"))]
    (before,), (after,) = (trundle.ground_reactions(each) for each in (given, found))
    wrenches.append((before.wrench("foot"), after.wrench("foot")))
    for one, other in wrenches:
        one, other = (each.at(each.frame.origin) for each in (one, other))
        for a, b in ((one.force, other.force), (one.moment, other.moment)):
            np.testing.assert_allclose(b, np.column_stack([a[:, 0], a[:, 2], -a[:, 1]]), atol=1e-12)
    back = found.turned("y", to="z")
    np.testing.assert_array_equal(back.markers["heel"], heel)
    np.testing.assert_array_equal(back.plates[0].moment, moment)
    assert back.events == given.events
    assert given.turned("y", to="y") is given
    with pytest.raises(InputError, match="up: up is y or z, not 'x'"):
        given.turned("x", to="y")
