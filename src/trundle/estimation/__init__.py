"""Where a base is, from its encoders, a gyro and fixes of its pose, and how sure that is."""
