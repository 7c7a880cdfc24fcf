"""Models as Fortran 2008: a module, an example program and its makefile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trundle.errors import InputError
from trundle.exports.entries import Entry
from trundle.exports.package import Options, Package
from trundle.exports.words import Word, commented, words
from trundle.files import signature
from trundle.languages import identifiers, require_identifier, source
from trundle.languages.fortran import FORTRAN, continued
from trundle.model import Model

_MODULE = """\
! {name}, {signature}. README.md tells what every subroutine takes and gives.
! All are pure: they keep nothing between calls, so any number of threads may call them.
module {name}
  use, intrinsic :: iso_c_binding, only: wp => c_double{int64}
  implicit none
  private
{public}

{constants}

contains

{functions}
end module {name}
"""
_STEP = """\
pure subroutine step(state, input, parameter, h, next)
  real(wp), intent(in) :: state({n}), input({inputs}), parameter({parameters}), h
  real(wp), intent(out) :: next({n})
  real(wp), dimension({n}) :: a, b, c, d
  call dynamics(state, input, parameter, a)
  call dynamics(state + h / 2 * a, input, parameter, b)
  call dynamics(state + h / 2 * b, input, parameter, c)
  call dynamics(state + h * c, input, parameter, d)
  {last}
end subroutine step
"""
_AFTER = "state + h / 6 * (a + 2 * b + 2 * c + d)"
_EXAMPLE = """\
! Runs {name} from its start and prints time and states as CSV, about a hundred rows:
! ./main [SECONDS [STEP [INPUT...]]]
program main
  use {name}, only: wp, step, start => state_default, parameters => parameter_default, inputs => input_size
  implicit none
  real(wp) :: state(size(start)), input(inputs), after(size(start)), seconds, h
  integer :: k, steps
  seconds = argument(1, 10.0_wp)
  h = argument(2, 1e-3_wp)
  call take(input)
  state = start
  steps = nint(seconds / h)
  do k = 0, steps - 1
    if (mod(k, max(1, steps / 100)) == 0) call show(k * h)
    call step(state, input, parameters, h, after)
    state = after
  end do
  call show(steps * h)
contains
  subroutine take(numbers)
    real(wp), intent(out) :: numbers(:)
    integer :: place
    do place = 1, size(numbers)
      numbers(place) = argument(place + 2, 0.0_wp)
    end do
  end subroutine take
  subroutine show(time)
    real(wp), intent(in) :: time
    print '(*(es25.17e3, :, ","))', time, state
  end subroutine show
  function argument(place, otherwise) result(number)
    integer, intent(in) :: place
    real(wp), intent(in) :: otherwise
    real(wp) :: number
    character(100) :: text
    number = otherwise
    call get_command_argument(place, text)
    if (len_trim(text) > 0) read (text, *) number
  end function argument
end program main
"""
_MAKEFILE = """\
FC = gfortran
FFLAGS = -std=f2008 -O2 -Wall -Wextra -pedantic

{first}{name}.o: {name}.f90
\t$(FC) $(FFLAGS) -c {name}.f90

clean:
\trm -f main {name}.o {module}.mod

.PHONY: clean
"""
_MAIN = """\
main: main.f90 {name}.o
\t$(FC) $(FFLAGS) -o $@ main.f90 {name}.o

"""
_USAGE = """\
## How to use it

`{name}.f90` is a module of Fortran 2008 that needs nothing else. {make} `use {name}, only: wp, ...` and call its
subroutines with a `real(wp)` array a group, in the order below; those that are written must be others than those read.
`state_...` and the like are the places of numbers in their arrays, counted from 1, `..._size` how many there are,
`..._default` what parameters and states start with. f2py takes kinds that it
doesn't know for single precision; before it is called, `echo 'dict(real=dict(wp="double"))' > .f2py_f2cmap`.
"""


def package(model: Model, entries: Sequence[Entry], options: Options) -> Package:
    """NAME.f90, a module with a subroutine an entry and a Runge-Kutta step; main.f90 that runs it; a makefile."""
    name = options.name
    require_identifier(name, FORTRAN)
    programs = {entry.name: entry.program for entry in entries}
    if name.lower() in programs:
        hint = "name it robot, say (--name on the command line)"
        raise InputError(
            f"'{name}' is a subroutine, and the module can't be called like it", key="name", hint=hint
        )
    moves = "dynamics" in programs
    functions = source(programs, FORTRAN)
    for kind in ("pure", "pure recursive"):
        functions = commented(functions, entries, f"{kind} subroutine {{name}}(", "! {meaning}")
    if moves:
        functions += f"\n{_step(model)}"
    constants = dict(_constants(words(entries), [*programs, name]))
    public = ["wp", *programs, *(["step"] if moves else []), *constants]
    text = _MODULE.format(
        name=name,
        signature=signature(),
        int64=", int64 => c_int64_t" if "_int64" in functions else "",
        public="\n".join(f"  public :: {each}" for each in public),
        constants="\n".join(constants.values()),
        functions=functions,
    )
    first = _MAIN.format(name=name) if moves else ""
    files = {
        f"{name}.f90": text,
        "Makefile": _MAKEFILE.format(name=name, module=name.lower(), first=first),
        **({"main.f90": _EXAMPLE.format(name=name)} if moves else {}),
    }
    make = "`make` builds the example, `./main 30 0.001` runs it." if moves else "`make` compiles it."
    return Package(files, _USAGE.format(name=name, make=make), {}, first=FORTRAN.first)


def _constants(named: Sequence[Word], taken: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Public constants and how they are declared: groups' sizes, places and defaults."""
    sizes = {f"{each.word} size": each.group.size for each in named}
    defaults = {
        f"{each.word} default": each.defaults for each in named if each.defaults or not each.group.size
    }
    places = {
        f"{each.word}.{label}": (place, unit)
        for each in named
        for place, (label, unit) in enumerate(zip(each.group.labels, each.units, strict=True), 1)
    }
    names = identifiers(["step", *taken, *sizes, *defaults, *places], FORTRAN)
    for key, size in sizes.items():
        yield names[key], f"  integer, parameter :: {names[key]} = {size}"
    for key, (place, unit) in places.items():
        told = plain(f"{key.partition('.')[2]}, {unit}" if unit else key.partition(".")[2])
        yield names[key], f"  integer, parameter :: {names[key]} = {place}  ! {told[:40]}"
    for key, values in defaults.items():
        numbers = ", ".join(map(FORTRAN.number, values))
        line = f"  real(wp), parameter :: {names[key]}({len(values)}) = [real(wp) :: {numbers}]"
        yield names[key], "\n".join(continued(line))


def _step(model: Model) -> str:
    last = f"next = {_AFTER}"
    if model.projection is not None:
        last = f"call projection({_AFTER}, input, parameter, next)"
    sizes = {"n": len(model.states), "inputs": len(model.inputs), "parameters": len(model.parameters)}
    text = "the state after a time h, inputs held, by the classical Runge-Kutta method"
    return f"! {text}\n{_STEP.format(last=last, **sizes)}"


def plain(text: str) -> str:
    """Text in a line of its own, whatever it says."""
    return "".join(each if each.isprintable() and each.isascii() else "?" for each in text)
