"""The view in space: what stands where, how wheels turn, what shows, and that a browser without WebGL shows a plane."""

from __future__ import annotations

import io
import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import trundle
from derived import derived
from languages.node import node
from trundle.show.page import page_of
from trundle.show.page.inert_json import to_json
from trundle.show.page.joining import joined
from trundle.show.page.payload import run_data

_ASSETS = Path(trundle.__file__).parent / "show" / "page" / "assets"
_CIRCLE = Path(__file__).parents[3] / "examples" / "diff_drive" / "circle.yaml"
# What Chromium says of its own software rendering where a picture is read back.
_STALL = "GPU stall due to ReadPixels"
_FIELD = math.radians(28)
_AT = """() => {
    const { azimuth, elevation, distance, target } = trundlePage.view.eye;
    return [azimuth, elevation, distance, ...target.toArray()];
}"""


def posed(bodies, seconds=1.0, up="z"):
    """A run of an arm about what is up, half a turn in these seconds, whose body has these shapes."""
    axis = [float(each == up) for each in "xyz"]
    body = {"mass": 1, "center_of_mass": [0.5, 0, 0], "shapes": bodies}
    arm = {"type": "revolute", "axis": axis, "body": body}
    gravity = [-9.81 * part for part in axis]
    robot = trundle.Robot(name="arm", joints={"arm": arm}, gravity=gravity)
    model = trundle.derive(robot)
    return trundle.simulate(model, seconds, initial={"arm.rate": math.pi / seconds}, samples=41)


def pixels(page):
    shot = page.locator("#canvas").screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=float)


def seen_at(point, eye, shape):
    """Where a pinhole camera at this eye, its up the world's z, sees a point (pixels from the upper left)."""
    azimuth, elevation, distance, *target = eye
    level = math.cos(elevation)
    toward = np.array([level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation)])
    right = np.cross([0, 0, 1], toward)
    right /= np.linalg.norm(right)
    up = np.cross(toward, right)
    away = np.asarray(point) - target
    depth = distance - away @ toward
    high, wide = shape[:2]
    scale = high / 2 / math.tan(_FIELD / 2) / depth
    return np.array([wide / 2 + scale * (away @ right), high / 2 - scale * (away @ up)])


def middle_of_red(picture):
    r, g, b = np.moveaxis(picture, -1, 0)
    r[-110:, -110:] = 0.0  # the x axis in the corner is red, too
    rows, columns = np.nonzero((r > 90) & (g < 0.35 * r) & (b < 0.35 * r))
    assert rows.size > 20
    return np.array([columns.mean(), rows.mean()])


@pytest.mark.parametrize(
    ("time", "drag", "up"),
    [("0", None, "z"), ("0.25", (120, 60), "z"), ("0.75", (-200, 90), "z"), ("0.25", (120, 60), "y")],
)
@pytest.mark.slow
def test_a_shape_is_seen_where_it_is(opened, time, drag, up):
    """A red ball on an arm, against a pinhole camera worked out by hand, from several sides, whatever is up."""
    at = [0.8, 0, 0.3] if up == "z" else [0.8, 0.3, 0]
    ball = {"type": "sphere", "radius": 0.06, "at": at, "colour": "#ff0000"}
    page = opened(page_of(posed({"ball": ball}, up=up)), refused=_STALL)
    assert page.evaluate("trundlePage.spatial")
    page.locator(".time").fill(time)
    box = page.locator("#canvas").bounding_box()
    if drag:
        page.mouse.move(box["x"] + 200, box["y"] + 300)
        page.mouse.down()
        page.mouse.move(box["x"] + 200 + drag[0], box["y"] + 300 + drag[1])
        page.mouse.up()
    angle = math.pi * float(time)
    picture = pixels(page)
    expected = seen_at([0.8 * math.cos(angle), 0.8 * math.sin(angle), 0.3], page.evaluate(_AT), picture.shape)
    assert np.linalg.norm(middle_of_red(picture) - expected) < 2.5


def test_wheels_roll_on_the_ground(tmp_path):
    """What touches the ground stands still there: the lowest point of a wheel, a moment before and after."""
    run = trundle.run(_CIRCLE, progress=False)
    (tmp_path / "data.json").write_text(to_json(run_data([run])), encoding="utf-8")
    script = f"""
    import {{ readFileSync }} from "node:fs";
    import * as THREE from "{_ASSETS.as_uri()}/vendor/three.module.min.js";
    import {{ decode, momentAt, motionOf }} from "{_ASSETS.as_uri()}/data.js";
    import {{ createRobot3d }} from "{_ASSETS.as_uri()}/robot3d.js";
    const data = decode(JSON.parse(readFileSync("{tmp_path / "data.json"}", "utf8")));
    const theme = {{ body: "#fff", wheel: "#000", mark: "#fff", joint: "#00f", muted: "#888", force: "#f00",
                     moment: "#0f0", axes: ["#f00", "#0f0", "#00f"], curves: ["#000"] }};
    const motion = motionOf(data);
    const robot = createRobot3d(data.scene, theme);
    const found = [];
    const step = 1e-3;
    const middles = [30, 110, 205].map((k) => (data.run.time[k] + data.run.time[k + 1]) / 2);
    for (const t of middles) for (const {{ name, radius }} of data.scene.wheels) {{
      const wheel = robot.group.getObjectByName(name);
      const place = (time) => {{
        robot.pose(momentAt(motion, time));
        robot.group.updateMatrixWorld(true);
        return wheel.matrixWorld.clone();
      }};
      const before = place(t - step), now = place(t), after = place(t + step);
      const lowest = new THREE.Vector3().setFromMatrixPosition(now).add(new THREE.Vector3(0, 0, -radius));
      const painted = lowest.clone().applyMatrix4(now.clone().invert());
      const slip = painted.clone().applyMatrix4(after).sub(painted.clone().applyMatrix4(before)).length() / (2 * step);
      const speed = new THREE.Vector3().setFromMatrixPosition(after)
        .sub(new THREE.Vector3().setFromMatrixPosition(before)).length() / (2 * step);
      found.push([slip / speed, lowest.z]);
    }}
    console.log(JSON.stringify(found));
    """
    (tmp_path / "roll.mjs").write_text(script, encoding="utf-8")
    ran = subprocess.run(
        [node(), "--experimental-default-type=module", tmp_path / "roll.mjs"],
        check=True,
        capture_output=True,
        text=True,
    )
    slips = np.array(json.loads(ran.stdout))
    assert slips[:, 0].max() < 2e-3  # of the wheel's speed; the rest are straight lines between samples
    assert np.ptp(slips[:, 1]) < 1e-6


@pytest.mark.slow
def test_wheeled_robots_can_be_seen_in_space(opened):
    page = opened(page_of(trundle.run(_CIRCLE, progress=False)), refused=_STALL)
    assert not page.evaluate("trundlePage.spatial")
    page.keyboard.press("3")
    assert page.evaluate("trundlePage.spatial")
    assert "seen in space" in page.inner_text("#facts")
    assert page.inner_text("#note") == "lines every 2 m"
    before = pixels(page)
    page.locator(".time").fill("12")
    assert np.abs(pixels(page) - before).max() > 50
    assert page.evaluate("trundlePage.view.follows")
    page.keyboard.press("f")
    page.keyboard.press("+")
    assert not page.evaluate("trundlePage.view.follows")
    page.keyboard.press("3")
    assert not page.evaluate("trundlePage.spatial")
    assert "seen from above" in page.inner_text("#facts")


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
@pytest.mark.slow
def test_what_drives_far_starts_near_and_is_followed(opened, width, height):
    page = opened(page_of(trundle.run(_CIRCLE, progress=False)), width=width, height=height, refused=_STALL)
    page.keyboard.press("3")
    size = page.evaluate("trundlePage.scene.size")
    _, _, distance, *target = page.evaluate(_AT)
    box = page.locator("#canvas").bounding_box()
    share = size / (2 * distance * math.tan(_FIELD / 2)) * box["height"] / min(box["width"], box["height"])
    assert share == pytest.approx(0.25)  # of the smaller side
    assert page.evaluate("trundlePage.view.follows")
    page.locator(".time").fill("6")
    moved = page.evaluate(_AT)[3:]
    assert math.dist(moved, target) > 5  # with the robot
    page.keyboard.press("0")
    assert not page.evaluate("trundlePage.view.follows")
    assert page.evaluate(_AT)[2] > 2 * distance


@pytest.mark.slow
def test_an_arm_starts_with_all_of_its_motion_in_sight(opened):
    ball = {"type": "sphere", "radius": 0.06, "at": [0.8, 0, 0.3], "colour": "#ff0000"}
    page = opened(page_of(posed({"ball": ball})), refused=_STALL)
    assert not page.evaluate("trundlePage.view.follows")
    assert page.evaluate("trundlePage.view.eye.distance === trundlePage.view.eye.fitted")


@pytest.mark.slow
def test_layers_keys_and_fingers(opened):
    ball = {"type": "sphere", "radius": 0.06, "at": [0.8, 0, 0.3], "colour": "#ff0000"}
    page = opened(page_of(posed({"ball": ball})), refused=_STALL, has_touch=True)
    page.locator("#layers summary").click()
    for says in ("joints", "frames' axes", "centres of mass", "bodies"):
        before = pixels(page)
        page.get_by_label(says, exact=True).click()
        assert np.abs(pixels(page) - before).max() > 30, says
    page.locator("#canvas").focus()
    azimuth = page.evaluate(_AT)[0]
    page.keyboard.press("Shift+ArrowLeft")
    assert page.evaluate(_AT)[0] > azimuth
    assert page.evaluate("trundlePage.player.state.time") == 0.0
    distance = page.evaluate(_AT)[2]
    page.evaluate(
        """() => {
            const canvas = document.getElementById("canvas");
            canvas.setPointerCapture = () => {};
            const at = (type, pointerId, clientX) =>
                canvas.dispatchEvent(new PointerEvent(type, { pointerId, clientX, clientY: 300, bubbles: true }));
            at("pointerdown", 11, 200), at("pointerdown", 12, 300), at("pointermove", 12, 400);
        }"""
    )
    assert page.evaluate(_AT)[2] == pytest.approx(distance / 2, rel=1e-3)


@pytest.mark.slow
def test_only_pages_that_need_it_carry_the_library():
    flat = trundle.simulate(derived("pendulum"), 0.2, samples=11)
    assert "createRobot3d" not in page_of(flat)
    assert len(page_of(flat).encode()) < 300_000


def test_the_library_is_a_script_of_its_own_scope(tmp_path):
    script = tmp_path / "page.mjs"
    script.write_text(joined("page", "view3d"), encoding="utf-8")
    subprocess.run([node(), "--check", script], check=True)


@pytest.mark.slow
def test_without_webgl_a_plane_is_shown(opened):
    ball = {"type": "sphere", "radius": 0.06, "at": [0.8, 0, 0.3]}
    html = page_of(posed({"ball": ball}))
    blind = """(() => {
        const { getContext } = HTMLCanvasElement.prototype;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
            return kind.startsWith("webgl") ? null : getContext.call(this, kind, ...rest);
        };
    })()"""
    page = opened("<!doctype html>", refused="WebGL")
    page.add_init_script(blind)
    page.set_content("")
    path = Path(page.url.removeprefix("file://"))
    path.write_text(html, encoding="utf-8")
    page.goto(path.as_uri())
    assert not page.evaluate("trundlePage.spatial")
    assert page.locator("#spatial").is_disabled()


def test_heights_between_samples_are_even(tmp_path):
    """A plane's samples give the plane back; outside, and beside holes, there is no height."""
    script = f"""
    import {{ heightAt, groundLines }} from "{_ASSETS.as_uri()}/ground3d.js";
    const [columns, rows, spacing, corner] = [5, 4, 0.5, [-1, 2]];
    const height = (_, k) => 0.3 * (k % columns) - 0.2 * Math.floor(k / columns);
    const heights = Float64Array.from({{ length: columns * rows }}, height);
    const ground = {{ corner, spacing, heights, columns }};
    const plane = (x, y) => 0.6 * (x - corner[0]) - 0.4 * (y - corner[1]);
    const off = [[-1, 2], [1, 3.5], [0.3, 2.7], [-0.99, 3.49]].map(([x, y]) => heightAt(ground, x, y) - plane(x, y));
    const none = [[-1.01, 3], [0, 3.51], [1.2, 3], [0, 1.9]].map(([x, y]) => Number.isNaN(heightAt(ground, x, y)));
    const lines = groundLines(ground, 1, false).map(({{ x, y, z }}) => z - plane(x, y));
    heights[0] = NaN;
    none.push(Number.isNaN(heightAt(ground, -0.9, 2.1)), !Number.isNaN(heightAt(ground, -0.4, 2.1)));
    console.log(JSON.stringify({{ off, none, lines }}));
    """
    (tmp_path / "heights.mjs").write_text(script, encoding="utf-8")
    command = [node(), "--experimental-default-type=module", tmp_path / "heights.mjs"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert np.abs(found["off"]).max() < 1e-12
    assert all(found["none"])
    assert len(found["lines"]) == 28  # x = -1, 1 in 3 pieces and y = 2, 3 in 4, two ends each
    assert found["lines"] == pytest.approx([0.015] * 28)


@pytest.mark.slow
def test_the_ground_of_a_terrain_is_drawn_and_shaded(opened):
    """What falls away from the light is darker than what faces it, and the page of a description is its run's."""
    ridge = {"surfaces": {"ridge": {"type": "hill", "height": 0.2, "width": 0.2, "at": [0.2, -0.6]}}}
    run = trundle.simulate(trundle.catalog.talon(), 1.0, terrain=ridge, mode="kinematic", step=0.05)
    page = opened(page_of(run), refused=_STALL)
    assert page.evaluate("trundlePage.spatial")
    page.locator("#fit").click()
    for _ in range(6):
        page.locator("#farther").click()
    picture, eye = pixels(page), page.evaluate(_AT)

    def brightness(x, y):
        height = 0.2 * math.exp(-((x - 0.2) ** 2 + (y + 0.6) ** 2) / 0.08)
        column, row = seen_at([x, y, height], eye, picture.shape).round().astype(int)
        return picture[row - 2 : row + 3, column - 2 : column + 3].mean()

    assert 255 > brightness(0.06, -0.74) > brightness(0.4, -0.55) + 10
    page.locator("#theme").click()
    assert np.abs(pixels(page) - picture).mean() > 10
    assert page_of(trundle.catalog.document("talon"), progress=False).count('"grounds":[{"corner"') == 1


@pytest.mark.slow
def test_ground_and_trail_look_alike_however_far_from_the_origin(opened):
    """Single precision, in which WebGL computes, has steps of half a metre at UTM's places."""
    x, y = np.meshgrid(np.arange(40), np.arange(40))
    heights = 0.1 * np.sin(0.2 * x) * np.cos(0.15 * y)

    def picture(*corner):
        ground = {"type": "grid", "heights": heights, "spacing": 0.25, "corner": list(corner)}
        start = {"x": corner[0] + 4.0, "y": corner[1] + 5.0}
        run = trundle.simulate(
            trundle.catalog.talon(),
            1.0,
            terrain={"surfaces": {"g": ground}},
            mode="kinematic",
            step=0.05,
            initial=start,
        )
        page = opened(page_of(run), refused=_STALL)
        page.evaluate("trundlePage.player.seek(1, true)")
        return pixels(page)

    near, far = picture(100.0, 200.0), picture(500_000.0, 5_000_000.0)
    assert near.std() > 10
    assert np.abs(far - near).mean() < 0.5


@pytest.mark.slow
def test_regions_of_other_friction_and_grounds_of_other_runs_have_their_colours(opened):
    """Ice is bluer than the ground beside it; of a run over other ground that is laid above, in that run's colour."""
    ice = {"regions": {"ice": {"friction": 0.1, "x": [-0.4, 0.4], "y": [-1, -0.4]}}}
    raised = {"surfaces": {"floor": {"type": "plane", "through": [0, 0, 0.05]}}}
    talon = trundle.catalog.talon()
    low, high = (
        trundle.simulate(talon, 1.0, terrain=ground, mode="kinematic", step=0.05, progress=False)
        for ground in (ice, raised)
    )

    def colours(html, *places):
        page = opened(html, refused=_STALL)
        page.locator("#fit").click()
        for _ in range(6):
            page.locator("#farther").click()
        picture, eye = pixels(page), page.evaluate(_AT)
        seen = [seen_at([x, y, 0.0], eye, picture.shape).round().astype(int) for x, y in places]
        return page, [
            picture[row - 1 : row + 2, column - 1 : column + 2].mean(axis=(0, 1)) for column, row in seen
        ]

    places = (0.2, -0.6), (0.55, -0.75)
    page, (cold, warm) = colours(page_of(low), *places)
    assert "ice: friction × 0.1" in page.inner_text("#note")
    assert cold[2] - cold[0] > warm[2] - warm[0] + 20
    _, (_, over) = colours(page_of([low, high]), *places)
    assert np.abs(over - warm).max() > 15
