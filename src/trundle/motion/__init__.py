"""How bases on wheels move: drives, motions of pieces, forces, odometry, plans, commands and paths."""
