"""A model's `modelDescription.xml`, in FMI 2.0 and 3.0: its variables, their units, and what hangs on what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree as ET

from trundle.files import signature
from trundle.program import Program
from trundle.robot.units import NUMBER, UNITS, Dimension, multiply, raise_to

# What variables may be called where dots separate a part from what is its own (FMI 2.0.4, section 2.2.9).
_STRUCTURED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_TOKEN = re.compile(r"([A-Za-z]+|1)(?:\^(-?\d+))?|([/() *])")
# Values that variables of a kind have: FMI's words for them, in the order of value references.
_KINDS: Mapping[str, dict[str, str]] = {
    "time": {"causality": "independent", "variability": "continuous"},
    "state": {"causality": "output", "variability": "continuous", "initial": "exact"},
    "rate": {"causality": "local", "variability": "continuous", "initial": "calculated"},
    "input": {"causality": "input", "variability": "continuous"},
    "parameter": {"causality": "parameter", "variability": "tunable", "initial": "exact"},
    "output": {"causality": "output", "variability": "continuous", "initial": "calculated"},
}
_DEGREES = {"rad": ("deg", 57.29577951308232), "rad/s": ("deg/s", 57.29577951308232)}
_SAMPLING = {"startTime": "0", "stopTime": "10", "tolerance": "1e-06", "stepSize": "0.01"}


@dataclass(frozen=True)
class FmiVariable:
    """One variable: its value reference is its place among all.

    kind: "time", "state", "rate", "input", "parameter" or "output"; of: of a rate, its state's value reference;
    settles: of a state, whether loops are closed by it at the start.
    """

    name: str
    kind: str
    unit: str = ""
    start: float | None = None
    of: int | None = None
    settles: bool = False


@dataclass(frozen=True)
class Interface:
    """What an FMU says of itself: variables by value reference, and for rates and outputs the references of the time,
    states, inputs and parameters on which they hang. clocks: periods and first instants (s) of controllers that sample.
    """

    name: str
    identifier: str
    token: str
    variables: Sequence[FmiVariable]
    needs: Mapping[int, Sequence[int]]
    clocks: Sequence[tuple[float, float]] = ()

    def places(self, *kinds: str) -> list[int]:
        """The value references of some kinds."""
        return [k for k, variable in enumerate(self.variables) if variable.kind in kinds]


def named(variables: Sequence[FmiVariable]) -> list[FmiVariable]:
    """The same with every name once: a parameter that is called as a state is told by what it is, `x (parameter)`."""
    taken: set[str] = set()
    unique: list[FmiVariable] = []
    for variable in variables:
        name = re.sub(r"\s+", " ", variable.name)
        while name in taken:
            name = f"{name} ({variable.kind})"
        taken.add(name)
        unique.append(replace(variable, name=name))
    return unique


def dependencies(program: Program, first: Mapping[str, int], result: str) -> list[list[int]]:
    """The references of the inputs on which the numbers of an output group hang.

    first: by input group, the reference of its first element. Sets are bits of whole numbers: programs are long.
    """
    masks: list[int] = []
    for instruction in program.instructions:
        if instruction.op == "input":
            group, element = instruction.source
            masks.append(1 << (first[program.inputs[group].name] + element))
            continue
        mask = 0
        for a in instruction.args:
            mask |= masks[a]
        masks.append(mask)
    values = program.results[program.output_index(result)]
    return [[k for k in range(masks[v].bit_length()) if masks[v] >> k & 1] for v in values]


def dimension(unit: str) -> tuple[Dimension, int] | None:
    """The exponents of (m, kg, s, A) and of rad in a unit such as "kg m^2/s"; None for one that isn't in SI.

    A "/" divides by the one factor after it, or by what stands in brackets.
    """
    factors = [(NUMBER, 0)]
    signs, sign, end = [1], 1, 0
    for token in _TOKEN.finditer(unit):
        symbol, power, mark = token.groups()
        if token.start() != end or (symbol not in {None, "1", "rad"} and symbol not in UNITS):
            return None
        end = token.end()
        if symbol is not None:
            factor, own = UNITS.get(symbol, (1.0, NUMBER))
            if factor != 1.0 and symbol != "kg":
                return None
            exponent = sign * int(power or 1)
            whole, turns = factors[-1]
            factors[-1] = multiply(whole, raise_to(own, exponent)), turns + (symbol == "rad") * exponent
            sign = 1
        elif mark == "(":
            factors.append((NUMBER, 0))
            signs.append(sign)
            sign = 1
        elif mark == ")":
            if len(factors) == 1:
                return None
            inner, turns = factors.pop()
            outer = signs.pop()
            factors[-1] = multiply(factors[-1][0], inner, outer), factors[-1][1] + outer * turns
            sign = 1
        elif mark == "/":
            sign = -1
    return factors[0] if end == len(unit) and len(factors) == 1 else None


def description(interface: Interface, version: str, sources: Sequence[str]) -> str:
    """The text of `modelDescription.xml` in FMI "2.0" or "3.0"; sources: the C files, which FMI 2.0 names here."""
    root = ET.Element("fmiModelDescription", _head(interface, version))
    for kind in ("CoSimulation",) if interface.clocks else ("ModelExchange", "CoSimulation"):
        element = ET.SubElement(root, kind, _abilities(interface, kind, version))
        if version == "2.0":
            files = ET.SubElement(element, "SourceFiles")
            for name in sources:
                ET.SubElement(files, "File", name=name)
    _add_units(root, interface)
    categories = ET.SubElement(root, "LogCategories")
    ET.SubElement(
        categories, "Category", name="logStatusError", description="What could not be done, and why"
    )
    ET.SubElement(root, "DefaultExperiment", _SAMPLING)
    variables = ET.SubElement(root, "ModelVariables")
    for reference, variable in enumerate(interface.variables):
        _add_variable(variables, reference, variable, two=version == "2.0")
    _add_structure(ET.SubElement(root, "ModelStructure"), interface, two=version == "2.0")
    return _text(root)


def build_description(interface: Interface, sources: Sequence[str]) -> str:
    """The text of FMI 3.0's `sources/buildDescription.xml`."""
    root = ET.Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = ET.SubElement(root, "BuildConfiguration", modelIdentifier=interface.identifier)
    files = ET.SubElement(configuration, "SourceFileSet", language="C99")
    for name in sources:
        ET.SubElement(files, "SourceFile", name=name)
    return _text(root)


def _text(root: ET.Element) -> str:
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _head(interface: Interface, version: str) -> dict[str, str]:
    """The attributes of the root: the model's name and token, and who wrote it."""
    names = (variable.name for variable in interface.variables if variable.kind != "rate")
    head = {
        "fmiVersion": version,
        "modelName": interface.name,
        "guid" if version == "2.0" else "instantiationToken": interface.token,
        "generationTool": signature().removeprefix("written by "),
        "variableNamingConvention": "structured" if all(map(_STRUCTURED.fullmatch, names)) else "flat",
    }
    return {**head, "numberOfEventIndicators": "0"} if version == "2.0" else head


def _abilities(interface: Interface, kind: str, version: str) -> dict[str, str]:
    """What a tool may ask of the FMU in Model Exchange or Co-Simulation, in the words of the version."""
    two = version == "2.0"
    state = "FMUstate" if two else "FMUState"
    abilities = {
        "modelIdentifier": interface.identifier,
        f"canGetAndSet{state}": "true",
        f"canSerialize{state}": "true",
        f"providesDirectionalDerivative{'' if two else 's'}": "true",
    }
    if two:
        abilities["canNotUseMemoryManagementFunctions"] = "true"
    if kind == "CoSimulation":
        return {**abilities, "canHandleVariableCommunicationStepSize": "true"}
    unneeded = (
        {"completedIntegratorStepNotNeeded": "true"} if two else {"needsCompletedIntegratorStep": "false"}
    )
    return {**abilities, **unneeded}


def _add_units(root: ET.Element, interface: Interface) -> None:
    """The units of all variables, with their exponents where they are SI's, and degrees for what is shown."""
    units = list(dict.fromkeys(variable.unit for variable in interface.variables if variable.unit))
    definitions = ET.SubElement(root, "UnitDefinitions") if units else root
    for unit in units:
        element = ET.SubElement(definitions, "Unit", name=unit)
        known = dimension(unit)
        if known is not None:
            exponents = dict(zip(("m", "kg", "s", "A", "rad"), (*known[0], known[1]), strict=True))
            ET.SubElement(
                element, "BaseUnit", {name: str(power) for name, power in exponents.items() if power}
            )
        if unit in _DEGREES:
            name, factor = _DEGREES[unit]
            ET.SubElement(element, "DisplayUnit", name=name, factor=repr(factor))


def _add_variable(variables: ET.Element, reference: int, variable: FmiVariable, *, two: bool) -> None:
    """A real number: in FMI 2.0 an element within one, which counts variables from 1, in 3.0 one element."""
    facts = {"name": variable.name, "valueReference": str(reference), **_KINDS[variable.kind]}
    if variable.settles:
        facts["initial"] = "approx"
    own = {"unit": variable.unit} if variable.unit else {}
    if variable.unit in _DEGREES:
        own["displayUnit"] = _DEGREES[variable.unit][0]
    if variable.start is not None:
        own["start"] = repr(float(variable.start))
    if variable.of is not None:
        own["derivative"] = str(variable.of + two)
    if two:
        ET.SubElement(ET.SubElement(variables, "ScalarVariable", facts), "Real", own)
    else:
        ET.SubElement(variables, "Float64", {**facts, **own})


def _unknowns(interface: Interface) -> Iterator[tuple[str, int, list[int] | None]]:
    """Outputs, rates, and what follows at the start, with what they hang on: parameters only at the start, where None
    says that it may be all that is known then, as loops are closed.
    """
    parameters = set(interface.places("parameter"))
    settling = {k for k, variable in enumerate(interface.variables) if variable.settles}
    calculated = [*sorted(settling), *interface.places("rate", "output")]
    for kind, places in (
        ("Outputs", interface.places("state", "output")),
        ("Derivatives", interface.places("rate")),
        ("InitialUnknowns", calculated),
    ):
        for place in places:
            needs = interface.needs.get(place, [place])  # a state is its own
            at_start = kind == "InitialUnknowns"
            if at_start and settling.intersection(needs):
                yield kind, place, None
                continue
            yield kind, place, [need for need in needs if at_start or need not in parameters]


_ELEMENTS = {
    "Outputs": "Output",
    "Derivatives": "ContinuousStateDerivative",
    "InitialUnknowns": "InitialUnknown",
}


def _add_structure(structure: ET.Element, interface: Interface, *, two: bool) -> None:
    """What hangs on what: in FMI 2.0 in a list a kind, by places from 1, in 3.0 one after the other by reference."""
    for kind, place, needs in _unknowns(interface):
        known = {} if needs is None else {"dependencies": " ".join(str(need + two) for need in needs)}
        if two:
            unknowns = structure.find(kind)
            unknowns = ET.SubElement(structure, kind) if unknowns is None else unknowns
            ET.SubElement(unknowns, "Unknown", {"index": str(place + 1), **known})
        else:
            ET.SubElement(structure, _ELEMENTS[kind], {"valueReference": str(place), **known})
