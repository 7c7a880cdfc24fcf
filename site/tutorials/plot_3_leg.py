"""
Loads in a leg: from C3D to moments, a table and a paper's figure
=================================================================

You recorded somebody who walks over force plates. You want the moments in the joints, as a table and as a figure.

What you need: Python, ``pip install`` of Trundle, and ten minutes. Save
:download:`walk.py </tutorials/walk.py>` into the folder that you work in: it makes up two C3D files. It needs
``pip install ezc3d``; reading files of your own doesn't.

At the end of this page is all of the code as a Jupyter notebook (``pip install notebook``), which shows figures and
tables. In a script save them, as ``figures["gait_moments"].savefig("moments.png")`` does.
"""

# %%
# Two recordings
# --------------
#
# A *static trial* is somebody who stands still, with markers on both legs and the pelvis. A *walk* has the
# same markers and force plates. Here both are of a made-up person, so the true moments are known. Every
# marker has 0.5 mm of noise. With files of your own leave ``walk`` out and give their names.

from pathlib import Path

import pandas as pd
import walk  # pyright: ignore[reportMissingImports]

import trundle

walk.write(Path("recordings"))
recording = trundle.read_recording("recordings/walk.c3d")
print(
    f"{len(recording.time)} samples, {len(recording.markers)} markers, {len(recording.plates)} force plates"
)

# %%
# The person
# ----------
#
# Lengths come from the markers of the static trial. Masses come from the body's mass, by de Leva's tables
# (kg, m). Each leg needs eight markers, here those of the right one. RASI and RPSI are on the pelvis, RKNE and
# RKNM on the knee's two sides, RANK and RANM on the ankle's. RHEE and RTOE are on the foot. Left ones begin
# with L. If yours have other names, add ``markers={"R.Knee.Lat": "RKNE"}``.

person = trundle.scale_person("recordings/static.c3d", body_mass=70, sex="male", height=1.75)
for name in ("thigh_length_r", "shank_length_r", "pelvis_width"):
    print(f"{name}: {1e3 * person.lengths[name]:.1f} mm")

# %%
# ``person.save("person")`` writes a folder with the person as a description, which you can read and change.
#
# The moments
# -----------
#
# Angles come from the markers, by least squares over the whole person. Then Newton and Euler give the
# wrench through every joint. The plates say what the ground does to the feet. A foot is on a plate while
# the force is over ``threshold``, in N.

found = trundle.inverse(
    person.robot,
    "recordings/walk.c3d",
    markers=person.markers,
    smoothing={"method": "butterworth", "cutoff": 8.0, "order": 2},
    threshold=5.0,
)
print(f"markers are {1e3 * found.motion.marker_error.mean():.2f} mm off")

# %%
# Moments of walks depend on the cutoff of the smoothing, so your paper states it. ``order`` is that of one
# pass, and the filter runs forward and backward. So this is a fourth-order filter of 8 Hz with zero lag.
#
# Cycles
# ------
#
# ``gait`` cuts the walk into cycles, from a foot's strike to its next one. Moments are divided by the mass
# (kg). Flexion is positive, extension negative; moments are internal, what muscles give.

gait = found.gait(mass=70)
print(f"peak of the right knee's extension: {gait.mean('right_knee_flexion.moment').min():.2f} N m/kg")
for measure in gait.measures[:6]:
    print(f"{measure.side} {measure.name}: {measure.mean:.3f} ± {measure.deviation:.3f} {measure.unit}")

# %%
# The figure
# ----------
#
# It is 170 mm wide, for two columns of a page. ``figures["gait_moments"].savefig("moments.pdf")`` keeps
# letters as letters. ``figures`` also has angles and powers.

figures = trundle.gait_figures(gait)
figures["gait_moments"]

# %%
# The table
# ---------
#
# A row for every percent of the cycle, with mean and standard deviation.

table = pd.DataFrame(gait.table())
table.to_csv("cycles.csv", index=False)
shown = [name for name in table.columns if name.startswith(("percent", "right_knee_flexion.moment"))]
table[shown].iloc[::10].round(3)

# %%
# Is it right?
# ------------
#
# This walk is made up, so the truth is known: the net moment of the right knee at the same times.

truth = walk.loads(found.loads.time).actuator_torque["knee_flexion_r.rate"]
error = abs(found.loads.joint_moment["knee_flexion_r.rate"] - truth)
print(f"root mean square error: {(error**2).mean() ** 0.5:.2f} N m of {abs(truth).max():.0f} N m")

# %%
# The walk, live
# --------------
#
# Arrows are the forces of the plates and the moments in the joints.

found.loads.to_run().animate("walk.html")

# %%
# What comes next
# ---------------
#
# - :doc:`/docs/inverse` leads to every file, option and definition, and to bands of uncertainty.
# - Files of your own on the command line (:doc:`/reference/commands/scale`, :doc:`/reference/commands/inverse`):
#
# .. code-block:: sh
#
#     trundle scale static.c3d --body-mass "70 kg" --sex male --output person
#     trundle inverse person/person.yaml --markers person/markers.yaml --motion walk.c3d \
#         --smooth butterworth:6 --mass "70 kg" --gait
