"""Programs for a Cortex-M4F, built by arm-none-eabi-gcc without a warning and run under QEMU."""

import subprocess

from languages.c_code import compiler

TOOLS = ("arm-none-eabi-gcc", "qemu-system-arm", "make")


def require_board():
    """Skip the test without the tools that build and run programs for the board."""
    for tool in TOOLS:
        compiler(tool)


def made(folder, *target):
    """What make prints; nothing may fail or be complained of."""
    command = ["make", "CC=arm-none-eabi-gcc -Werror", *target]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[:3000]
    return done.stdout
