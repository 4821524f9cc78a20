#!/usr/bin/env python3
"""Fault 9: byte offsets of 32 bits. Pools beyond 2 and 4 GiB, in attend, gather, split, mark and pack.

The files are sparse: a few rows near both borders hold data, the rest is holes. Each case needs up to 14 GB of memory and is skipped,
with its reason, where less is free.
"""
import json
import os
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import cases  # noqa: E402
import harness  # noqa: E402
from cases import oracle  # noqa: E402

GIB = 1 << 30


def save_sparse(path, tensors, meta):
    """tensors: name -> (dtype, shape, array) or (dtype, shape, [(byte offset, bytes)]) with holes between."""
    head, at, pieces = {"__metadata__": {k: str(v) for k, v in meta.items()}}, 0, []
    for name, (dtype, shape, data) in tensors.items():
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(oracle._NP[dtype]).itemsize
        head[name] = {"dtype": dtype, "shape": list(map(int, shape)), "data_offsets": [at, at + size]}
        pieces += [(at, np.ascontiguousarray(data, oracle._NP[dtype]).tobytes())] if not isinstance(data, list) else [(at + o, b) for o, b in data]
        assert size % 2 == 0, name  # what follows starts right here: data_offsets may leave no gap
        at += size
    j = json.dumps(head).encode()
    j += b" " * (-(len(j) + 8) % 64)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(j)) + j)
        base = f.tell()
        for o, b in pieces:
            f.seek(base + o)
            f.write(b)
        f.truncate(base + at)
    return path


def need(gigabytes):
    with open("/proc/meminfo") as f:
        free = next(int(l.split()[1]) for l in f if l.startswith("MemAvailable")) / 1e6
    disk = os.statvfs("/tmp").f_bavail * os.statvfs("/tmp").f_bsize / 1e9
    if free < gigabytes or disk < 2:
        return f"skipped: {free:.0f} GB of memory and {disk:.0f} GB of disk are free; needs {gigabytes} and 2"
    return None


def far_tokens(page_size, page_bytes, count, g):
    """Tokens on both sides of 2 and 4 GiB, and at both ends."""
    pages = int(np.ceil(4.05 * GIB / page_bytes))
    chosen = [0, pages - 1]
    for border in (2 * GIB, 4 * GIB):
        p = border // page_bytes
        chosen += [p - 1, p, p + 1]
    tokens = np.array([p * page_size + o for p in chosen for o in (0, page_size // 2, page_size - 1)])
    return pages, g.permutation(np.resize(tokens, count))


def far_case(layout, page_size, count, seed):
    """A small case of `count` tokens, and where its rows stand in a big pool: (case, pages, token of each small row, pieces)."""
    lay = oracle.Layout(layout)
    pb = lay.page_bytes(page_size)
    pages, tokens = far_tokens(page_size, pb, count, np.random.default_rng(seed))
    unique = np.unique(tokens)
    small = cases.decode(seed, layout=layout, rows=2, heads=16, topk=count, page_size=1, pool_tokens=len(unique))
    raw, pieces = small.array("k_cache"), []
    for i, token in enumerate(unique):
        p, o = divmod(int(token), page_size)
        pieces.append((p * pb + o * lay.row, raw[i, : lay.row].tobytes()))
        if lay.foot:
            pieces.append((p * pb + page_size * lay.row + o * lay.foot, raw[i, lay.row : lay.row + lay.foot].tobytes()))
    idx = np.stack([np.random.default_rng(seed + 1 + b).permutation(tokens) for b in range(2)])[:, None]
    small.set("indices", np.searchsorted(unique, idx))
    return small, pages, idx, pieces, unique


for _layout, _size in (("MODEL1", 64), ("V32", 64)):
    @harness.case(f"09_attend_{_layout.lower()}")
    def _(r, layout=_layout, page_size=_size):
        if reason := need(6):
            return reason
        small, pages, idx, pieces, _ = far_case(layout, page_size, 72, 91)
        out, lse = small.expected()
        pb = oracle.Layout(layout).page_bytes(page_size)
        pages = -(-pages // 2) * 2
        meta = dict(small.meta, page_size=page_size)
        path = save_sparse(r.path("attend.safetensors"), {
            "q": ("BF16", small.array("q").shape, small.array("q")), "indices": ("I32", idx.shape, idx), "out": ("BF16", out.shape, oracle.bf16_bits(out)),
            "lse": ("F32", lse.shape, lse), "k_cache": ("U8", (pages, pb), pieces)}, meta)
        r.check(path)


@harness.case("09_gather")
def _(r):
    if reason := need(6):
        return reason
    small, pages, idx, pieces, unique = far_case("V32", 64, 64, 92)
    lay = oracle.Layout("V32")
    kv = oracle.bf16_bits(lay.unpack(small.array("k_cache"), 1, small.array("indices")).astype(np.float32))
    path = save_sparse(r.path("gather.safetensors"), {"indices": ("I64", idx.shape, idx), "kv": ("BF16", kv.shape, kv),
                       "k_cache": ("U8", (pages, lay.page_bytes(64)), pieces)}, dict(kind="dequant", layout="V32", page_size=64))
    r.check(path)


@harness.case("09_split")
def _(r):
    """Source and destination beyond 4 GiB; touched pages only."""
    if reason := need(14):
        return reason
    lay, g = oracle.Layout("MODEL1"), np.random.default_rng(93)
    src_bytes, dst_bytes = lay.page_bytes(128), lay.page_bytes(64)
    pages, tokens = far_tokens(128, src_bytes, 24, g)
    pages = -(-pages // 32) * 32
    src, dst, mask = [], [], np.zeros(pages, np.int8)
    for p in np.unique(tokens // 128):
        page = g.integers(1, 256, src_bytes, dtype=np.uint8)
        mask[p] = 1
        src.append((int(p) * src_bytes, page.tobytes()))
        for s in range(2):
            at = (int(p) * 2 + s) * dst_bytes
            dst.append((at, page[s * 64 * 576 : (s + 1) * 64 * 576].tobytes()))
            dst.append((at + 64 * 576, page[128 * 576 + s * 512 : 128 * 576 + (s + 1) * 512].tobytes()))
    path = save_sparse(r.path("split.safetensors"), {"indices": ("I32", (1, 1, 32), np.concatenate([tokens, np.full(8, -1)])), "mask": ("I8", mask.shape, mask),
                       "src": ("U8", (pages, src_bytes), src), "dst": ("U8", (pages * 2, dst_bytes), dst)},
                       dict(kind="split", layout="MODEL1", page_size=128, dst_page_size=64, dst_page_bytes=dst_bytes, fill="0x00"))
    r.check(path)


@harness.case("09_mark")
def _(r):
    """A mask of more than 2 Gi pages, marked by 64-bit indices."""
    if reason := need(6):
        return reason
    pages = 2**31 + 64
    idx = np.array([0, 1, 2**31 - 1, 2**31, 2**31 + 63, -1, pages, 2**40] + [5] * 8)
    path = save_sparse(r.path("mark.safetensors"), {"indices": ("I64", idx.shape, idx),
                       "mask": ("I8", (pages,), [(int(i), b"\x01") for i in idx if 0 <= i < pages])}, dict(kind="mark", page_size=1, pages=pages))
    r.check(path)


@harness.case("09_pack")
def _(r):
    if reason := need(14):
        return reason
    lay = oracle.Layout("V32")
    small = r.path("small.safetensors")
    oracle.make_pack(small, "V32", 64, 1, 64, seed=94)
    t, _, _ = oracle.load(small)
    pb = lay.page_bytes(64)
    pages, tokens = far_tokens(64, pb, 24, np.random.default_rng(95))
    unique = np.unique(tokens)
    live = np.flatnonzero(t["slots"] >= 0)[: len(unique)]
    kv, slots, rows = t["kv"][live], unique[: len(live)], [t["cache"][t["slots"][i]] for i in live]
    keep = len(slots) // 16 * 16
    pieces = [(int(s) // 64 * pb + int(s) % 64 * 656, row[:656].tobytes()) for s, row in zip(slots[:keep], rows)]
    path = save_sparse(r.path("pack.safetensors"), {"kv": ("BF16", (keep, lay.d), kv[:keep]), "slots": ("I64", (keep,), slots[:keep]), "cache_before": ("U8", (pages, pb), []),
                       "cache": ("U8", (pages, pb), pieces)}, dict(kind="pack", layout="V32", page_size=64, pow2=0))
    r.check(path)


if __name__ == "__main__":
    sys.exit(harness.main(__doc__))
