"""Windows in tests are SDL's dummies."""

import os

os.environ["SDL_VIDEODRIVER"] = "dummy"
