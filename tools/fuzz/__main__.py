"""`python -m tools.fuzz --minutes 5`: search, and report each kind of finding once, as small as it gets."""

from __future__ import annotations

import argparse
import itertools
import os
import secrets
import sys
import time
from collections import Counter

for _threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # before NumPy: threads don't survive a fork
    os.environ.setdefault(_threads, "1")

from tools.fuzz.cases import Case, Finding, attempt, draw, kinds, read_case, shrunk, tried  # noqa: E402

# Files whose bytes were changed so that HDF5 itself loses itself or dies, before it gives us anything to look at: once
# in some 10,000. They are told, and fail nothing: no checksum of ours can stand in such a file's way.
IN_HDF5 = "results/netcdf.py:_open"


def main() -> int:
    """Search, tell, and answer with the number of different findings."""
    args = _arguments()
    if args.case:
        return _again(read_case(args.case))
    print(f"seed {args.seed}", flush=True)
    began = time.monotonic()
    kinds()  # the good inputs are made before the workers fork
    until = began + 60 * args.minutes
    drawn = (draw(args.seed, number, args.kind) for number in itertools.count())
    wanted = itertools.islice(drawn, args.cases)
    jobs = wanted if args.cases else itertools.takewhile(lambda _: time.monotonic() < until, wanted)
    outcomes, findings = Counter[tuple[str, str]](), dict[str, list[Case]]()
    for case, outcome in tried(jobs, args.workers):
        told = outcome if isinstance(outcome, str) else "found"
        outcomes[case.kind, told] += 1
        if isinstance(outcome, Finding):
            if outcome.signature not in findings:
                print(f"\n{outcome.signature}\n  {case}\n{outcome.told}", flush=True)
            findings.setdefault(outcome.signature, []).append(case)
    _summary(outcomes, findings, time.monotonic() - began)
    return min(sum(not _is_hdf5s(signature) for signature in findings), 99)


def _is_hdf5s(signature: str) -> bool:
    return signature.startswith(("hangs", "over 10 s", "dies")) and signature.endswith(IN_HDF5)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default: 1)")
    parser.add_argument("--cases", type=int, help="how many cases, in place of minutes")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32), help="the same cases again")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="default: one a core")
    parser.add_argument("--kind", help="one kind of input only: description, urdf, call, ...")
    parser.add_argument("--case", help="try one case of a report again, here, without limits")
    return parser.parse_args()


def _again(case: Case) -> int:
    print(_shown(case))
    outcome = attempt(case)
    print(outcome if isinstance(outcome, str) else f"{outcome.signature}\n{outcome.told}")
    return int(isinstance(outcome, Finding))


def _shown(case: Case) -> str:
    """The input, as it can be tried by hand."""
    content = case.content()
    return content if isinstance(content, str) else repr(content)


def _summary(outcomes: Counter[tuple[str, str]], findings: dict[str, list[Case]], seconds: float) -> None:
    total = sum(outcomes.values())
    print(f"\n{total:,} cases in {seconds:.0f} s, {60 * total / max(seconds, 1e-9):,.0f} a minute")
    for kind in kinds():
        each = {told: outcomes[kind, told] for told in ("taken", "refused", "found")}
        print(f"  {kind:<12}" + "".join(f"{count:>9,} {told}" for told, count in each.items()))
    for signature, cases in sorted(findings.items(), key=lambda item: -len(item[1])):
        least = shrunk(min(cases, key=lambda case: len(case.mutations)), signature)
        whose = " (HDF5's own)" if _is_hdf5s(signature) else ""
        print(
            f"\n{len(cases)} x {signature}{whose}\n  python -m tools.fuzz --case '{least}'\n  {_shown(least)[:2000]!r}"
        )
    print(f"{len(findings)} different findings" if findings else "nothing found")


if __name__ == "__main__":
    sys.exit(main())
