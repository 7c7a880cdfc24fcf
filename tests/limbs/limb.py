"""The limb of limb.md: three segments with point masses in their middle, each along its own y, turning about z."""

import numpy as np

import trundle

MASSES, LENGTHS, RATES = (0.7, 0.5, 0.3), (0.8, 0.6, 0.4), (1.0, 2.0, 4.0)


def limb_robot(masses=MASSES, lengths=LENGTHS):
    """P_0, P_1, … fixed to the world at P_0."""
    joints = {}
    for k, (mass, length) in enumerate(zip(masses, lengths, strict=True)):
        hung = {} if k == 0 else {"parent": f"P_{k - 1}", "at": [0, lengths[k - 1], 0]}
        body = {"mass": mass, "center_of_mass": [0, f"{length}/2", 0]}
        joints[f"P_{k}"] = {"type": "revolute", "axis": [0, 0, 1], **hung, "body": body}
    return trundle.Robot(name="limb", gravity=0.0, joints=joints)


def limb_motion(time, rates=RATES):
    """θ_k = rate t, without acceleration."""
    names = range(len(rates))
    return trundle.JointMotion(
        time,
        tuple(f"P_{k}.angle" for k in names),
        tuple(f"P_{k}.rate" for k in names),
        np.outer(time, rates),
        np.tile(rates, (len(time), 1)),
        np.zeros((len(time), len(rates))),
    )


def closed_forms(t):
    """(F_x, F_y, M_z) of each joint, on the segment, at the joint, in its frame, as limb.md has them."""
    s, c = (lambda k: np.sin(k * t)), (lambda k: np.cos(k * t))
    return {
        "P_2": (
            -1.62 * s(4) - 0.24 * s(6),
            -1.62 * c(4) - 0.24 * c(6) - 2.94,
            0.324 * s(4) + 0.048 * s(6),
        ),
        "P_1": (
            -0.64 * s(2) + 2.94 * s(4),
            -0.64 * c(2) - 2.94 * c(4) - 2.97,
            0.264 * s(2) - 1.44 * s(4) + 0.048 * s(6),
        ),
        "P_0": (
            2.97 * s(2) + 2.94 * s(6),
            -2.97 * c(2) - 2.94 * c(6) - 0.92,
            -2.112 * s(2) - 1.44 * s(4) - 2.304 * s(6),
        ),
    }


TABLE = {
    0.0: {"P_2": (0, -4.8, 0), "P_1": (0, -6.55, 0), "P_0": (0, -6.83, 0)},
    0.3: {
        "P_2": (-1.743626751, -3.472491060, 0.348725350),
        "P_1": (2.378823730, -4.563546592, -1.146325985),
        "P_0": (4.540100181, -2.703272618, -4.778406129),
    },
    1.0: {
        "P_2": (1.293079762, -2.111538203, -0.258615952),
        "P_1": (-2.806949689, -0.781953779, 1.316438170),
        "P_0": (1.879131793, -2.506944538, -0.186867264),
    },
}
