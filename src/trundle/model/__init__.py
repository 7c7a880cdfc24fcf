"""From a described robot to its equations of motion as programs: `derive(robot) -> Model`."""

from trundle.model.arguments import derive
from trundle.model.model import ConstraintSummary, Model

__all__ = ["ConstraintSummary", "Model", "derive"]
