"""What a robot can and cannot do: motions of its base, singular configurations, where driving leads."""
