#!/usr/bin/env python3
"""Every golden file through `nereid run FILE --check`, and proof that the check can fail."""
import glob
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import harness  # noqa: E402
from cases import oracle  # noqa: E402


def stem(path):
    return os.path.basename(path).removesuffix(".safetensors")


for _file in sorted(glob.glob(os.path.join(harness.GOLDEN, "*.safetensors"))):
    harness.case(stem(_file))(lambda r, f=_file: r.check(f) and None)


def change(r, golden, name, edit):
    """A golden file with one expected tensor edited, which --check must refuse with exit code 1."""
    t, meta, dtypes = oracle.load(os.path.join(harness.GOLDEN, golden + ".safetensors"))
    t = {k: (dtypes[k], np.array(v)) for k, v in t.items()}
    edit(t[name][1])
    path = r.path("edited.safetensors")
    oracle.save(path, t, meta)
    done = r.call("run", path, *r.options(), "--check")
    harness.expect(done.returncode == 1, f"an edited {name} was not found: exit code {done.returncode}\n{done.stdout}")
    harness.expect(done.stdout.strip().splitlines()[-1].strip() == "FAILED", f"the last line is not FAILED\n{done.stdout}")


def flip(a):
    a.reshape(-1).view(np.uint8)[a.nbytes // 2] ^= 1


@harness.case("check_finds_lost_token")
def _(r):
    def lose(out):  # one head of one row is off by 1 percent
        v = oracle.bf16_value(out[0, 0, 3])
        out[0, 0, 3] = oracle.bf16_bits(v * 1.01 + 1e-3)
    change(r, "basic_h64_b1_k64_p64", "out", lose)


@harness.case("check_finds_lse")
def _(r):
    def nudge(lse):
        lse[0, 5, 0] += 1e-3
    change(r, "basic_h64_b1_k64_p64", "lse", nudge)


@harness.case("check_finds_nan")
def _(r):
    def nan(out):
        out[0, 0, 0, 0] = 0x7FC0
    change(r, "basic_h64_b1_k64_p64", "out", nan)


@harness.case("check_finds_byte_of_dequant")
def _(r):
    change(r, "dequant_p16_repeat", "kv", flip)


@harness.case("check_finds_byte_of_split")
def _(r):
    change(r, "split_p128_touched", "dst", flip)


@harness.case("check_finds_mask_of_split")
def _(r):
    change(r, "split_p128_touched", "mask", lambda m: m.__setitem__(0, 1 - m[0]))


if __name__ == "__main__":
    sys.exit(harness.main(__doc__))
