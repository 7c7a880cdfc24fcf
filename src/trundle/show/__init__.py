"""What people see: scenes, figures, words, pages and windows."""
