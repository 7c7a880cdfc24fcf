"""Programs as operations of JAX, which a plain install lacks."""
