"""What limits a motion: one file a limit."""
