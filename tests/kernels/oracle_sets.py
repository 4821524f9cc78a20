#!/usr/bin/env python3
"""The oracle's case sets, made anew from a seed and checked: small, formats, edges, wide."""
import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import harness  # noqa: E402
from cases import oracle  # noqa: E402

ORACLE = os.path.join(harness.ROOT, "tests", "oracle", "oracle.py")


def check_set(r, name, seed):
    made = subprocess.run([sys.executable, ORACLE, "make", r.folder, "--set", name, "--seed", str(seed)], capture_output=True, text=True)
    files = made.stdout.split()
    harness.expect(made.returncode == 0 and files, f"the oracle made no file: {made.stderr}")
    bad = []
    for path in files:
        try:
            r.check(path)
        except harness.Failure as e:
            bad.append(f"{os.path.basename(path)}: {e}")
    harness.expect(not bad, f"{len(bad)} of {len(files)} files\n" + "\n".join(bad))
    return f"{len(files)} files"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_flags(parser)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_known_args()[0].seed
    for _name in oracle.SETS:
        harness.case(_name)(lambda r, n=_name: check_set(r, n, seed))
    sys.exit(harness.main(__doc__, parser, [f"--seed={seed}"]))
