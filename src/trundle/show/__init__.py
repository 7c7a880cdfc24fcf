"""What people see: scenes, figures, summaries, pages and windows."""
