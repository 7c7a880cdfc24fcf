"""Live windows: a run played, a model driven. pygame-ce is imported when one is opened."""

from trundle.window.windows import drive as drive
from trundle.window.windows import play as play
