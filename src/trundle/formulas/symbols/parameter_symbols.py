"""The description's numbers as symbols: one for each named parameter, one for each number that several parts share.

A number that stands in the description without a name gets a name by what it is (m_b, y_w, K); wheels, motors or joints
that have the same number there share the symbol. The equations then hold as long as these stay equal, which `keys`
tells. Directions that are given as multiples of 30° or 45° and ratios 1:1 are put in as numbers: they shape the
equations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trundle.arrays import Floats
from trundle.formulas.algebra.polynomials import Symbol, SymbolTable, TrigPolynomial
from trundle.formulas.symbols.names import SymbolNames, common, labels, listed, plain
from trundle.robot import Robot
from trundle.robot.problems import Path

_XYZ = "xyz"
# Field → symbol and words. Positions and centres get an axis behind, inertias the axes.
_FIELDS: dict[str, tuple[str, str]] = {
    "mass": ("m", "mass"),
    "center_of_mass": ("c", "centre of mass"),
    "inertia": ("I", "moment of inertia"),
    "at": ("", "place"),
    "rpy": ("psi", "orientation"),
    "heading": ("psi", "heading"),
    "radius": ("r", "radius"),
    "width": ("b", "width"),
    "offset": ("e", "trail"),
    "roller_angle": ("alpha", "roller angle"),
    "friction": ("mu", "friction coefficient"),
    "slip_speed": ("v_s", "slip at which friction nears its full force"),
    "load": ("N", "load"),
    "damping": ("c", "viscous damping"),
    "steering_damping": ("c_delta", "viscous damping of the steering"),
    "coulomb": ("T_c", "dry friction"),
    "coulomb_speed": ("epsilon", "rate that smooths dry friction"),
    "stiffness": ("k", "stiffness"),
    "rest": ("q_0", "rest position of the spring"),
    "armature": ("J_a", "inertia of the drive"),
    "lower": ("q_min", "lower limit"),
    "upper": ("q_max", "upper limit"),
    "limit_stiffness": ("k_s", "stiffness of the stops"),
    "limit_damping": ("c_s", "damping of the stops"),
    "limit_width": ("w_s", "width over which a stop sets in"),
    "pitch": ("p", "advance per angle"),
    "torque_constant": ("K", "torque constant"),
    "back_emf_constant": ("K_e", "back-emf constant"),
    "resistance": ("R", "resistance"),
    "inductance": ("L", "inductance"),
    "gear_ratio": ("n", "gear ratio"),
    "rotor_inertia": ("J_r", "rotor inertia"),
    "voltage_limit": ("V_max", "voltage limit"),
    "current_limit": ("I_max", "winding's current limit"),
    "supply_current_limit": ("I_s", "supply's current limit"),
    "open_circuit_voltage": ("E", "voltage without load"),
    "internal_resistance": ("R_i", "internal resistance"),
    "capacity": ("Q", "capacity"),
    "off_below": ("V_off", "voltage that switches off"),
    "on_above": ("V_on", "voltage that switches on"),
    "torque_limit": ("T_max", "torque limit"),
    "axle": ("a", "place of the fixed axle"),
    "length": ("l", "length"),
}
# The same word means another thing on a motor.
_MOTOR = {
    "friction": ("b_m", "viscous friction of the shaft"),
    "damping": ("k_d", "rate gain"),
    "stiffness": ("k_p", "gain"),
}
# And on a controller.
_CONTROLLER = {
    "target": ("r", "what is wanted"),
    "proportional": ("k_p", "gain by the error"),
    "integral": ("k_i", "gain by the error's integral"),
    "derivative": ("k_d", "gain by the rate"),
    "feedforward": ("k_f", "gain by what is wanted"),
    "filter": ("T_f", "time constant of the filter"),
    "anti_windup": ("T_a", "time in which the integral is led back"),
    "lowest": ("u_min", "least command"),
    "highest": ("u_max", "greatest command"),
    "center": ("p", "centre of the circle"),
    "radius": ("R", "radius of the circle"),
    "speed": ("v", "speed"),
    "distance": ("Delta_e", "tolerance of the distance"),
    "course": ("Delta_psi", "tolerance of the course"),
    "turn": ("Delta_omega", "turning rate to be spent"),
    "around": ("y", "where it should be"),
    "offset": ("u", "command there"),
    "gains": ("K", "gain"),
    "drives": ("s", "share"),
}
# Of so many things that a parameter is, it is told what they are.
_MOST_USES = 3
_STRUCTURAL = ("rpy", "heading", "roller_angle")


@dataclass
class ParameterSymbols:
    """Symbols of the parameters. `scope` is what a robot's resolver reads; `keys` lists, for each symbol, the
    description's keys that it stands for with their signs; `fixed` the keys whose numbers were put in.
    """

    scope: dict[str, TrigPolynomial] = field(default_factory=dict)
    keys: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    fixed: dict[str, float] = field(default_factory=dict)

    def numbers(self, chosen: Mapping[int, Floats]) -> dict[str, Floats]:
        """The model's parameters for numbers of the symbols."""
        result: dict[str, Floats] = dict(self.fixed)
        for symbol, keys in self.keys.items():
            result.update({key: sign * chosen[symbol] for key, sign in keys})
        return {key: result[key] for key in self.scope}


@dataclass(frozen=True)
class _NumberPlace:
    """Where a number stands: the family of nouns, its owner there, the path of the field below it."""

    family: str
    owner: str
    path: tuple[str | int, ...]
    key: str
    number: float

    @property
    def mirrored(self) -> bool:
        """Whether equal numbers of opposite sign are the same: wheels stand left and right."""
        return self.path[0] == "at"


def read_parameters(robot: Robot, table: SymbolTable, names: SymbolNames) -> ParameterSymbols:
    """Symbols for all parameters of a robot, in its order."""
    result = ParameterSymbols()
    units = robot.parameter_units()
    numbers = robot.parameter_values()
    places = {
        value.key: _place(path, value.key, numbers[value.key])
        for path, value in robot.every_value
        if value.is_parameter and path[0] != "parameters"
    }
    for name, number in numbers.items():
        if name not in places:
            symbol = Symbol(plain(name), "parameter", _uses(robot, name), units[name], number)
            result.scope[name] = table.add(symbol)
            result.keys[len(table.symbols) - 1] = [(name, 1)]
    groups: dict[object, list[_NumberPlace]] = {}
    for place in places.values():
        number = abs(place.number) if place.mirrored else place.number
        groups.setdefault((place.family, place.path, number), []).append(place)
    for group in groups.values():
        _add_group(robot, table, names, result, group, units[group[0].key])
    result.scope = {name: result.scope[name] for name in numbers}
    return result


def _place(path: Path, key: str, number: float) -> _NumberPlace:
    if path[0] in ("body", "gravity"):
        return _NumberPlace(path[0], "", path[1:] if path[0] == "body" else path, key, number)
    return _NumberPlace(str(path[0]), str(path[1]), path[2:], key, number)


def _add_group(
    robot: Robot,
    table: SymbolTable,
    names: SymbolNames,
    result: ParameterSymbols,
    group: list[_NumberPlace],
    unit: str,
) -> None:
    """The symbol of places that share one, or their number where it shapes the equations."""
    first = group[0]
    whole = first.family == "controllers" and first.path[0] == "drives" and len(first.path) == 2
    if first.path and (_shapes(str(first.path[0]), first.number) or (whole and abs(first.number) == 1.0)):
        result.scope |= {place.key: table.number(1) * place.number for place in group}
        result.fixed |= {place.key: place.number for place in group}
        return
    name, words = _name(robot, names, group)
    sign = 1 if max(place.number for place in group) > 0 else -1
    number = sign * abs(first.number) if first.mirrored else first.number
    shared = table.add(Symbol(name, "parameter", words, unit, number))
    signs = [(place.key, 1 if place.number == number else -1) for place in group]
    result.keys[len(table.symbols) - 1] = signs
    result.scope |= {key: shared * own for key, own in signs}


def _shapes(name: str, number: float) -> bool:
    """Whether a number is put in as such: directions that are multiples of 30° or 45°, whose sines and cosines are
    short; belts and chains 1:1.
    """
    if name == "follows":
        return abs(number) == 1.0
    steps = (number / step for step in (math.pi / 6, math.pi / 4))
    return name in _STRUCTURAL and any(abs(each - round(each)) < 1e-9 for each in steps)


def _name(robot: Robot, names: SymbolNames, group: list[_NumberPlace]) -> tuple[str, str]:
    """Symbol and words for a group: with the owner's label where the group isn't the whole family."""
    first = group[0]
    if first.family == "gravity":
        axis = f"_{_XYZ[first.path[1]]}" if len(first.path) > 1 and isinstance(first.path[1], int) else ""
        return names.unique(f"g{axis}", f"gravity{axis}"), "gravity"
    stem, words = _stem(first)
    if first.family == "body":
        return names.unique(f"{stem}_b" if stem == "m" else stem, f"{stem}_b"), f"{words} of the base"
    owners = [place.owner for place in group]
    family = getattr(robot, first.family)
    known = labels(tuple(family))
    having = [name for name, noun in family.items() if first.path[0] in type(noun).model_fields]
    of = f"{words} of {_all(robot, owners)}"
    if _whole(first, len(owners), len(having), len(family)):
        suffix = "_w" if first.family == "wheels" and (stem == "m" or first.path[0] == "at") else ""
        return names.unique(f"{stem}{suffix}", f"{stem}_{first.family[0]}"), of
    if first.family == "joints" and first.path[0] == "body":
        known = {
            name: plain(joint.body.name) if joint.body.name else known[name] for name, joint in family.items()
        }
    label = common(owners, known) if len(owners) > 1 else known[owners[0]]
    return names.unique(
        f"{stem}_{label}", f"{stem}_{plain(owners[0])}", f"{stem}_{first.family[0]}_{label}"
    ), of


def _whole(place: _NumberPlace, sharing: int, having: int, members: int) -> bool:
    """Whether a number is shared so widely that its symbol needs no owner: by all that have one, or by most."""
    if place.family == "joints":
        return sharing > 1 and sharing == having and place.path[0] != "at"
    if place.path[0] == "at":
        return sharing > 1 and sharing == members
    return sharing == having or (sharing > 1 and 2 * sharing > having)


def _stem(place: _NumberPlace) -> tuple[str, str]:
    """The symbol of a number without its owner, and what it is in words, by the path of its field."""
    parts = [part for part in place.path if isinstance(part, str)]
    axes = [_XYZ[part] for part in place.path if isinstance(part, int)]
    name = next((part for part in parts if part in _FIELDS), parts[-1])
    stem, words = _FIELDS.get(name, (plain("_".join(parts)), " ".join(parts)))
    if place.family == "motors":
        stem, words = _MOTOR.get(name, (stem, words))
    if place.family == "controllers":
        return _of_controller(parts, axes)
    if parts[0] == "follows":
        stem, words = "rho", f"ratio to {parts[1]}"
    if name == "inertia":
        last = parts[-1]
        stem = {"axle": "I_a", "diameter": "I_t"}.get(last, f"I_{last}")
        words = f"{words} about {'its ' if len(last) > 2 else ''}{last if len(last) > 2 else last[0]}"
    if "fork" in parts:
        stem, words = f"{stem}_f", f"{words} of the fork"
    if axes:
        stem = "_".join(part for part in (stem, axes[0]) if part)
        words = f"{words} along {axes[0]}" if name != "rpy" else f"{words} about {axes[0]}"
    extra = [part for part in parts if part in ("turn", "slide", "first", "second")]
    return "_".join([stem, *extra]), words


def _of_controller(parts: Sequence[str], axes: Sequence[str]) -> tuple[str, str]:
    """The symbol and words of a controller's number, with the names that lead to it: K_left_motor_voltage_v_x."""
    known = [part for part in parts if part in _CONTROLLER]
    name = known[-1] if known else parts[-1]
    stem, words = _CONTROLLER.get(name, (plain("_".join(parts)), " ".join(parts)))
    if parts[0] in ("drives", "around", "offset", *"ABCD"):
        own = [part for part in parts if part not in known]
        stem, words = "_".join([stem, *map(plain, own)]), " ".join([words, *own])
    return "_".join([stem, *axes]), words


def _uses(robot: Robot, name: str) -> str:
    """What a named parameter is in the description, in words; what it `sets` where it is a part of formulas."""
    owners_by_use: dict[str, list[str]] = {}
    alone = True
    for path, value in robot.every_value:
        if name in value.names and path[0] != "parameters":
            place = _place(path, value.key, 0.0)
            if place.family == "gravity" or not place.path:
                return "gravity"
            alone = alone and str(value.source).strip() == name
            owners, own = owners_by_use.setdefault(_stem(place)[1], []), place.owner or "the base"
            owners += [own] if own not in owners else []
    together: dict[str, list[str]] = {}
    for words, owners in owners_by_use.items():
        together.setdefault(_all(robot, owners), []).append(words if alone else f"the {words}")
    told = [f"{listed(words)} of {owners}" for owners, words in together.items()]
    if not told:
        return "used by other parameters"
    more = ", and more" if len(told) > _MOST_USES else ""
    return f"{'' if alone else 'sets '}{listed(told[:_MOST_USES])}{more}"


def _all(robot: Robot, owners: Sequence[str]) -> str:
    """Owners, told by their family where they are all of it."""
    for family in ("wheels", "joints", "motors"):
        if len(owners) > 2 and {*owners} == {*getattr(robot, family)}:
            return f"all {family}"
    return listed(owners)
