"""Case files built in Python: inputs by the oracle's formats, expected tensors by its float64 reference.

A Case is a dict of (dtype, array) and metadata; it can be changed and saved again, with or without expected tensors.
"""
import copy
import os
import struct
import sys
import json

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "oracle"))
import oracle  # noqa: E402


class Case:
    def __init__(self, tensors, meta):
        self.t, self.meta = tensors, {k: str(v) for k, v in meta.items()}

    def copy(self):
        return Case(copy.deepcopy(self.t), dict(self.meta))

    def array(self, name):
        dtype, a = self.t[name]
        return np.asarray(a, oracle._NP[dtype])

    def set(self, name, array, dtype=None):
        self.t[name] = (dtype or self.t[name][0], array)
        return self

    def expected(self):
        """(out, lse) in float64 by the reference, lse in the conventions that the metadata asks for."""
        out, lse = oracle.decode_reference({k: self.array(k) for k in self.t}, self.meta)
        empty = np.isneginf(lse)
        if self.meta.get("lse_sink", "0") == "1" and "attn_sink" in self.t:
            lse = np.where(empty, lse, np.logaddexp(lse, self.array("attn_sink").astype(np.float64)[None, :, None]))
        if self.meta.get("lse_base", "e") == "2":
            lse = lse / np.log(2.0)
        if self.meta.get("lse_empty", "-inf") == "+inf":
            lse = np.where(empty, np.inf, lse)
        return out, lse

    def save(self, path, expect=True):
        t = dict(self.t)
        if expect:
            out, lse = self.expected()
            t["out"], t["lse"] = ("BF16", oracle.bf16_bits(out)), ("F32", lse)
        oracle.save(path, t, self.meta)
        return path


def decode(seed=0, *, layout="MODEL1", rows=2, heads=16, topk=64, page_size=64, s_q=1, extra=None, sink=False, negatives=0.0, index="I32",
           head_dim_v=512, scale=None, gap=0, q_columns=None, spread=1.0, pool_tokens=None, lengths=None, arbitrary_scales=True, **meta):
    """One decode case. extra: dict of topk, page_size and optionally gap, index, lengths, pool_tokens for a second source.
    lengths: None, "random", or a list of rows values."""
    rng, lay = np.random.default_rng(seed), oracle.Layout(layout)
    q_columns = q_columns or lay.d
    m = dict(kind="decode", layout=layout, page_size=page_size, extra_page_size=extra["page_size"] if extra else 0,
             softmax_scale=repr(float(scale if scale is not None else q_columns**-0.5)), head_dim_v=head_dim_v, **meta)
    t = {"q": ("BF16", oracle.bf16_bits(rng.normal(size=(rows, s_q, heads, q_columns)).clip(-3, 3)))}

    def source(prefix, k, ps, gap, index, lengths, pool_tokens):
        pages = max(2, -(-(pool_tokens or max(2 * k, 32)) // ps))
        n = pages * ps
        x = (rng.normal(size=(n, lay.d)) * spread).clip(-4, 4)
        raw = lay.pack(rng, x, ps, pages, exact_pow2=not arbitrary_scales)
        if gap:
            raw = np.concatenate([raw, np.full((pages, gap), 0xFF, np.uint8)], 1)
        idx = rng.integers(0, n, (rows, s_q, k)) if n < k or seed % 3 == 0 else np.stack([rng.permutation(n)[:k] for _ in range(rows * s_q)]).reshape(rows, s_q, k)
        idx[rng.random(idx.shape) < negatives] = -1
        t[prefix + "k_cache"] = ("U8", raw)
        t[prefix + "indices"] = (index, idx)
        if lengths is not None:
            t[prefix + "topk_length"] = ("I32", rng.integers(0, k + 1, rows) if isinstance(lengths, str) else np.array(lengths))

    source("", topk, page_size, gap, index, lengths, pool_tokens)
    if extra:
        source("extra_", extra["topk"], extra["page_size"], extra.get("gap", 0), extra.get("index", index), extra.get("lengths"), extra.get("pool_tokens"))
    if sink is not False:
        t["attn_sink"] = ("F32", rng.normal(size=heads) * 3 if sink is True else np.resize(np.array(sink, np.float32), heads))
    return Case(t, m)


def decode_lse(case):
    """The natural LSE without sink in float64; -inf where a row is empty."""
    return oracle.decode_reference({k: case.array(k) for k in case.t}, case.meta)[1]


SOURCES = (("", "page_size"), ("extra_", "extra_page_size"))


def selected(case, prefix=""):
    """Boolean [pool tokens]: selected by some row."""
    ps = int(case.meta["page_size" if prefix == "" else "extra_page_size"])
    n = case.array(prefix + "k_cache").shape[0] * ps
    idx = case.array(prefix + "indices").astype(np.int64)
    live = live_lanes(case, prefix) & (idx >= 0) & (idx < n)
    used = np.zeros(n, bool)
    used[idx[live]] = True
    return used


def live_lanes(case, prefix=""):
    """Boolean like the indices: lanes before the row's length."""
    idx = case.array(prefix + "indices")
    k = idx.shape[-1]
    live = np.ones(idx.shape, bool)
    if prefix + "topk_length" in case.t:
        live &= np.arange(k)[None, None, :] < np.clip(case.array(prefix + "topk_length"), 0, k)[:, None, None]
    return live


def poison(case):
    """A copy in which each byte of a row that is not selected is a NaN code (data 0x7F, scales 0xFF), gaps and pads too."""
    c = case.copy()
    lay = oracle.Layout(c.meta["layout"])
    for prefix, key in SOURCES:
        if prefix + "k_cache" not in c.t:
            continue
        ps, used, old = int(c.meta[key]), selected(c, prefix), c.array(prefix + "k_cache")
        raw = np.full_like(old, 0xFF)
        for token in np.flatnonzero(used):
            p, o = divmod(int(token), ps)
            raw[p, o * lay.row : (o + 1) * lay.row] = old[p, o * lay.row : (o + 1) * lay.row]
            if lay.foot:
                f = ps * lay.row + o * lay.foot
                raw[p, f : f + lay.foot] = old[p, f : f + lay.foot]
        for token in np.flatnonzero(~used):
            p, o = divmod(int(token), ps)
            raw[p, o * lay.row : o * lay.row + lay.nope] = 0x7F
        c.set(prefix + "k_cache", raw)
    return c


def write_raw(path, header, data, length=None):
    """A safetensors file with any header (dict or bytes) and any claimed header length, for lying files."""
    j = header if isinstance(header, bytes) else json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(j) if length is None else length) + j + data)
    return path
