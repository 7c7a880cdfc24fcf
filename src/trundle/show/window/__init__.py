"""Live windows: a run played, a model driven. pygame-ce is imported when one is opened."""

from trundle.show.window.windows import drive as drive
from trundle.show.window.windows import play as play
