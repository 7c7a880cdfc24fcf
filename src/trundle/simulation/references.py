"""Motions that trackers follow, as the inputs that lead them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from trundle.errors import InputError
from trundle.model.placed import on_plane
from trundle.results import Run
from trundle.robot import Robot
from trundle.simulation.signals import Input


def with_references(robot: Robot | None, given: Mapping[str, Input]) -> Mapping[str, Input]:
    """Inputs with those of trackers in place of the motions that they are given, {"track": motion}."""
    tracked = [] if robot is None else [name for name in given if name in robot.controllers]
    if robot is None or not tracked:
        return given
    from trundle import reference

    told = {name: signal for name, signal in given.items() if name not in tracked}
    for name in tracked:
        try:
            told |= reference(cast("Run", given[name]), name, robot=on_plane(robot))
        except InputError as error:
            key, file, message = f"run.inputs.{name}", error.file, error.message
            if file is not None and error.line is None:  # the line will be that of the key
                file, message = None, f"{message}: '{file}'"
            raise InputError(message, file=file, line=error.line, key=key, hint=error.hint) from None
    return told
