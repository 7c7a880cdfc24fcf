"""What the wheels on a base do: their places, what a twist asks of them, and back."""
