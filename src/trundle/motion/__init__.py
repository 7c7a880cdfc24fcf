"""Motion of wheeled bases: odometry, and where it comes from."""
