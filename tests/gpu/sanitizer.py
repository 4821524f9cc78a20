#!/usr/bin/env python3
"""compute-sanitizer (memcheck, racecheck) over a dozen cases on a GPU, after it has shown that it finds faults planted in these kernels.

A fault is planted by a ptxas that edits the text before the real one reads it, so the command under test is the one that users run.
"""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import cases  # noqa: E402
import harness  # noqa: E402

CLEAN, FOUND = 0, 99  # exit codes asked of compute-sanitizer

WRAPPER = """#!/usr/bin/env python3
import os, re, sys
arguments = sys.argv[1:]
for i, path in enumerate(arguments):
    if not path.endswith(".ptx"):
        continue
    with open(path) as f:
        text = f.read()
    if ".entry sparse_decode" not in text:
        continue
    edited, n = re.subn({pattern!r}, {replacement!r}, text, count={count})
    if not n:
        sys.exit("planted fault: the pattern is not in the kernel")
    with open(path, "w") as f:
        f.write(edited)
os.execv({ptxas!r}, [{ptxas!r}] + arguments)
"""


def find(program):
    homes = [os.environ.get("NEREID_CUDA_HOME", ""), os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"]
    found = [p for h in homes if h for p in [os.path.join(h, "bin", program)] if os.access(p, os.X_OK)]
    return found[0] if found else shutil.which(program)


def sanitize(r, tool, path, planted=None):
    """(exit code, what the tool said) of one `nereid run` under compute-sanitizer."""
    env = {}
    if planted:
        home = r.path("planted_cuda")
        os.makedirs(os.path.join(home, "bin"), exist_ok=True)
        wrapper = os.path.join(home, "bin", "ptxas")
        with open(wrapper, "w") as f:
            f.write(WRAPPER.format(ptxas=find("ptxas"), **planted))
        os.chmod(wrapper, 0o755)
        env["NEREID_CUDA_HOME"] = home
    under = [find("compute-sanitizer"), "--tool", tool, "--error-exitcode", FOUND, "--print-limit", 3]
    done = r.call("run", path, *r.options(), *([] if planted else ["--check"]), env=env, under=under)
    return done.returncode, done.stdout + done.stderr


def decode_case(r, **options):
    return cases.decode(7, **{"layout": "MODEL1", "page_size": 64, "topk": 160, "rows": 2, "heads": 64, **options}).save(r.path("case.safetensors"))


@harness.case("planted.memcheck")
def planted_memcheck(r):
    """The last stores to global memory go 1 GiB too far."""
    code, said = sanitize(r, "memcheck", decode_case(r), dict(pattern=r"(st\.global\.v4\.b32\s+\[%rd\d+)(\])", replacement=r"\1+1073741824\2", count=0))
    harness.expect(code == FOUND and "Invalid __global__ write" in said, f"memcheck did not report the planted store: {code}\n{said[-2000:]}")


@harness.case("planted.racecheck")
def planted_racecheck(r):
    """The barriers inside the computing role are gone: warps read partial scores while others write them."""
    code, said = sanitize(r, "racecheck", decode_case(r), dict(pattern=r"bar\.sync\s+[1-9]\d*, \d+;", replacement="", count=0))
    harness.expect(code == FOUND and "hazard" in said.lower(), f"racecheck did not report the missing barriers: {code}\n{said[-2000:]}")


DOZEN = {
    "h64": dict(),
    "h16": dict(heads=16, topk=512),
    "h128": dict(heads=128, topk=96),
    "odd_pages": dict(page_size=69, topk=65, heads=24),
    "page_1": dict(page_size=1, topk=33, heads=8),
    "lengths": dict(lengths="random", heads=32),
    "negatives": dict(negatives=0.5, sink=True),
    "two_sources": dict(extra=dict(topk=64, page_size=64, index="I64", gap=0, lengths=None), topk=128),
    "i64_sq2": dict(index="I64", s_q=2, heads=17),
    "v32": dict(layout="V32", topk=96),
    "v32_h16": dict(layout="V32", topk=200, heads=16),
    "head_dim_v": dict(head_dim_v=100, heads=20),
    "gap": dict(gap=48, topk=64),
}


def clean(tool, options):
    def run(r):
        code, said = sanitize(r, tool, decode_case(r, **options))
        harness.expect(code == CLEAN, f"{tool}: exit code {code}\n{said[-2500:]}")
        wanted = "ERROR SUMMARY: 0 errors" if tool == "memcheck" else "RACECHECK SUMMARY: 0 hazards"
        harness.expect(wanted in said, f"{tool} did not say '{wanted}'\n{said[-1500:]}")
    return run


for tool in ("memcheck", "racecheck"):
    for name, options in DOZEN.items():
        harness.case(f"{tool}.{name}")(clean(tool, options))

if __name__ == "__main__":
    if not find("compute-sanitizer") or not find("ptxas"):
        print("skipped: compute-sanitizer or ptxas is missing; needs a CUDA toolkit (CUDA_HOME)")
        sys.exit(harness.SKIP)
    sys.exit(harness.main(__doc__))
