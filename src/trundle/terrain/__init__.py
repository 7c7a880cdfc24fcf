"""Wheels on terrain, in any scalar: contacts, the stabilised motion that they leave, and the balance of forces."""
