"""Where a base is by what its wheels did, and how sure that is."""
