"""Java methods called from Python, each time by a JVM of its own."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from trundle.languages import JAVA, source

# Numbers come and go in the byte order of this machine.
_CALL = """
import java.io.*;
import java.nio.*;

public class Main {
    static double[] taken(DoubleBuffer numbers, int size) {
        double[] group = new double[size];
        numbers.get(group);
        return group;
    }

    public static void main(String[] arguments) throws IOException {
        ByteBuffer given = ByteBuffer.wrap(System.in.readAllBytes()).order(ByteOrder.nativeOrder());
        DoubleBuffer numbers = given.asDoubleBuffer();
        ByteBuffer found = ByteBuffer.allocate(8 * %(total)d * %(count)d).order(ByteOrder.nativeOrder());
        DoubleBuffer out = found.asDoubleBuffer();
        double[][] results = {%(results)s};
        for (int k = 0; k < %(count)d; k++) {
            f(%(arguments)s);
            for (double[] each : results) out.put(each);
        }
        System.out.write(found.array());
        System.out.flush();
    }
"""


def tool(name):
    """The path of a program that a test needs."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name}")
    return found


def called(program, *groups):
    """The outputs of a program's method at many states, groups (n, count) in and out."""
    count = groups[0].shape[1]
    sizes = [group.size for group in program.outputs]
    given = [f"taken(numbers, {group.size})" for group in program.inputs]
    main = _CALL % {
        "total": sum(sizes),
        "count": count,
        "results": ", ".join(f"new double[{size}]" for size in sizes),
        "arguments": ", ".join([*given, *(f"results[{k}]" for k in range(len(sizes)))]),
    }
    table = np.ascontiguousarray(np.vstack(groups).T)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "Main.java"
        path.write_text(f"{main}\n{source({'f': program}, JAVA)}}}\n", encoding="utf-8")
        command = [tool("java"), "-Xshare:auto", "-XX:TieredStopAtLevel=1", str(path)]
        done = subprocess.run(command, input=table.tobytes(), capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()[:3000]
    found = np.frombuffer(done.stdout).reshape(count, -1).T
    return np.split(found, np.cumsum(sizes)[:-1])
