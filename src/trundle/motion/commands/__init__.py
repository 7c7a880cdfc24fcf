"""A drive's commands taken as motions at control levels; their records and verification."""
