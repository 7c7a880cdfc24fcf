"""The window that plays a run, under SDL's dummy driver: what keys and mouse do, what is drawn, how it closes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pygame
import pytest

import trundle
from parameters import SHORT
from trundle.show.drawing.scene import project
from trundle.show.figures.style import COLOURS, WHEEL
from trundle.show.window import display
from trundle.show.window.camera import fitted
from trundle.show.window.ground import TrailGround, nice_length
from trundle.show.window.overlay import length_words, timeline
from trundle.show.window.player import Player, batteries_of, played, speeds

EXAMPLES = Path(__file__).parents[3] / "examples"
SIZE = (900, 600)


@pytest.fixture(scope="module")
def run():
    drive = trundle.catalog.differential_drive()
    return trundle.roll(drive, 10.0, {"v_x": 1.0, "omega": 0.5}, samples=1001, progress=False)


@pytest.fixture
def screen():
    with display.opened("test", SIZE) as found:
        yield found


@pytest.fixture
def player(run, screen):
    return Player(run.name, played(run), screen.get_size(), 1.0)


def key(code):
    return pygame.event.Event(pygame.KEYDOWN, key=code)


def mouse(kind, pos, **more):
    return pygame.event.Event(kind, pos=pos, button=1, **more)


def colours(screen, colour):
    """Where a colour is on the screen, (n, 2) pixels."""
    found = pygame.surfarray.array3d(screen)
    return np.argwhere((found == pygame.Color(colour)[:3]).all(axis=2))


@pytest.mark.slow
def test_the_speed_is_the_run_s_and_batteries_are_shown(run, player):
    """On a circle straight pieces are shorter than arcs by (ω Δt)²/24; beside the solution's own v on a real drive."""
    assert np.abs(speeds(player.track) - 1.0).max() < 1e-3
    assert list(player._readings()) == ["1.00 m/s"]
    real = trundle.run(EXAMPLES / "battery" / "competition_swerve.yaml", progress=False)
    shown = Player(real.name, played(real), SIZE, 1.0, None, batteries_of(real))
    own = np.hypot(real["v_x"], real["v_y"])
    assert np.abs(shown.speeds - own)[np.abs(real.time - 2.0) > 0.05].max() < 2e-3 * own.max()
    shown.time = 1.5
    speed, battery = shown._readings()
    assert speed == f"{np.interp(1.5, real.time, own):.2f} m/s"
    assert battery == f"battery {np.interp(1.5, real.time, real['battery.voltage']):.1f} V, 100 %"


def test_an_impact_and_a_single_sample_have_speeds():
    time = np.array([0.0, 1.0, 1.0, 2.0])
    track, _ = played(trundle.Run("points", time, {"x": time, "y": 0 * time}))
    assert speeds(track) == pytest.approx(np.ones(4))
    still, _ = played(trundle.Run("point", [0.0], {"x": [0.0], "y": [0.0]}))
    assert speeds(still).tolist() == [0.0]


def test_time_goes_on_at_the_speed_and_stops_at_the_end(player):
    player.advance(0.5)
    assert player.time == 0.5
    player.handle(key(pygame.K_UP))
    player.advance(1.0)
    assert (player.speed, player.time) == (2.0, 2.5)
    player.advance(100.0)
    assert player.time == 10.0
    assert not player.playing
    player.handle(key(pygame.K_SPACE))  # from the start
    assert player.playing
    assert player.time == 0.0


def test_keys_pause_step_change_the_speed_and_restart(player):
    player.advance(1.005)
    player.handle(key(pygame.K_SPACE))
    player.advance(1.0)
    assert player.time == pytest.approx(1.005)
    player.handle(key(pygame.K_RIGHT))
    assert player.time == pytest.approx(1.01)
    player.handle(key(pygame.K_LEFT))
    assert player.time == pytest.approx(1.0)
    for _ in range(20):
        player.handle(key(pygame.K_DOWN))
    assert player.speed == 0.01
    player.handle(key(pygame.K_r))
    assert player.time == 0.0
    assert player.playing


def test_a_click_on_the_timeline_goes_to_that_time_and_dragging_on(player):
    line = timeline(SIZE, 1.0)
    player.handle(mouse(pygame.MOUSEBUTTONDOWN, line.center))
    assert player.time == pytest.approx(5.0, abs=0.02)
    player.handle(mouse(pygame.MOUSEMOTION, (line.right + 50, line.centery), rel=(1, 0)))
    assert player.time == 10.0
    player.handle(mouse(pygame.MOUSEBUTTONUP, line.center))
    player.handle(mouse(pygame.MOUSEBUTTONDOWN, (20, line.centery)))  # the button beside it
    assert not player.playing


def test_the_trail_ends_in_the_robot_and_the_robot_is_where_the_run_says(player, screen, run):
    player.time = 4.0
    player.draw(screen)
    camera = player.sight.camera
    trail = colours(screen, COLOURS[0])
    trail = trail[trail[:, 1] < timeline(SIZE, 1.0).top - 20]
    path = camera.on_screen(np.stack([run["x"], run["y"]], axis=1)[:401])
    apart = np.hypot(*(trail[:, None] - path[None]).transpose(2, 0, 1))
    assert apart.min(axis=1).max() < 3
    wheels = colours(screen, WHEEL)
    wheels = wheels[wheels[:, 1] < timeline(SIZE, 1.0).top - 20]
    assert np.hypot(*(wheels.mean(axis=0) - path[-1])) < 0.2 * camera.scale


def test_zooming_keeps_what_is_under_the_mouse_and_panning_moves_by_pixels():
    camera = fitted(np.array([[0.0, 0.0], [4.0, 2.0]]), SIZE)
    at = (123.0, 456.0)
    before, closer = camera.in_plane(at), camera.zoomed(1.7, at)
    np.testing.assert_allclose(closer.in_plane(at), before, atol=1 / closer.scale)
    np.testing.assert_allclose(camera.on_screen(np.array(before)), at, atol=1e-9)
    moved = camera.panned(30, -20)
    np.testing.assert_allclose(moved.on_screen(np.array(before)), (153, 436), atol=1)
    far = camera
    for _ in range(500):
        far = far.zoomed(1.2, at)
    assert np.isfinite(far.scale)
    assert far.scale * 4 < 2**31


def test_follow_keeps_the_robot_in_the_middle_and_zero_sees_everything(player, screen, run):
    player.handle(key(pygame.K_f))
    player.time = 6.0
    player.draw(screen)
    place = player.sight.camera.on_screen(np.array([run["x"][600], run["y"][600]]))
    np.testing.assert_allclose(place, np.array(SIZE) / 2, atol=1.5)
    player.handle(key(pygame.K_0))
    assert player.sight.camera == player.sight.everything
    around = player.sight.camera.on_screen(player.around)
    assert (around >= 0).all()
    assert (around <= SIZE).all()
    player.handle(pygame.event.Event(pygame.MOUSEWHEEL, y=2))
    assert player.sight.camera.scale > player.sight.everything.scale


def test_another_size_of_the_window_keeps_everything_in_sight(player):
    player.handle(pygame.event.Event(pygame.VIDEORESIZE, w=500, h=900))
    assert (player.sight.camera.on_screen(player.around) <= (500, 900)).all()
    player.draw(pygame.display.set_mode((500, 900)))
    player.handle(pygame.event.Event(pygame.VIDEORESIZE, w=1, h=1))
    player.draw(pygame.display.set_mode((40, 30)))


def test_the_trail_grows_by_what_is_new_and_starts_anew_where_time_goes_back(screen):
    turn = np.linspace(0, 60, 20_000)
    points = np.stack([np.cos(turn), np.sin(1.01 * turn)], axis=1) * (1 + 0.01 * turn)[:, None]
    camera, ground = fitted(points, SIZE), TrailGround()
    for count in (5_000, 10_000, 20_000):
        ground.draw(screen, camera, points[:count])
    grown = pygame.surfarray.array3d(screen)
    ground.draw(screen, camera, points[:5_000])
    short = pygame.surfarray.array3d(screen)
    ground.draw(screen, camera, points)
    at_once = pygame.surfarray.array3d(screen)
    assert (grown != at_once).any(axis=2).mean() < 0.02  # where smooth lines meet
    assert (short != at_once).any(axis=2).mean() > 0.02
    assert ground.count < len(points)


def test_scale_bars_are_round_and_lengths_have_short_numbers():
    assert [nice_length(x) for x in (0.7, 1.0, 1.2, 3.0, 70.0)] == [1, 1, 2, 5, 100]
    words = [length_words(each) for each in (2000.0, 50.0, 0.2, 0.005, 0.0001)]
    assert words == ["2 km", "50 m", "20 cm", "5 mm", "0.0001 m"]


def test_a_picture_of_ones_own_is_turned_and_scaled(run, screen, tmp_path):
    image = pygame.Surface((40, 20), pygame.SRCALPHA)
    image.fill("red")
    image.fill("green", (20, 0, 20, 20))  # the front
    pygame.image.save(image, tmp_path / "robot.png")
    from trundle.show.window.picture import picture_of

    shown = played(run)
    picture = picture_of(tmp_path / "robot.png", ("80 cm", 0.4), shown[1], "z")
    player = Player(run.name, shown, SIZE, 1.0, picture)
    player.time = 3.0
    player.draw(screen)
    back, front = (colours(screen, colour).mean(axis=0) for colour in ("red", "green"))
    heading = np.arctan2(back[1] - front[1], front[0] - back[0])
    assert heading == pytest.approx(1.5, abs=0.06)
    assert np.hypot(*(front - back)) == pytest.approx(0.4 * player.sight.camera.scale, rel=0.1)
    base = player.sight.camera.on_screen(np.array([run["x"][300], run["y"][300]]))
    np.testing.assert_allclose((back + front) / 2, base, atol=2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"image": "no.png"}, "can't be read as a picture"),
        ({"speed": 0}, "positive number"),
        ({"speed": float("nan")}, "positive number"),
        ({"size": (0, 100)}, "width and a height"),
        ({"image": __file__}, "can't be read as a picture"),
    ],
)
def test_what_doesnt_fit_is_said_and_leaves_pygame_shut_down(run, given, said):
    with pytest.raises(trundle.InputError, match=said):
        trundle.window.play(run, close=True, **given)
    assert not pygame.display.get_init()


def test_runs_without_a_description_show_an_arrow_and_others_say_what_is_missing():
    time = np.linspace(0, 1, 11)
    bare = trundle.Run("points", time, {"x": time, "y": time**2, "theta": time})
    trundle.window.play(bare, speed=10, close=True)
    with pytest.raises(trundle.InputError, match="no description says what 'still' looks like"):
        trundle.window.play(trundle.Run("still", time, {"z": time}), close=True)


@pytest.mark.parametrize("closing", [pygame.QUIT, pygame.K_ESCAPE, pygame.K_q])
def test_the_window_closes_and_pygame_is_shut_down(run, monkeypatch, closing):
    event = pygame.event.Event(pygame.QUIT) if closing == pygame.QUIT else key(closing)
    monkeypatch.setattr(pygame.event, "get", lambda: [event])
    trundle.window.play(run)
    assert not pygame.get_init()
    assert not pygame.display.get_init()


def test_an_interrupt_shuts_pygame_down(run, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(pygame.event, "get", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trundle.window.play(run)
    assert not pygame.display.get_init()


def test_without_pygame_the_message_says_how_to_get_it(run, monkeypatch):
    monkeypatch.setattr("trundle.extras._version", lambda name: None)
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(trundle.InputError, match=r"pygame-ce") as raised:
        trundle.window.play(run)
    assert "pip install 'trundle[window]'" in str(raised.value.hint)


@pytest.mark.slow
def test_without_a_screen_the_message_says_what_else_there_is(run):
    code = (
        "import trundle, numpy as np\nt = np.linspace(0, 1, 3)\n"
        "trundle.window.play(trundle.Run('p', t, {'x': t, 'y': t}))"
    )
    env = {**os.environ, "SDL_VIDEODRIVER": "x11", "DISPLAY": ""}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert "no window can be opened" in done.stderr


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.slow
def test_every_robot_of_the_catalogue_is_drawn_inside_the_window(name, screen):
    run = trundle.run(trundle.catalog.document(name), duration=0.5, samples=51, progress=False)
    player = Player(run.name, played(run), SIZE, 1.0)
    for time in (0.0, 0.3, 0.5):
        player.time = time
        player.draw(screen)
        scene = player.scene.between(player.position)
        pixels = player.sight.camera.on_screen(project(scene.extent[0], player.track.view))
        assert (pixels >= 0).all()
        assert (pixels <= SIZE).all()
