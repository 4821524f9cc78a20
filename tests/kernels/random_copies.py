#!/usr/bin/env python3
"""Property test of the kernels that move bytes: gather_dequant, page_split, page_mark, pack_kv with random shapes, bit for bit.

Each shape comes from a seed; run one again by its name.
"""
import argparse
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import harness  # noqa: E402
from cases import oracle  # noqa: E402

PAGES = [1, 2, 3, 7, 16, 48, 64, 69, 100, 256, 577]
NUMBERS = np.array([c for c in range(256) if c & 0x7F != 0x7F], np.uint8)


def pool_with_gap(raw, gap):
    return np.concatenate([raw, np.full((len(raw), gap), 0xFF, np.uint8)], 1) if gap else raw


def dequant(g, path):
    layout, ps, n = g.choice(["MODEL1", "V32"]), int(g.choice(PAGES)), int(g.choice([1, 2, 17, 64, 65, 200]))
    lay, pages = oracle.Layout(str(layout)), int(g.integers(1, 5))
    raw = lay.pack(g, (g.normal(size=(pages * ps, lay.d)) * 10.0 ** g.uniform(-3, 1)).clip(-400, 400), ps, pages, exact_pow2=False)
    if g.random() < 0.5:  # any code in any row
        for t in range(pages * ps):
            raw[t // ps, t % ps * lay.row : t % ps * lay.row + lay.nope] = g.choice(NUMBERS, lay.nope)
    idx = g.integers(0, pages * ps, ((n,), (1, n), (2, 1, n))[int(g.integers(3))])
    dtype = str(g.choice(["I32", "I64"]))
    gap = int(g.choice([0, 0, 16, 240]))
    kv = oracle.bf16_bits(lay.unpack(raw, ps, idx).astype(np.float32))
    oracle.save(path, {"k_cache": ("U8", pool_with_gap(raw, gap)), "indices": (dtype, idx), "kv": ("BF16", kv)}, dict(kind="dequant", layout=layout, page_size=ps))
    return f"dequant {layout} page_size={ps} n={n} {dtype} gap={gap}"


def indices_into(g, n, pool):
    """Some repeated, some negative, some beyond the pool."""
    idx = g.integers(0, pool, n)
    idx[g.random(n) < 0.2] = -1
    idx[g.random(n) < 0.2] = g.choice([pool, pool + 7, 2**31 - 1])
    return idx


def mask_of(idx, ps, pages):
    mask = np.zeros(pages, np.int8)
    ok = idx[(idx >= 0) & (idx < pages * ps)]
    mask[ok // ps] = 1
    return mask


def split(g, path):
    lay, r, pages = oracle.Layout("MODEL1"), int(g.integers(1, 9)), int(g.integers(1, 6))
    ps = 64 * r
    src = pool_with_gap(g.integers(0, 256, (pages, lay.page_bytes(ps)), dtype=np.uint8), 0 if r == 1 else int(g.choice([0, 64])))
    dst_bytes = src.shape[1] if r == 1 else lay.page_bytes(64) + int(g.choice([0, 64, 576]))
    t, mask = {"src": ("U8", src)}, np.ones(pages, np.int8)
    if marked := bool(g.random() < 0.7):
        idx = indices_into(g, int(g.choice([1, 5, 40])), pages * ps).reshape(1, 1, -1)
        dtype = str(g.choice(["I32", "I64"]))
        t["indices"], mask = (dtype, idx), mask_of(idx, ps, pages)
    fill = int(g.integers(256))
    dst = np.full((pages * r, dst_bytes), fill, np.uint8)
    for p in np.flatnonzero(mask):
        for s in range(r):
            dst[p * r + s, : 64 * 576] = src[p, s * 64 * 576 : (s + 1) * 64 * 576]
            o = ps * 576 + s * 512
            dst[p * r + s, 64 * 576 : 64 * 584] = src[p, o : o + 512]
    if r == 1:
        dst = src
    t["dst"], t["mask"] = ("U8", dst), ("I8", mask)
    oracle.save(path, t, dict(kind="split", layout="MODEL1", page_size=ps, dst_page_size=64, dst_page_bytes=dst_bytes, fill=f"0x{fill:02X}"))
    return f"split page_size={ps} pages={pages} marked={marked} dst_page_bytes={dst_bytes}"


def mark(g, path):
    ps, pages, n = int(g.choice(PAGES)), int(g.choice([1, 3, 100, 5000])), int(g.choice([1, 7, 64, 1000, 5000]))
    idx = indices_into(g, n, ps * pages).reshape(((n,), (1, n), (1, 1, n))[int(g.integers(3))])
    dtype = str(g.choice(["I32", "I64"]))
    oracle.save(path, {"indices": (dtype, idx), "mask": ("I8", mask_of(idx, ps, pages))}, dict(kind="mark", page_size=ps, pages=pages))
    return f"mark page_size={ps} pages={pages} n={n} {dtype}"


def pack(g, path):
    layout, ps, pages = str(g.choice(["MODEL1", "V32"])), int(g.choice(PAGES)), int(g.integers(1, 5))
    n, pow2, wide, spread = int(g.integers(1, min(ps * pages, 70) + 1)), bool(g.random() < 0.4), bool(g.random() < 0.5), float(10.0 ** g.uniform(-7, 3))
    oracle.make_pack(path, layout, n, ps, pages, pow2=pow2, int64=wide, seed=int(g.integers(1 << 30)), spread=spread)
    return f"pack {layout} page_size={ps} pages={pages} n={n} pow2={pow2} int64={wide} spread={spread:.1e}"


KINDS = (dequant, split, mark, pack)


def check(r, seed):
    path = r.path("case.safetensors")
    note = KINDS[seed % 4](np.random.default_rng(seed), path)
    try:
        r.check(path)
    except harness.Failure as e:
        raise harness.Failure(f"[{note}]\n{e}")
    return note


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_flags(parser)
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=80)
    known = parser.parse_known_args()[0]
    for _seed in range(known.seed, known.seed + known.count):
        harness.case(f"seed{_seed}")(lambda r, s=_seed: check(r, s))
    print(f"seeds {known.seed} to {known.seed + known.count - 1}")
    sys.exit(harness.main(__doc__, parser, [f"--seed={known.seed}", f"--count={known.count}"]))
