"""What packages' example programs are held to: the differential drive's run by the kernels, with the same steps."""

import subprocess
from functools import cache

import numpy as np
import sympy as sp
from sympy.physics import mechanics as me

import trundle
from languages.cases import MODELS
from trundle.program.rollout import rollout

# The run section of the catalogue's differential drive: 30 s at these voltages.
VOLTAGES = (24.0, 20.0)


def model_of(name):
    return MODELS[name]()


def exported(name, target, folder, what=None):
    """A robot's package in a folder, whose name is the robot's."""
    model_of(name).export(target, what, output=folder)
    return folder


def rk4(model, x, u, h, steps, p=None):
    """The state after steps of the classical Runge-Kutta method by the kernels, in their own loop."""
    groups = {"input": u, "parameter": np.array([*model.parameters.values()]) if p is None else p}
    run = rollout(model.dynamics, x, groups, dt=h, steps=steps, every=None, projection=model.projection)
    return run.final


@cache
def kernels_end(name, inputs, steps):
    model = model_of(name)
    return rk4(model, np.array(model.state_vector()), np.array(inputs), 1e-3, steps)


def require_same_run(printed, name, inputs, steps, tolerance):
    """The last line of an example's CSV, against the kernels' state then, relative to the largest number."""
    require_head(printed, model_of(name).state_vector())
    require_state(printed, kernels_end(name, inputs, steps), steps, tolerance)


def require_head(printed, state):
    """The first line of an example's CSV names all columns."""
    head = printed.splitlines()[0].split(",")
    assert head[0] == "time"
    assert len(set(head)) == len(head) == 1 + len(state)


def require_hostile_run(printed):
    """The same of ten steps of the hostile model."""
    model = hostile_model()
    require_head(printed, model.state_vector())
    require_state(printed, rk4(model, np.array(model.state_vector()), np.empty(0), 1e-3, 10), 10, 1e-12)


def require_state(printed, expected, steps, tolerance):
    last = np.array([float(word) for word in printed.strip().splitlines()[-1].split(",")])
    assert abs(last[0] - 1e-3 * steps) < 1e-9
    assert np.abs(last[1:] - expected).max() <= tolerance * np.abs(expected).max()


def output_of(command, folder):
    """What a command prints in a folder; nothing may be on its error stream."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=600)
    assert done.returncode == 0, done.stderr[:3000]
    assert not done.stderr, done.stderr[:3000]
    return done.stdout


@cache
def hostile_model():
    """A particle of SymPy's whose names are words of languages, differ in case alone, or end comments and literals."""
    places, speeds = me.dynamicsymbols("sin rate"), me.dynamicsymbols("Rate end")
    mass, slope, pull = (sp.Symbol(name) for name in HOSTILE)
    frame, origin, point = me.ReferenceFrame("N"), me.Point("O"), me.Point("P")
    origin.set_vel(frame, 0)
    point.set_vel(frame, speeds[0] * frame.x + speeds[1] * frame.y)
    rates = [speed - place.diff() for place, speed in zip(places, speeds, strict=True)]
    method = me.KanesMethod(frame, q_ind=places, u_ind=speeds, kd_eqs=rates)
    force = -slope * places[0] * frame.x + pull * sp.cos(places[1]) * frame.y
    method.kanes_equations([me.Particle("particle", point, mass)], [(point, force)])
    return trundle.from_sympy(method, parameters=dict.fromkeys(HOSTILE, 2.0))


# Of its parameters.
HOSTILE = ("it's \\", 'x */ \n"%s & </script>', "M")


def readme_code(folder):
    """The lines of code that a package's README shows."""
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
    return "\n".join(line.strip() for line in lines if line.startswith("    "))


def without_parameters():
    """A model of SymPy's with neither parameters nor inputs."""
    x = me.dynamicsymbols("x")
    method = me.LagrangesMethod(x.diff() ** 2 / 2 - x**2 / 2, [x])
    method.form_lagranges_equations()
    return trundle.from_sympy(method, name="spring")


# What examples refuse: no number, none above 0, too many of them, more steps than anybody waits for.
REFUSED = (
    "soon", "1s", "-1", "0", "nan", "inf", "1e999", "1 0", "1 -0.1", "1 fast", "1 0.1 much", "1 0.1 1 inf",
    "1 0.1 1 2 3", "1e9 1e-3",
)  # fmt: skip


def require_refusals(*program, folder):
    """The differential drive's example ends with status 2 and says why, and prints no row."""
    for words in REFUSED:
        command = [*program, *words.split()]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert "[SECONDS [STEP [INPUT...]]]" in done.stderr, words
        assert "right_motor.voltage" in done.stderr, words
