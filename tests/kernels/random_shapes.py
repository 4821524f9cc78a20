#!/usr/bin/env python3
"""Property test: random shapes and options against float64. Each shape comes from a seed that is printed; run one again by its name.

Drawn: layout, page size, top-k, heads, rows, s_q, second source (own page size, top-k, lengths, gap, index width), lengths (also out of
range), sink (also infinite), negative and too large indices, repeated indices, int64, gaps between pages, a q wider than the row, head_dim_v,
scale, spread, NaN bytes in all rows that are not selected, LSE conventions, arithmetic, one split for long lists.
"""
import argparse
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import cases  # noqa: E402
import harness  # noqa: E402

PAGES = [1, 2, 3, 5, 7, 16, 31, 48, 64, 65, 69, 100, 128, 256, 320]
TOPK = [1, 2, 7, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 96, 100, 127, 128, 129, 192, 200, 257, 400, 640]
HEADS = [1, 2, 3, 7, 8, 11, 12, 15, 16, 17, 20, 22, 24, 31, 32, 33, 40, 48, 64, 66, 72]


def draw(seed):
    """The arguments of cases.decode and what is done to the case afterwards."""
    g = np.random.default_rng(seed)
    pick = lambda values: values[int(g.integers(len(values)))]
    maybe = lambda p: bool(g.random() < p)
    a = dict(layout=pick(["MODEL1", "MODEL1", "V32"]), page_size=pick(PAGES), topk=pick(TOPK), rows=int(g.integers(1, 5)), heads=pick(HEADS),
             s_q=pick([1, 1, 1, 2, 3, 5]), index=pick(["I32", "I32", "I64"]), sink=maybe(0.4), negatives=pick([0, 0, 0.1, 0.5]),
             gap=pick([0, 0, 0, 16, 48, 512]), spread=pick([1.0, 1.0, 0.01, 8.0]), arbitrary_scales=maybe(0.7))
    if maybe(0.3):
        a["head_dim_v"] = pick([8, 64, 100, 256, 448, 500])
    if maybe(0.3):
        a["scale"] = pick([0.01, 0.1, 0.3])
    if a["layout"] == "MODEL1" and maybe(0.15):
        a["q_columns"] = 576
    if maybe(0.4):
        a["lengths"] = "random"
    if maybe(0.4):
        a["extra"] = dict(topk=pick(TOPK), page_size=pick(PAGES), index=pick(["I32", "I64"]), gap=pick([0, 0, 32]), lengths="random" if maybe(0.4) else None)
    if maybe(0.15):
        a["lse_base"] = "2"
    if maybe(0.15):
        a["lse_empty"] = "+inf"
    if a["rows"] * a["s_q"] * a["heads"] * (a["topk"] + (a["extra"]["topk"] if "extra" in a else 0)) > 60000:  # keep one case under a second or two
        a["rows"], a["s_q"] = 1, 1
    if maybe(0.25) and a.get("head_dim_v", 512) > 8:  # the error of 8 columns is not an average
        a["arith"] = pick(["bf16", "fp8"])
    after = [name for name, p in (("poison", 0.5), ("wild_lengths", 0.2), ("beyond", 0.2), ("hot_sink", 0.3), ("empty_row", 0.2)) if maybe(p)]
    return a, after


def build(seed):
    a, after = draw(seed)
    c = cases.decode(seed, **a)
    g = np.random.default_rng([seed, 1])
    prefixes = [p for p, _ in cases.SOURCES if p + "indices" in c.t]
    if "empty_row" in after:
        for p in prefixes:
            idx = c.array(p + "indices")
            idx[0] = -1
            c.set(p + "indices", idx)
    if "wild_lengths" in after:
        for p in prefixes:
            if p + "topk_length" in c.t:
                n = c.array(p + "topk_length")
                n[0] = -3
                n[-1] = c.array(p + "indices").shape[-1] + 1000 if len(n) > 1 else n[-1]
                c.set(p + "topk_length", n)
    for p, key in cases.SOURCES:
        if p + "indices" not in c.t:
            continue
        idx, pool = c.array(p + "indices"), c.array(p + "k_cache").shape[0] * int(c.meta[key])
        if "beyond" in after:
            idx[..., ::5] = g.choice([pool, pool + 1, 2**31 - 1], idx[..., ::5].shape)
        dead = ~cases.live_lanes(c, p)
        idx[dead] = g.choice([2**31 - 1, -2, -(2**31), pool, 0], idx.shape)[dead]
        c.set(p + "indices", idx)
    if "hot_sink" in after and "attn_sink" in c.t:
        sink = c.array("attn_sink")
        sink[: min(4, len(sink))] = [-np.inf, np.inf, 80.0, -60.0][: min(4, len(sink))]
        c.set("attn_sink", sink)
    if "poison" in after:
        c = cases.poison(c)
    note = " ".join(f"{k}={v}" for k, v in a.items()) + (" " if after else "") + " ".join(after)
    return c, note


def check(r, seed):
    c, note = build(seed)
    long_ring = seed % 4 == 0 and c.array("indices").shape[-1] > 100  # each slot of a ring more than twice
    try:
        r.check_case(c, schedule="splits=1" if long_ring else None)
    except harness.Failure as e:
        raise harness.Failure(f"[{note}]\n{e}")
    return note


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_flags(parser)
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=60)
    known = parser.parse_known_args()[0]
    for _seed in range(known.seed, known.seed + known.count):
        harness.case(f"seed{_seed}")(lambda r, s=_seed: check(r, s))
    print(f"seeds {known.seed} to {known.seed + known.count - 1}")
    sys.exit(harness.main(__doc__, parser, [f"--seed={known.seed}", f"--count={known.count}"]))
