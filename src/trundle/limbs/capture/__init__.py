"""What was measured: recordings of markers, joint angles and force plates, and people's measures."""
