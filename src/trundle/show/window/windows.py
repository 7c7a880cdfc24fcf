"""What users open: a run in a window, and a robot to be driven."""

from __future__ import annotations

import os
from collections.abc import Mapping

from trundle.documents import Document
from trundle.documents.runspec import largest_voltage
from trundle.errors import InputError
from trundle.extras import load
from trundle.model.arguments import Given, opened
from trundle.results import Run


def play(
    run: Run,
    *,
    image: str | os.PathLike[str] | None = None,
    image_size: float | str | tuple[float | str, float | str] | None = None,
    speed: float = 1.0,
    follow: bool = False,
    close: bool = False,
    size: tuple[int, int] = (1200, 800),
) -> None:
    """Show a run in a window, until somebody closes it: the robot as it moved, its trail, a clock and a scale bar.

    Bases on the ground are seen from above, linkages in their plane, other mechanisms from a corner. H shows the keys.

    Parameters
    ----------
    run : Run
        What `trundle.run`, `simulate`, `roll` or `drive` gave; one without a description needs x, y and theta.
    image : str or path, optional
        A picture of the robot seen from above, its front to the right, in place of its drawing.
    image_size : float, str or two of them, m, optional
        How long the picture is along the robot, or how long and how wide; by default as long as the robot.
    speed : float
        How many times as fast as it went it is shown at first.
    follow : bool
        Whether the picture follows the robot at first.
    close : bool
        Whether the window closes at the end of the run.
    size : tuple of int, pixels
        The window's width and height; twice as many on a screen twice as fine.

    Raises
    ------
    InputError
        pygame-ce isn't installed, no window can be opened, nothing moves, or an argument doesn't fit.

    Examples
    --------
    >>> import os, trundle
    >>> os.environ["SDL_VIDEODRIVER"] = "dummy"  # no screen is needed to try this
    >>> run = trundle.roll(trundle.catalog.differential_drive(), 1.0, {"v_x": 1.0, "omega": 0.5})
    >>> trundle.window.play(run, speed=10, close=True)
    """
    require_pygame()
    from trundle.show.window.player import watch

    watch(run, image=image, image_size=image_size, speed=speed, follow=follow, close=close, size=size)


def drive(
    given: Given,
    *,
    initial: Mapping[str, float | str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    speed: float | None = None,
    duration: float | None = None,
    size: tuple[int, int] = (1200, 800),
    base: str | None = None,
) -> Run:
    """Drive a robot in a window: keys or a gamepad set its inputs, and its motion is simulated in real time.

    Of a base on wheels the arrow keys, W A S D and the sticks say how it shall move, and its motors get what that takes
    by the robot's own kinematics; a car steers. Every other input is on a pair of keys that the window shows. Where the
    machine is too slow for real time the window says by how much. H shows the keys.

    Parameters
    ----------
    given : Model, Robot, Document, path or mapping
        What is driven; of a file its run section says where it starts, and whether forces move it (`simulate`) or its
        wheels' rates are given (`roll`).
    initial, parameters : mapping of str to number or str
        Where states start, and changed values, as in `simulate`.
    speed : float, m/s
        What keys give the base at first; by default 0.6 of its top speed (`trundle.analyze(robot).top_speed`), or by
        its size.
    duration : float, s
        How long until the window closes by itself.
    size : tuple of int, pixels
        The window's width and height; twice as many on a screen twice as fine.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Run
        What was driven, 60 samples a second, its inputs held from one to the next.

    Raises
    ------
    InputError
        pygame-ce isn't installed, no window can be opened, or an argument doesn't fit.

    Examples
    --------
    >>> import os, trundle
    >>> os.environ["SDL_VIDEODRIVER"] = "dummy"  # no screen is needed to try this
    >>> run = trundle.window.drive(trundle.catalog.differential_drive(), duration=0.1)
    >>> round(run.duration, 6), run["right_motor.voltage"].max()
    (0.1, np.float64(0.0))
    """
    require_pygame()
    for key, number in (("speed", speed), ("duration", duration)):
        if number is not None and not 0 < number < float("inf"):
            raise InputError(f"expected a positive number, got {number!r}", key=key)
    from trundle.show.window.driver import problem_of, steer

    source = opened(given, "drive", base)
    voltage = None
    if isinstance(source, Document) and source.run is not None:
        voltage = largest_voltage(source.run, source.robot)
    return steer(problem_of(source, initial, parameters), speed, duration, size, voltage)


def require_pygame() -> None:
    """InputError where pygame-ce isn't there."""
    # It greets on standard output, where JSON may be expected.
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    load("pygame", "a window needs pygame-ce", extra="window", distribution="pygame-ce")
