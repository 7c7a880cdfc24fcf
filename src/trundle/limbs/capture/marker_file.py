"""Which marker is where on which body, from a YAML file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from trundle.documents.document import read_text
from trundle.documents.yamltext import read_yaml
from trundle.errors import InputError, did_you_mean
from trundle.files import path_of

_KEYS = ("body", "at")


def read_markers(path: str | os.PathLike[str]) -> dict[str, tuple[str, Sequence[float | str]]]:
    """The markers on a robot's bodies, as `trundle.joint_motion` takes them.

        markers:
          knee_lateral: {body: shank, at: [0, 5 cm, 0]}

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        By a marker's name the body (or the joint that carries it) and its place in that body's frame, m or with units.

    Raises
    ------
    InputError
        With file and line of what is wrong.

    Examples
    --------
    >>> import pathlib, trundle
    >>> _ = pathlib.Path("markers.yaml").write_text("markers:\\n  heel: {body: foot, at: [-5 cm, 0, 0]}\\n")
    >>> trundle.read_markers("markers.yaml")
    {'heel': ('foot', ['-5 cm', 0, 0])}
    """
    given = path_of(path, "read_markers")
    file = str(given)
    data, lines = read_yaml(read_text(given), file)
    listed = data.get("markers") if isinstance(data, Mapping) else None
    if not isinstance(listed, Mapping) or not listed:
        hint = "markers:\n    heel: {body: foot, at: [-5 cm, 0, 0]}"
        raise InputError("expected the markers by their names under `markers:`", file=file, hint=hint)
    markers = {}
    for name, entry in listed.items():
        where = {"file": file, "line": lines.get(("markers", name)), "key": f"markers.{name}"}
        if not isinstance(entry, Mapping) or "body" not in entry or "at" not in entry:
            raise InputError(
                "a marker needs the body that carries it, and where",
                **where,
                hint="{body: foot, at: [0, 0, 0]}",
            )
        if unknown := [key for key in entry if key not in _KEYS]:
            raise InputError(
                f"a marker has no {unknown[0]!r}", **where, hint=did_you_mean(str(unknown[0]), _KEYS)
            )
        body, at = entry["body"], entry["at"]
        if not (isinstance(at, Sequence) and len(at) == 3 and isinstance(body, str)):
            raise InputError(f"expected a body's name and three lengths, got {dict(entry)}", **where)
        markers[str(name)] = (body, at)
    return markers
