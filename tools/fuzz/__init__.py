"""Hostile input, as much of it as one likes: `make fuzz`.

A case is a good input of one kind (`kinds`) with a few mutations that know its grammar (`mutations`), tried in a worker
with limits of time and memory (`pool`). It passes where it is taken or refused with a TrundleError; any other
exception, a process that dies, and a NaN that nobody mentions are findings, shrunk to what they need (`cases`).
"""
