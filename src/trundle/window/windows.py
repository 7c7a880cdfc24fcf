"""What users open: a run in a window."""

from __future__ import annotations

import os
from importlib.util import find_spec

from trundle.errors import InputError
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
    from trundle.window.player import watch

    watch(run, image, image_size, speed, follow, close, size)


def require_pygame() -> None:
    """InputError where pygame-ce isn't there."""
    if find_spec("pygame") is None:
        raise InputError(
            "a window needs pygame-ce, which is not installed", hint='pip install "trundle[window]"'
        )
    # It greets on standard output, where JSON may be expected.
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
