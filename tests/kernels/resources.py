#!/usr/bin/env python3
"""Registers, spills and shared memory of each kernel for each target: the rules of the product, and a golden table.

Rules: a cubin is made; 0 spill bytes for small kernels and up to 16 heads a block, else at most 64 bytes a thread; shared memory within the
target's limit. Table: tests/kernels/resources.json, keyed by the assembler's version; `resources.py --update` makes it again.
"""
import argparse
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import harness  # noqa: E402
from harness import expect  # noqa: E402

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "resources.json")
# Shared memory a block may ask for: CUDA C++ Programming Guide, technical specifications per compute capability.
SHARED_LIMIT = {"sm_120a": 101376, "sm_121a": 101376, "sm_90a": 101376, "sm_89": 101376, "sm_80": 166912}
DECODE = "layout={} page_size={} topk={} heads={}"
KERNELS = {
    "sparse_decode_model1_h64": "sparse_decode " + DECODE.format("MODEL1", 64, 512, 64),
    "sparse_decode_model1_h16": "sparse_decode " + DECODE.format("MODEL1", 256, 512, 16),
    "sparse_decode_model1_h8_two_sources": "sparse_decode " + DECODE.format("MODEL1", 256, 128, 8) + " extra_page_size=64 extra_topk=512 lengths=1 extra_lengths=1 sink=1",
    "sparse_decode_v32_h128": "sparse_decode " + DECODE.format("V32", 64, 2048, 128),
    "sparse_decode_v32_h16_generic": "sparse_decode " + DECODE.format("V32", 64, 2048, 16) + " specialise=generic",
    "sparse_decode_v32_h64_with_bf16": "sparse_decode " + DECODE.format("V32", 64, 512, 64) + " extra_layout=BF16 extra_page_size=16 extra_topk=128",
    "sparse_decode_model1_h64_fp8": "sparse_decode " + DECODE.format("MODEL1", 64, 512, 64) + " arith=fp8",
    "combine": "combine heads=64 head_dim_v=512 splits=8",
    "gather_dequant_model1": "gather_dequant layout=MODEL1 page_size=64",
    "gather_dequant_v32": "gather_dequant layout=V32 page_size=64 index=i64",
    "page_split": "page_split page_size=256 marks=1",
    "page_mark": "page_mark page_size=256",
    "pack_kv_model1": "pack_kv layout=MODEL1 page_size=64",
    "pack_kv_v32": "pack_kv layout=V32 page_size=64",
}
FIGURES = ("registers", "spill_bytes", "shared_bytes")


def heads_of_block(schedule):
    m = re.search(r"tile\.heads=(\d+)", schedule)
    return int(m.group(1)) if m else 0


def assembler_version():
    home = os.environ.get("NEREID_CUDA_HOME") or os.path.join(harness.ROOT, "build", "cuda")
    try:
        text = subprocess.run([os.path.join(home, "bin", "ptxas"), "--version"], capture_output=True, text=True).stdout
    except OSError:
        return None
    m = re.search(r"V([\d.]+)", text)
    return m and m.group(1)


def measure(r, words, target):
    done = r.call("compile", *words.split(), "--target", target, "-o", r.path("k.cubin"), "--json")
    expect(done.returncode == 0, f"{target}: exit code {done.returncode}\n{done.stderr[-1500:]}")
    j = json.loads(done.stdout)
    expect(os.path.getsize(r.path("k.cubin")) == j["cubin_bytes"] > 0, f"{target}: the cubin's size is not cubin_bytes")
    return j


def check(r, name, table, update):
    words, got = KERNELS[name], {}
    targets = [t for t in SHARED_LIMIT if not (t == "sm_80" and "arith=fp8" in words)]  # which has no products of e4m3
    for target in targets:
        limit = SHARED_LIMIT[target]
        j = measure(r, words, target)
        got[target] = {f: j[f] for f in FIGURES}
        small = not name.startswith("sparse_decode") or heads_of_block(j["schedule"]) <= 16
        allowed = 0 if small else 64
        expect(j["spill_bytes"] <= allowed, f"{target}: {j['spill_bytes']} spill bytes a thread, {allowed} are allowed ({j['schedule']})")
        expect(j["shared_bytes"] <= limit, f"{target}: {j['shared_bytes']} bytes of shared memory, the limit is {limit}")
        expect(0 < j["registers"] <= 255, f"{target}: {j['registers']} registers")
    if update:
        table[name] = got
        return
    known = table.get(name)
    if known is None:
        return "no table for this assembler; the rules hold"
    for target in targets:
        expect(got[target] == known.get(target), f"{target}: {got[target]}, the table has {known.get(target)}; if the change is wanted: tests/kernels/resources.py --update")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_flags(parser)
    parser.add_argument("--update", action="store_true", help="write the table for this assembler's version")
    args = parser.parse_known_args()[0]
    version = assembler_version()
    if version is None:
        print("no ptxas under build/cuda or NEREID_CUDA_HOME, so the table has no key; scripts/setup brings it")
        sys.exit(3)
    tables = {}
    if os.path.exists(TABLE):
        with open(TABLE) as f:
            tables = json.load(f)
    table = dict(tables.get(version, {}))
    for _name in KERNELS:
        harness.case(_name)(lambda r, n=_name: check(r, n, table, args.update))
    rc = harness.main(__doc__, parser)
    if args.update and rc == 0:
        tables[version] = {k: table[k] for k in KERNELS if k in table}
        with open(TABLE, "w") as f:
            json.dump(tables, f, indent=1)
            f.write("\n")
        print(f"wrote {os.path.relpath(TABLE)} for ptxas {version}")
    sys.exit(rc)
