"""What a motion takes: forces on the ground, motors' torques and limits, and following it."""
