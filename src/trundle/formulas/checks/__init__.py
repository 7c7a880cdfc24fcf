"""Every equation is compared with the compiled programs at random points."""
