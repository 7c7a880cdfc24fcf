"""The 2014 tutorial's differential drive through `from_sympy`, against figures that were integrated independently."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import trundle

SCRIPT = Path(__file__).parents[2] / "examples" / "from_sympy" / "diff_drive_lagrange.py"

# x, y, theta and both wheels' rates at the end: an independent integration at rtol 1e-10.
FINAL = {
    "wheel torque": {
        "24 V and 20 V": (4.253134792, 11.588731403, 14.994382813, 24.0, 20.0),
        "20 V and 20 V": (29.9055, 0.0, 0.0, 20.0, 20.0),
        "24 V twice, K2 = 0.99": (35.527746592, -5.359597250, -0.300757988, 24.0, 24.242424242),
    },
    "hub force": {
        "24 V and 20 V": (3.463183626, 8.958682645, 14.750347222, 24.0, 20.0),
        "20 V and 20 V": (25.803286264, 0.0, 0.0, 19.984328704, 19.984328704),
        "24 V twice, K2 = 0.99": (30.903160581, -2.442509161, -0.202150575, 23.979999425, 24.221788940),
    },
}


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("diff_drive_lagrange", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("drive", FINAL)
@pytest.mark.slow
def test_published_final_states(example, drive):
    model = example.build(drive)
    for case, expected in FINAL[drive].items():
        end = list(example.final_states(model, case).values())
        np.testing.assert_allclose(end, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.slow
def test_the_script_prints_its_table(example, capsys):
    example.main()
    printed = capsys.readouterr().out
    assert "25.803286" in printed
    assert "d = 0.1 m" in printed


def closed_form(t, s, d, volts):
    """The same robot in its own frame: x, y, theta, v, omega, i_1, i_2, the motors on the wheels."""
    r, w, m_b, m_w, i_zz, t_w = 0.15, 0.6, 50.0, 2.0, 5.0, 0.15
    axle, diameter = m_w * r**2 / 2, m_w * (3 * r**2 + t_w**2) / 12
    _, _, theta, v, omega, *currents = s
    one, two = currents
    v_dot = r * (one + two + r * d * m_b * omega**2) / (2 * axle + m_b * r**2 + 2 * m_w * r**2)
    inertia = 2 * axle * w**2 + r**2 * (2 * diameter + i_zz + d**2 * m_b + 2 * m_w * w**2)
    omega_dot = r * ((one - two) * w - r * d * m_b * omega * v) / inertia
    spins = ((v + w * omega) / r, (v - w * omega) / r)
    rates = [(volt - 0.05 * i - spin) / 1e-4 for volt, i, spin in zip(volts, currents, spins, strict=True)]
    return [v * np.cos(theta), v * np.sin(theta), omega, v_dot, omega_dot, *rates]


@pytest.mark.slow
def test_centre_of_mass_off_the_axle(example):
    """d = 0.1 m, which the tutorial had to leave out."""
    model = example.build("wheel torque", 0.1)
    run = trundle.simulate(model, 10.0, {"V_1": 24.0, "V_2": 20.0}, rtol=1e-10, atol=1e-12)
    solution = solve_ivp(
        closed_form, (0, 10), np.zeros(7), "Radau", args=(0.1, (24.0, 20.0)), rtol=1e-10, atol=1e-12
    )
    end = solution.y[:, -1]
    got = [
        run.final["x"],
        run.final["y"],
        run.final["theta"],
        run["forward speed"][-1],
        run.final["theta_dot"],
    ]
    np.testing.assert_allclose(got, end[:5], rtol=1e-6)
    assert run.summary["constraint_residual"] < 1e-8
