"""Motion of wheeled bases: kinematics, limits, profiles and forces; odometry, and where it comes from."""
