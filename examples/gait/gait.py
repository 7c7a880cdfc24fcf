"""From a laboratory's files to a paper's figure: a person scaled from a static trial, who walks on two force plates.

    python examples/gait/gait.py           # writes runs/gait/; needs ezc3d for the walk that walk.py makes up

With files of your own, leave `walk` away and say what was measured: body mass, height, sex, and the files.
"""

from pathlib import Path

import walk

import trundle

folder = Path("runs/gait")
walk.write(folder)  # static.c3d and walk.c3d, with 0.5 mm of noise on every marker

# The person: lengths between joint centres, masses by de Leva, markers where they were seen.
person = trundle.scale_person(folder / "static.c3d", body_mass=70, sex="male", height=1.75)
person.save(folder)
for name in ("thigh_length_r", "shank_length_r", "pelvis_width"):
    print(f"{name}: {1e3 * person.lengths[name]:.1f} mm")

# The walk: angles of joints from the markers, the plates' forces on the feet, moments up both legs.
found = trundle.inverse(
    person.robot,
    folder / "walk.c3d",
    markers=person.markers,
    smoothing={"method": "butterworth", "cutoff": 8.0, "order": 4},
    threshold=5.0,
)
print(f"markers are {1e3 * found.motion.marker_error.mean():.2f} mm off")

# Cycles of both sides as papers print them: mean and standard deviation, per body mass.
gait = found.gait(mass=70)
print(gait.mean("right_knee_flexion.moment").min().round(2), "N m/kg at most extend the right knee")
for name, figure in trundle.gait_figures(gait).items():
    figure.savefig(folder / f"{name}.png")
print("wrote", folder)
