"""Joint loads in symbols: one recursion with named steps, expanded a component at a time, or compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
import sympy

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError, require_known
from trundle.expected import all_of
from trundle.formulas.algebra.polynomials import Symbol, SymbolTable, TooLong, TrigPolynomial
from trundle.formulas.algebra.terms import exact
from trundle.formulas.algebra.writing import Writer
from trundle.limbs.loads.letters import Letters, evaluated, written
from trundle.limbs.loads.recursion import PARTS
from trundle.limbs.loads.symbolic_bodies import SymbolicBodies, bodies_of_robot, bodies_on_frames
from trundle.mechanics.frames import world_poses
from trundle.mechanics.inverse_dynamics import joint_wrenches, needed_forces
from trundle.mechanics.tree import WORLD, Tree
from trundle.model.arguments import Given
from trundle.program import Program, compile_program
from trundle.program.ir import Instruction
from trundle.scalars import Scalar
from trundle.spatial.motions import (
    Force,
    Inertia,
    Motion,
    Pose,
    add_forces,
    force_to_parent,
    inverse,
    scale_force,
)
from trundle.spatial.vectors import Matrix, Vector
from trundle.wrenches import Frame, Wrench
from trundle.wrenches import Inertia as BodyInertia
from trundle.wrenches.components import as_vector

# A step of more operations gets a name, so that a reader can follow.
_LONGEST = 12


@dataclass(frozen=True, eq=False, repr=False)
class SymbolicLoads:
    """The wrench through every joint in symbols: on the child, by the parent, at the joint, in the child's frame.

    `trundle.symbolic_loads` makes it.

    Parameters
    ----------
    program : Program
        From the letters to all components, straight on: the recursion's steps.
    letters : tuple of sympy.Expr
        What the program's inputs stand for: symbols, functions of time and their derivatives, exact numbers.
    bodies : SymbolicBodies
        The bodies and their frames.

    Examples
    --------
    >>> import trundle
    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> motion = {"link_1.angle": 2 * dynamicsymbols._t}
    >>> loads = trundle.symbolic_loads(trundle.catalog.pendulum(links=1), motion=motion)
    >>> loads.expanded("link_1.moment_y")
    981*length*m*sin(2*t)/200
    """

    program: Program
    letters: tuple[sympy.Expr, ...]
    bodies: SymbolicBodies

    @property
    def components(self) -> tuple[str, ...]:
        """The names of all components: JOINT.force_x … JOINT.moment_z."""
        return self.program.outputs[0].labels

    @property
    def steps(self) -> tuple[tuple[sympy.Symbol, sympy.Expr], ...]:
        """t_1 = …, t_2 = …: what is used more than once, a letter in those before it."""
        return self._written[0]

    def __getitem__(self, component: str) -> sympy.Expr:
        """A component in the named steps; InputError with the nearest name where there is none."""
        return self._written[1][self._place(component)]

    def expanded(self, component: str) -> sympy.Expr:
        """A component in letters alone, multiplied out: a sum of products with one sine or cosine each.

        Equal components are equal expressions then. Where that would be too long to be read, the steps are put into
        one another as they are.

        Parameters
        ----------
        component : str
            Such as "knee.moment_z".

        Returns
        -------
        sympy.Expr
            Exact.

        Raises
        ------
        InputError
            There is no such component.

        Examples
        --------
        >>> import trundle
        >>> trundle.symbolic_loads(trundle.catalog.pendulum(links=1)).expanded("link_1.force_y")
        0
        """
        place = self._place(component)
        expanded = expansion(self.program, self.letters, place)
        if expanded is not None:
            return expanded
        return evaluated(self.program, self.letters, [place], sympy.Rational)[0]

    def wrench(self, joint: str, *, expanded: bool = False) -> Wrench:
        """The wrench through a joint, its components in the named steps, or multiplied out.

        Parameters
        ----------
        joint : str
            By its child's frame or its own name.
        expanded : bool, optional
            In letters alone, as `expanded` writes them.

        Returns
        -------
        Wrench
            At the joint, in the child's frame; `frame` and `at` take it elsewhere.

        Raises
        ------
        InputError
            There is no such joint.

        Examples
        --------
        >>> import trundle
        >>> loads = trundle.symbolic_loads(trundle.catalog.pendulum(links=1), motion={"link_1.angle": 0})
        >>> loads.wrench("link_1", expanded=True).force
        (0, 0, 981*m/100)
        """
        frames = self.bodies.frames
        require_known(joint, frames, f"there is no joint '{joint}'", key=joint)
        read: Callable[[str], sympy.Expr] = self.expanded if expanded else self.__getitem__
        parts = [read(f"{joint}.{part}") for part in PARTS]
        links = self.bodies.tree.links
        parent = links[next(k for k, link in enumerate(links) if link.name == joint)].parent
        by = frames[joint].root.name if parent == WORLD else links[parent].name
        frame = frames[joint]
        return Wrench(tuple(parts[:3]), tuple(parts[3:]), on=joint, by=by, point=frame.origin, frame=frame)

    def compile(self, *arguments: sympy.Expr) -> Callable[..., Mapping[str, FloatArray]]:
        """All components as a function of numbers, in native code.

        Parameters
        ----------
        *arguments : sympy.Expr
            The letters in the order in which the function takes them: symbols, functions of time, derivatives.

        Returns
        -------
        callable
            Takes a number or an array (n,) for every argument, and gives components by name, (n,).

        Raises
        ------
        InputError
            A letter of the components is not among the arguments.

        Examples
        --------
        >>> import sympy, trundle
        >>> loads = trundle.symbolic_loads(trundle.catalog.pendulum(links=1), motion={"link_1.angle": 0})
        >>> function = loads.compile(*sympy.symbols("m length"))
        >>> float(function(2.0, 0.5)["link_1.force_z"][0])
        19.62
        """
        given = [sympy.sympify(argument) for argument in arguments]
        program = _numbered(self.program, self.letters, given)
        kernel, names = compile_program(program), self.components

        def loads(*values: npt.ArrayLike) -> Mapping[str, FloatArray]:
            if len(values) != len(given):
                raise InputError(f"expected {len(given)} numbers or arrays, {given}, got {len(values)}")
            rows = [
                np.atleast_1d(as_numbers(value, str(name))) for name, value in zip(given, values, strict=True)
            ]
            table = np.array(np.broadcast_arrays(*rows), dtype=float) if rows else np.zeros((0, 1))
            return dict(zip(names, kernel(np.ascontiguousarray(table))[0], strict=True))

        return loads

    @cached_property
    def _written(self) -> tuple[tuple[tuple[sympy.Symbol, sympy.Expr], ...], list[sympy.Expr]]:
        steps, results = written(self.program, self.letters, _LONGEST)
        return tuple(steps), results

    def _place(self, component: str) -> int:
        require_known(component, self.components, f"there is no component '{component}'", key=component)
        return self.components.index(component)


def symbolic_loads(
    bodies: Mapping[Frame, BodyInertia] | Given,
    *,
    motion: Mapping[str, sympy.Expr] | None = None,
    external: Iterable[Wrench] = (),
    gravity: Sequence[Scalar] | None = None,
    base: str | None = None,
) -> SymbolicLoads:
    """The wrench through every joint in symbols, by Newton's and Euler's equations up the tree.

    W_i = f_i − w_i + Σ W_children with f_i = m a + E h and n_i = I α + ω × I ω + h × a of body i.

    Parameters
    ----------
    bodies : mapping of Frame to Inertia, or Robot, Model, path or mapping
        Bodies by their frames, whose joints are where the frames' origins are; their root stands still. Or a robot: its
        named parameters become symbols, its other numbers stay exact.
    motion : mapping of str to sympy.Expr, optional
        Of a robot: coordinates by name as expressions of SymPy's time (`dynamicsymbols._t`); those left out are
        functions of it. Speeds that are no coordinate's rate (of balls, planes and free bases) likewise.
    external : sequence of Wrench, optional
        What pushes on bodies from outside, its components expressions.
    gravity : three scalars
        g in the root's axes, in m/s²; of a robot by default its own, of frames it must be given.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    SymbolicLoads
        Named steps, components, and what compiles them.

    Raises
    ------
    InputError
        Frames of several roots, two bodies of one name, no gravity given to frames; wheels, couplings or loops; unknown
        names.

    References
    ----------
    Luh, Walker & Paul 1980.

    Examples
    --------
    >>> import sympy, trundle
    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> angle, m, l = dynamicsymbols("theta"), *sympy.symbols("m l")
    >>> arm = trundle.Frame("world").child("arm", rotation=((0, 0, 1), angle))
    >>> tip = trundle.Inertia(m, sympy.zeros(3, 3), center=arm.point("tip", (l, 0, 0)))
    >>> loads = trundle.symbolic_loads({arm: tip}, gravity=(0, 0, 0))
    >>> loads.expanded("arm.moment_z")
    l**2*m*Derivative(theta(t), (t, 2))
    """
    pull = None if gravity is None else as_vector(gravity, "gravity")
    if isinstance(bodies, Mapping) and bodies and all(isinstance(frame, Frame) for frame in bodies):
        if pull is None:
            raise InputError("frames don't know gravity", key="gravity", hint="gravity=(0, 0, 0) is none")
        described = bodies_on_frames(bodies, pull)  # type: ignore[arg-type]
    else:
        described = bodies_of_robot(bodies, motion, pull, base)  # type: ignore[arg-type]
    letters = Letters()
    wrenches = _recursion(described, letters, all_of(external, Wrench, "external"))
    labels = [f"{link.name}.{part}" for link in described.tree.links for part in PARTS]
    values = [value for wrench in wrenches for value in (*wrench.force, *wrench.moment)]
    program = letters.program("symbolic_loads", {"wrench": values}, labels)
    return SymbolicLoads(program, tuple(letters.letters), described)


def _recursion(bodies: SymbolicBodies, letters: Letters, external: Sequence[Wrench]) -> list[Force]:
    """The recursion on the nodes of expressions."""
    read = letters.scalar

    def vector(v: Vector) -> Vector:
        return read(v[0]), read(v[1]), read(v[2])

    def matrix(m: Matrix) -> Matrix:
        return vector(m[0]), vector(m[1]), vector(m[2])

    links = tuple(
        replace(
            link,
            inertia=Inertia(
                read(link.inertia.mass), vector(link.inertia.first_moment), matrix(link.inertia.rotational)
            ),
        )
        for link in bodies.tree.links
    )
    tree = Tree(links, vector(bodies.tree.gravity))
    poses = [Pose(matrix(pose.rotation), vector(pose.position)) for pose in bodies.poses]
    own, rates = ([Motion(*map(vector, two)) for two in motions] for motions in (bodies.own, bodies.rates))
    needed = needed_forces(tree, poses, own, rates)
    for wrench in external:
        index, force = _external(bodies, wrench)
        pushed = Force(*map(vector, force[0]))
        if force[1]:
            pushed = force_to_parent(inverse(world_poses(tree, poses)[index]), pushed)
        needed[index] = add_forces(needed[index], scale_force(-1, pushed))
    return joint_wrenches(tree, poses, needed)


def _external(bodies: SymbolicBodies, wrench: Wrench) -> tuple[int, tuple[Force, bool]]:
    """The body's place, and force and moment about its origin in its axes, or (True) about the root's in the root's."""
    require_known(wrench.on, bodies.frames, f"there is no body '{wrench.on}'", key="external")
    index = [link.name for link in bodies.tree.links].index(wrench.on)
    own, root = bodies.frames[wrench.on], wrench.frame.root
    if root is own.root and wrench.frame is not root:
        placed = wrench.at(own.origin).in_frame(own)
    else:
        placed = wrench.at(root.origin).in_frame(root)
    world = placed.frame is not own and root.name != wrench.on
    return index, (Force(as_vector(placed.force, ""), as_vector(placed.moment, "")), world)


def _numbered(program: Program, letters: Sequence[sympy.Expr], arguments: Sequence[sympy.Expr]) -> Program:
    """The program of `arguments` in their order; letters that are numbers are put in."""
    place = {argument: k for k, argument in enumerate(arguments)}
    made: list[Instruction] = []
    for instruction in program.instructions:
        if instruction.op == "input":
            letter = letters[instruction.source[1]]
            if letter in place:
                instruction = instruction._replace(source=(0, place[letter]))
            elif letter.is_number:
                instruction = Instruction("const", instruction.out, (), float(letter))
            else:
                raise InputError(
                    f"'{letter}' is not among the arguments", key=str(letter), hint=f"got {arguments}"
                )
        made.append(instruction)
    (group,) = program.inputs
    labels = tuple(f"{k}" for k in range(len(arguments)))
    return replace(program, inputs=(replace(group, labels=labels),), instructions=tuple(made))


# Terms are few enough to be read by far below this; a chain of 50 in letters has millions, and is refused.
_MOST_WORK = 2_000_000
_MOST_TERMS = 20_000


def expansion(program: Program, letters: Sequence[sympy.Expr], place: int) -> sympy.Expr | None:
    """A result of a program's first group multiplied out; None where that would be too long to be of use."""
    table = SymbolTable(most_terms=_MOST_TERMS, most_work=_MOST_WORK)
    inputs = [_sum(table, k, letter) for k, letter in enumerate(letters)]
    try:
        (value,) = evaluated(program, inputs, [place], lambda x: table.number(exact(x)[0]))
    except TooLong:
        return None
    writer = Writer(table)
    expression = writer.plainly(table.polynomial(value))
    put = {sympy.Symbol(f"letter_{k}"): letter for k, letter in enumerate(letters)}
    for letter, definition in reversed(writer.shown.items()):
        expression = expression.xreplace({writer.symbol(letter): definition})
    return expression.xreplace(put)  # pyright: ignore[reportReturnType]  # SymPy says Basic of an Expr's


def _sum(table: SymbolTable, place: int, letter: sympy.Expr) -> TrigPolynomial:
    if isinstance(letter, sympy.Rational):
        return table.number(Fraction(int(letter.p), int(letter.q)))
    return table.add(Symbol(f"letter_{place}", "parameter", number=1.0))
