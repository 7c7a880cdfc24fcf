"""The site: its sources put together, built by Sphinx, and its links checked (`make docs`)."""
