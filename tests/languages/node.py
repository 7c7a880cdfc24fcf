"""JavaScript functions called from Python, under Node."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from trundle.languages import JAVASCRIPT, source

_CALL = """
import { readFileSync, writeSync } from "node:fs";
const bytes = readFileSync(0);
const numbers = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const [sizes, count] = [%s, %d];
const width = sizes.reduce((sum, size) => sum + size, 0);
const results = %s.map((size) => new Float64Array(size));
const total = results.reduce((sum, each) => sum + each.length, 0);
const out = new Float64Array(total * count);
for (let k = 0; k < count; k++) {
  let at = k * width;
  const groups = sizes.map((size) => numbers.subarray(at, (at += size)));
  f(...groups, ...results);
  let to = k * total;
  for (const each of results) {
    out.set(each, to);
    to += each.length;
  }
}
let sent = 0;
const raw = new Uint8Array(out.buffer);
while (sent < raw.length) sent += writeSync(1, raw, sent);
"""


def node():
    """The program; skips the test where there is none."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("no node")
    return program


def run_module(text, given=b""):
    """What an ES module writes, as bytes."""
    program = node()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "module.mjs"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([program, str(path)], input=given, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return done.stdout


def called(program, *groups):
    """The outputs of a program's function at many states, groups (n, count) in and out."""
    count = groups[0].shape[1]
    sizes = [group.size for group in program.inputs]
    results = [group.size for group in program.outputs]
    text = source({"f": program}, JAVASCRIPT) + _CALL % (sizes, count, results)
    table = np.ascontiguousarray(np.vstack(groups).T)
    found = np.frombuffer(run_module(text, table.tobytes())).reshape(count, -1).T
    ends = np.cumsum(results)[:-1]
    return np.split(found, ends)
