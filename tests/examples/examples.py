#!/usr/bin/env python3
"""Every example on a device, against its float64 reference: default and odd sizes, other schedules; and proof that they can fail.

`--nereid` names the folder of the examples' programs, or nereid-examples, which has them all.
"""
import argparse
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import harness  # noqa: E402
from harness import case, expect  # noqa: E402

SIZES = {
    "vector_add": ["", "n=1", "n=1024", "n=4097"],
    "row_softmax": ["", "rows=1 cols=1", "rows=5 cols=33", "rows=9 cols=2048"],
    "paged_gather": ["", "count=1 pages=1", "count=32 pages=3", "count=77 pages=2"],
    "gemm_bf16": ["", "m=1 n=8 k=64", "m=131 n=136 k=640"],
    "gemm_fp8_weights": ["", "m=1 n=128 k=128", "m=131 n=128 k=640"],
}
SCHEDULES = {  # beside the example's own
    "vector_add": ["warps=1"],
    "row_softmax": ["warps=8"],
    "paged_gather": ["warps=1"],
    "gemm_bf16": ["roles=none,warps=8", "tile.m=64,tile.n=64,grid.main=2x4x1,stages=3", "tile.m=32,tile.n=64,grid.main=1x4x2,copy=bulk"],
    "gemm_fp8_weights": ["roles=none,warps=8", "tile.m=16,tile.n=64,grid.main=1x4x2,stages=4", "tile.n=64,copy=bulk"],
}


def call(r, name, *argv):
    """The process of an example with the driver's flags."""
    folder = os.path.isdir(r.args.nereid)
    program = [os.path.join(r.args.nereid, name)] if folder else [r.args.nereid, name]
    args, r.args = r.args, argparse.Namespace(**{**vars(r.args), "nereid": program[0]})
    try:
        return r.call(*program[1:], *argv)
    finally:
        r.args = args


def passes(r, name, *argv):
    done = call(r, name, *argv)
    expect(done.returncode == 0 and re.fullmatch(r"\w+ on \S+: error \S+ \(limit \S+\)(, \S+ us)?\n", done.stdout),
           f"exit code {done.returncode}\n{done.stdout[-800:]}{done.stderr[-800:]}")


for _name in SIZES:
    @case(_name)
    def _(r, name=_name):
        for sizes in SIZES[name]:
            passes(r, name, *sizes.split(), *r.options())
        for schedule in SCHEDULES[name]:
            passes(r, name, *r.options(schedule))
        for seed in ("1", "2") if r.args.device == "emu" else ():  # copies arrive at random moments, at once
            passes(r, name, *r.options(), "--seed", seed)

    @case(_name + "_can_fail")
    def _(r, name=_name):
        done = call(r, name, *r.options(), "--limit", "-1")
        expect(done.returncode == 1 and "WRONG" in done.stdout, f"exit code {done.returncode}\n{done.stdout}{done.stderr}")


@case("compile")
def _(r):
    """No GPU is needed; every target assembles without spills."""
    for name in SIZES:
        for target in [r.args.target] if r.args.target else ["sm_120a", "sm_90a", "sm_80"]:
            done = call(r, name, "--compile", "--target", target, "--limits", "sm_120")
            expect(done.returncode == 0 and f"{name} for {target}: " in done.stdout and " 0 bytes of spills" in done.stdout,
                   f"exit code {done.returncode}\n{done.stdout}{done.stderr}")


@case("tutorial")
def _(r):
    """The commands of docs/tutorial.md, in its order; those for a GPU where there is one. `# refused` ends with exit code 2."""
    folder = os.path.isdir(r.args.nereid)
    with open(os.path.join(harness.ROOT, "docs", "tutorial.md"), encoding="utf-8") as f:
        lines = [line for line in f.read().splitlines() if line.startswith(("./", "../"))]
    expect(len(lines) > 15, f"only {len(lines)} commands were found")
    no_gpu = harness.no_device_reason()
    for line in lines:
        if "--device cuda" in line and no_gpu or not folder and line.startswith("../"):
            continue
        command = line if folder else line.replace("./", r.args.nereid + " ", 1)
        done = subprocess.run(["bash", "-c", command.replace("gemm.mlir", r.path("gemm.mlir"))], cwd=r.args.nereid if folder else None, capture_output=True, text=True, timeout=r.args.timeout)
        expect(done.returncode == (2 if "# refused" in line else 0), f"{line}: exit code {done.returncode}\n{done.stdout[-600:]}{done.stderr[-600:]}")


@case("refusals")
def _(r):
    for name, argv, words in (("vector_add", ["m=3"], "unknown size m"), ("vector_add", ["n=0"], "'n=0' is no size"),
                              ("gemm_bf16", ["k=65"], "k is 65, no multiple of 64"), ("gemm_fp8_weights", ["n=100"], "multiples of 128"),
                              ("vector_add", ["--schedule", "warp=1"], "unknown schedule key 'warp'"),
                              ("vector_add", ["--emit", "nothing"], "no stage is named nothing")):
        done = call(r, name, "--device", "cpu", *argv)
        expect(done.returncode == 2 and words in done.stderr and not done.stdout, f"{argv}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_flags(parser)
    built = os.path.dirname(os.environ.get("NEREID_BIN", os.path.join(harness.ROOT, "build", "bin", "nereid")))
    parser.set_defaults(nereid=os.path.join(built, "examples"))
    sys.exit(harness.main(__doc__, parser))
