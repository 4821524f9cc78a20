#!/usr/bin/env python3
"""Wrong-result faults 1 to 15 that users of sparse-attention systems met (docs/faults.md), one named group each.

Names are NN_what; `faults_01_15.py 07` runs all of fault 7. Cases run on any device; what is compared bit for bit is so on each.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import cases  # noqa: E402
import harness  # noqa: E402
from cases import oracle  # noqa: E402
from harness import case, close, expect, same_bits  # noqa: E402

LAYOUTS = ("MODEL1", "V32")


def split_schedule(r, n):
    return ",".join(filter(None, [r.args.schedule, f"splits={n}"]))


# ---------------------------------------------------------------- 1: a slot that is not selected has no influence

def poisoned_equals_clean(r, c, what):
    same_bits(r.decode(cases.poison(c), "poison"), r.decode(c, "clean"), what)
    r.check_case(cases.poison(c), "poison")


for _layout in LAYOUTS:
    @case(f"01_poison_{_layout.lower()}")
    def _(r, layout=_layout):
        c = cases.decode(11, layout=layout, rows=3, heads=16, topk=130, page_size=64)
        idx = c.array("indices")
        idx[..., [0, 63, 64, -1]] = -1
        c.set("indices", idx)
        poisoned_equals_clean(r, c, "lanes 0, 63, 64 and the last are -1")


@case("01_poison_lengths_and_second_source")
def _(r):
    c = cases.decode(12, rows=4, heads=8, topk=96, page_size=48, negatives=0.3, lengths=[0, 1, 95, 96], extra=dict(topk=40, page_size=3, lengths=[40, 0, 7, 39]), sink=True)
    poisoned_equals_clean(r, c, "lengths and a second source")


@case("01_poison_splits")
def _(r):
    c = cases.decode(13, rows=2, heads=16, topk=256, page_size=64, negatives=0.5, lengths=[70, 256])
    for n in (1, 3):
        schedule = split_schedule(r, n)
        same_bits(r.decode(cases.poison(c), "poison", schedule), r.decode(c, "clean", schedule), f"{n} splits")


# ---------------------------------------------------------------- 2: lanes past the length are not addresses

@case("02_wild_lanes")
def _(r):
    for layout in LAYOUTS:
        c = cases.decode(21, layout=layout, rows=4, heads=16, topk=130, page_size=64, lengths=[0, 1, 64, 129], extra=dict(topk=33, page_size=16, lengths=[33, 0, 1, 16]))
        tame, wild = c.copy(), c.copy()
        for p, key in cases.SOURCES:
            pool = c.array(p + "k_cache").shape[0] * int(c.meta[key])
            dead, idx = ~cases.live_lanes(c, p), c.array(p + "indices")
            tame.set(p + "indices", np.where(dead, -1, idx))
            wild.set(p + "indices", np.where(dead, np.resize([2**31 - 1, -2, -(2**31), pool], idx.shape), idx))
        same_bits(r.decode(wild, "wild"), r.decode(tame, "tame"), layout)


@case("02_wild_lanes_int64")
def _(r):
    c = cases.decode(22, rows=2, heads=16, topk=70, page_size=64, index="I64", lengths=[3, 69])
    dead, idx = ~cases.live_lanes(c), c.array("indices")
    wild = c.copy().set("indices", np.where(dead, np.resize([2**63 - 1, -(2**63), 2**32, 2**32 + 1, -(2**32)], idx.shape), idx))
    same_bits(r.decode(wild, "wild"), r.decode(c.copy().set("indices", np.where(dead, -1, idx)), "tame"), "64-bit values")


@case("02_beyond_pool_is_no_token")
def _(r):
    c = cases.decode(23, rows=2, heads=16, topk=70, page_size=64, index="I64")
    idx = c.array("indices")
    pool = c.array("k_cache").shape[0] * 64
    wild = c.copy().set("indices", np.where(np.arange(70) % 5 == 0, np.resize([pool, 2**32, 2**32 + 1, -(2**40), 2**63 - 1], 70), idx))
    none = c.copy().set("indices", np.where(np.arange(70) % 5 == 0, -1, idx))
    same_bits(r.decode(wild, "wild"), r.decode(none, "none"), "an index of 2^32 + 1 must not become 1")


# ---------------------------------------------------------------- 3: empty rows

def empty_cases():
    yield "length_0", cases.decode(31, rows=3, heads=16, topk=70, page_size=64, lengths=[0, 5, 0])
    c = cases.decode(32, rows=3, heads=16, topk=70, page_size=64)
    yield "all_negative", c.set("indices", np.where(np.arange(3)[:, None, None] == 1, -1, c.array("indices")))
    yield "first_source_empty", cases.decode(33, rows=3, heads=16, topk=70, page_size=64, lengths=[0, 70, 0], extra=dict(topk=40, page_size=2, lengths=[40, 0, 0]))
    yield "second_source_empty", cases.decode(34, rows=3, heads=16, topk=70, page_size=64, lengths=[70, 1, 7], extra=dict(topk=40, page_size=2, lengths=[0, 0, 0]))
    yield "sink", cases.decode(35, rows=3, heads=16, topk=70, page_size=64, lengths=[0, 70, 0], sink=[-np.inf, np.inf, 80, 0.5])
    yield "lse_empty_inf", cases.decode(36, rows=3, heads=16, topk=70, page_size=64, lengths=[0, 70, 0], lse_empty="+inf")


for _name in ("length_0", "all_negative", "first_source_empty", "second_source_empty", "sink", "lse_empty_inf"):
    @case(f"03_empty_{_name}")
    def _(r, name=_name):
        c = dict(empty_cases())[name]
        r.check_case(c)
        r.check_case(cases.poison(c), "poison")
        out, _ = r.decode(c)
        empty = np.isneginf(cases.decode_lse(c))
        expect(empty.any() or name == "second_source_empty", "the case has no empty row")
        expect(not (out.transpose(0, 2, 1, 3)[empty] & 0x7FFF).any(), "an empty row's output is not 0")


@case("03_empty_splits")
def _(r):
    """One split empty; all splits but one empty; the one with tokens first, middle, last."""
    for seed, (lo, hi) in enumerate(((0, 64), (100, 140), (200, 256), (0, 200), (255, 256), (0, 1))):
        c = cases.decode(37 + seed, rows=2, heads=16, topk=256, page_size=64, sink=True)
        lane = np.arange(256)
        c.set("indices", np.where((lane >= lo) & (lane < hi), c.array("indices"), -1))
        for n in (2, 4):
            r.check_case(cases.poison(c), f"tokens_{lo}_{hi}", split_schedule(r, n))


# ---------------------------------------------------------------- 4: lengths are clamped

@case("04_lengths_clamped")
def _(r):
    lengths = [-1, -(2**31), 71, 2**31 - 1, 70]
    c = cases.decode(41, rows=5, heads=16, topk=70, page_size=64, lengths=lengths, extra=dict(topk=33, page_size=16, lengths=lengths))
    tame = c.copy().set("topk_length", np.clip(lengths, 0, 70)).set("extra_topk_length", np.clip(lengths, 0, 33))
    same_bits(r.decode(c, "wild"), r.decode(tame, "clamped"), "lengths out of range")
    r.check_case(c)


# ---------------------------------------------------------------- 5: the sink counts once

@case("05_sink_values")
def _(r):
    for sink in ([-np.inf], [np.inf], [80.0], [-80.0], [0.0], [-np.inf, np.inf, 80, 0.25]):
        r.check_case(cases.decode(51, rows=2, heads=16, topk=70, page_size=64, sink=sink))


@case("05_sink_once_for_sources_and_splits")
def _(r):
    for layout in LAYOUTS:
        c = cases.decode(52, layout=layout, rows=2, heads=12, topk=200, page_size=64, sink=[1.5, 3.0, -2.0], extra=dict(topk=130, page_size=16))
        for n in (1, 2, 5):
            r.check_case(c, f"splits{n}", split_schedule(r, n))


@case("05_sink_minus_inf_is_none")
def _(r):
    c = cases.decode(53, rows=2, heads=16, topk=70, page_size=64, sink=[-np.inf])
    none = c.copy()
    del none.t["attn_sink"]
    same_bits(r.decode(c, "sink"), r.decode(none, "none"), "a sink of -inf")


@case("05_sink_of_another_dtype_is_an_error")
def _(r):
    c = cases.decode(54, rows=1, heads=16, topk=16, page_size=64, sink=True)
    c.t["attn_sink"] = ("BF16", oracle.bf16_bits(c.array("attn_sink")))
    done = r.call("run", c.save(r.path("sink.safetensors"), expect=False), *r.options(), "--out", r.path("o.safetensors"))
    expect(done.returncode == 2 and "attn_sink" in done.stderr, f"exit code {done.returncode}: {done.stderr}")


# ---------------------------------------------------------------- 6: LSE conventions

for _base in ("e", "2"):
    for _sink in ("0", "1"):
        for _empty in ("-inf", "+inf"):
            @case(f"06_lse_base_{_base}_sink_{_sink}_empty_{_empty.replace('-', 'minus_').replace('+', 'plus_')}")
            def _(r, base=_base, sink=_sink, empty=_empty):
                lengths = [70, 3, 1] if sink == "1" else [70, 3, 0]
                for n in (1, 3):
                    r.check_case(cases.decode(61, rows=3, heads=16, topk=70, page_size=64, lengths=lengths, sink=True, lse_base=base, lse_sink=sink, lse_empty=empty), schedule=split_schedule(r, n))


def parts_of(c, n):
    """n cases, each with a part of the lanes, that together are c (without its sink)."""
    lanes = np.array_split(np.arange(c.array("indices").shape[-1]), n)
    for lane in lanes:
        p = c.copy()
        p.t.pop("attn_sink", None)
        yield p.set("indices", c.array("indices")[..., lane])


def merge(parts, sink):
    """(out, lse) in float64 from parts' (out, lse) bits."""
    outs = np.stack([oracle.bf16_value(o) for o, _ in parts])
    lses = np.stack([l.view(np.float32).astype(np.float64) for _, l in parts])
    m = lses.max(0)
    w = np.where(np.isneginf(lses), 0, np.exp(lses - np.where(np.isneginf(m), 0, m)))
    total = w.sum(0)
    with np.errstate(divide="ignore"):
        lse = np.where(np.isneginf(m), -np.inf, m + np.log(total))
        den = total + (np.exp(sink[None, :, None] - m) if sink is not None else 0)
    out = (outs * w.transpose(0, 1, 3, 2)[..., None]).sum(0) / np.where(total > 0, den, 1).transpose(0, 2, 1)[..., None]
    return out, lse


@case("06_parts_merged_by_lse")
def _(r):
    for n in (2, 3, 7):
        for layout in LAYOUTS:
            c = cases.decode(62 + n, layout=layout, rows=2, heads=16, topk=200, page_size=64, negatives=0.1, sink=True)
            whole, lse = c.expected()
            got = merge([r.decode(p, f"part{i}") for i, p in enumerate(parts_of(c, n))], c.array("attn_sink").astype(np.float64))
            bits = oracle.bf16_bits(got[0]), got[1].astype(np.float32).view(np.uint32)
            close(bits, whole, lse, f"{n} parts of {layout}")


@case("06_combine_of_given_parts")
def _(r):
    """The combine kernel on parts made here, some of them empty, with and without a sink."""
    g = np.random.default_rng(69)
    for n, heads, dv, with_sink in ((1, 16, 512, False), (2, 3, 512, True), (3, 16, 448, True), (7, 66, 512, False), (33, 8, 100, True)):
        b, s = 3, 2
        part_out, part_lse = g.normal(size=(b, s, heads, n, dv)).astype(np.float32), (g.normal(size=(b, s, heads, n)) * 4).astype(np.float32)
        gone = g.random((b, s, heads, n)) < 0.3
        gone[0, 0, 0] = True
        part_lse[gone], part_out[gone] = -np.inf, 0
        m = np.max(part_lse.astype(np.float64), -1)
        none = np.isneginf(m)
        w = np.where(gone, 0, np.exp(part_lse - np.where(none, 0, m)[..., None].astype(np.float64)))
        total = w.sum(-1)
        lse = np.where(none, -np.inf, m + np.log(np.where(none, 1, total)))
        sink = g.normal(size=heads) * 3
        den = total + (np.exp(sink[None, None, :] - np.where(none, 0, m)) if with_sink else 0)
        out = (part_out * w[..., None]).sum(-2) / np.where(none, 1, den)[..., None]
        t = {"part_out": ("F32", part_out), "part_lse": ("F32", part_lse), "out": ("BF16", oracle.bf16_bits(out)), "lse": ("F32", lse.transpose(0, 2, 1))}
        if with_sink:
            t["attn_sink"] = ("F32", sink)
        path = r.path(f"combine{n}.safetensors")
        oracle.save(path, t, dict(kind="combine", head_dim_v=dv))
        r.check(path)


# ---------------------------------------------------------------- 7: page sizes, strides, footers

for _layout in LAYOUTS:
    @case(f"07_page_sizes_{_layout.lower()}")
    def _(r, layout=_layout):
        for page_size in (1, 2, 3, 7, 48, 69, 100, 577, 1000):
            r.check_case(cases.poison(cases.decode(70 + page_size, layout=layout, rows=2, heads=16, topk=66, page_size=page_size)), f"p{page_size}")


@case("07_second_source_of_another_page_size")
def _(r):
    for first, second in ((256, 2), (64, 69), (3, 256), (1, 1000)):
        for layout in LAYOUTS:
            r.check_case(cases.poison(cases.decode(71, layout=layout, rows=2, heads=16, topk=66, page_size=first, extra=dict(topk=34, page_size=second))), f"p{first}_p{second}")


@case("07_gap_between_pages")
def _(r):
    """The stride is larger than the page; the footer of scales is found by the page size and not by the stride."""
    for layout in LAYOUTS:
        for gap in (16, 576, 4096):
            c = cases.decode(72, layout=layout, rows=2, heads=16, topk=66, page_size=48, gap=gap, extra=dict(topk=34, page_size=3, gap=2 * gap))
            r.check_case(c, f"gap{gap}")
            dense = c.copy()
            for p, key in cases.SOURCES:
                dense.set(p + "k_cache", c.array(p + "k_cache")[:, : oracle.Layout(layout).page_bytes(int(c.meta[key]))])
            same_bits(r.decode(c, "gap"), r.decode(dense, "dense"), f"{layout} with a gap of {gap}")


# ---------------------------------------------------------------- 8: top-k and heads that fit no tile

@case("08_topk_not_a_multiple_of_the_tile")
def _(r):
    for i, topk in enumerate((1, 63, 65, 127, 192, 1152, 2051, 2176)):
        layout = LAYOUTS[i % 2]
        r.check_case(cases.poison(cases.decode(80 + i, layout=layout, rows=1, heads=8, topk=topk, page_size=64)), f"k{topk}")


@case("08_heads_not_a_multiple_of_16")
def _(r):
    for i, heads in enumerate((1, 3, 11, 12, 20, 22, 33, 66, 72, 130)):
        layout = LAYOUTS[i % 2]
        r.check_case(cases.decode(90 + i, layout=layout, rows=2, heads=heads, topk=65, page_size=64, s_q=2, sink=True), f"h{heads}")


@case("08_heads_do_not_touch_each_other")
def _(r):
    """Heads are independent: the first h heads alone have the values that they have among more."""
    c = cases.decode(88, rows=2, heads=72, topk=65, page_size=64, sink=True)
    out, lse = c.expected()
    for heads in (1, 11, 17, 33, 71):
        few = c.copy().set("q", c.array("q")[:, :, :heads]).set("attn_sink", c.array("attn_sink")[:heads])
        close(r.decode(few, f"h{heads}"), out[:, :, :heads], lse[:, :heads], f"the first {heads} of 72 heads")


@case("08_head_dim_v")
def _(r):
    for dv in (8, 100, 448, 500, 512):
        for layout in LAYOUTS:
            r.check_case(cases.decode(89, layout=layout, rows=2, heads=12, topk=65, page_size=64, head_dim_v=dv), f"dv{dv}")
    r.check_case(cases.decode(89, rows=2, heads=12, topk=1, page_size=64, head_dim_v=1), "dv1")
    r.check_case(cases.decode(89, layout="V32", rows=2, heads=12, topk=65, page_size=64, head_dim_v=576), "dv576")


# ---------------------------------------------------------------- 10: scales and codes

def scale_case(layout, scales, seed, codes=None, **kw):
    """A decode case whose rows' scales are the given values (UE8M0 codes or fp32), and whose codes may be given too."""
    c = cases.decode(seed, layout=layout, page_size=16, **kw)
    lay, raw = oracle.Layout(layout), c.array("k_cache").copy()
    g = np.random.default_rng(seed)
    for token in range(raw.shape[0] * 16):
        p, o = divmod(token, 16)
        row, foot = raw[p, o * lay.row : (o + 1) * lay.row], raw[p, 16 * lay.row + o * lay.foot : 16 * lay.row + (o + 1) * lay.foot]
        if codes is not None:
            row[: lay.nope] = g.choice(codes, lay.nope)
        if lay.foot:
            foot[: lay.tiles] = g.choice(scales, lay.tiles)
        else:
            row[512:528] = g.choice(np.array(scales, np.float32), 4).view(np.uint8)
    return c.set("k_cache", raw)


def dequant(r, layout, raw, idx, name):
    """kv bits of the command and of the reference; a NaN is a NaN whatever its bits."""
    path = r.path(name + ".safetensors")
    oracle.save(path, {"k_cache": ("U8", raw), "indices": ("I32", idx)}, dict(kind="dequant", layout=layout, page_size=16))
    got = r.tensors(path)[0]["kv"]
    with np.errstate(over="ignore"):
        want = oracle.bf16_bits(oracle.Layout(layout).unpack(raw, 16, idx).astype(np.float32))
    nan = np.isnan(oracle.bf16_value(want))
    expect(np.array_equal(np.isnan(oracle.bf16_value(got)), nan), f"{name}: NaN in other places")
    n = int((got != want)[~nan].sum())
    expect(n == 0, f"{name}: {n} of {want.size} values differ")


ALL_CODES = np.arange(256, dtype=np.uint8)
NUMBERS = ALL_CODES[(ALL_CODES & 0x7F) != 0x7F]
SUBNORMALS = NUMBERS[(NUMBERS & 0x78) == 0]


@case("10_fp32_scales_as_they_are")
def _(r):
    for scales in ([0.3], [1.7e-3], [0.3, 1.7e-3, 0.01], [3e4, 0.3], [1e-30]):
        kw = dict(scale=1e-6) if max(scales) > 1e3 else {}
        r.check_case(scale_case("V32", scales, 101, rows=2, heads=16, topk=40, **kw))
        r.check_case(scale_case("V32", scales, 102, codes=NUMBERS, rows=2, heads=16, topk=40, scale=1e-7 if max(scales) > 1e3 else 1e-3))


@case("10_ue8m0_codes")
def _(r):
    for scales in ([0], [1], [0, 1, 127], [127, 130, 100], [118, 119]):
        r.check_case(scale_case("MODEL1", scales, 103, codes=NUMBERS, rows=2, heads=16, topk=40, scale=1e-3))


@case("10_nan_of_a_selected_row_stays_there")
def _(r):
    """UE8M0 code 255 and E4M3 code 0x7F or 0xFF in a selected row give NaN in the rows that select it, nowhere else."""
    for byte, where in ((255, "scale"), (0x7F, "code"), (0xFF, "code")):
        c = cases.decode(104, rows=3, heads=16, topk=40, page_size=16)
        raw, idx = c.array("k_cache").copy(), c.array("indices").copy()
        idx[1][idx[1] == 5] = 6
        idx[0, 0, 3] = 5
        raw[0, 16 * 576 + 5 * 8 + 2 if where == "scale" else 5 * 576 + 130] = byte
        c.set("k_cache", raw).set("indices", idx)
        r.check_case(c, f"{where}_{byte}")


@case("10_dequant_all_codes")
def _(r):
    g = np.random.default_rng(105)
    idx = np.arange(48, dtype=np.int32)[None]
    for layout, scales in (("MODEL1", ALL_CODES), ("V32", np.array([0.3, 1.7e-3, 3e4, 1e-30, 1.0, 2.0**-126, 1.2e-38, 3e38], np.float32))):
        lay = oracle.Layout(layout)
        raw = g.integers(0, 256, (3, lay.page_bytes(16)), dtype=np.uint8)
        for token in range(48):
            p, o = divmod(token, 16)
            row, foot = raw[p, o * lay.row :], raw[p, 16 * lay.row + o * 8 :]
            row[: lay.nope] = np.resize(np.roll(ALL_CODES, 31 * token), lay.nope)
            if lay.foot:
                foot[:7] = np.resize(np.roll(scales, -7 * token), 7)
            else:
                row[512:528] = np.resize(np.roll(scales, token), 4).view(np.uint8)
        dequant(r, layout, raw, idx, f"all_codes_{layout}")


@case("10_e4m3_subnormals")
def _(r):
    for layout, scales in (("MODEL1", [127, 120]), ("V32", [1.0, 0.3])):
        r.check_case(scale_case(layout, scales, 106, codes=SUBNORMALS, rows=2, heads=16, topk=40))


# ---------------------------------------------------------------- 11, 12: other batch, other route

@case("11_batch_invariant")
def _(r):
    """A row's bits do not depend on the rows beside it."""
    c = cases.decode(111, rows=65, heads=16, topk=200, page_size=64, lengths="random", batch_invariant="1")
    whole = r.decode(c, "b65")
    for rows in (1, 3, 16, 64):
        few = c.copy()
        for name in ("q", "indices", "topk_length"):
            few.set(name, c.array(name)[:rows])
        got = r.decode(few, f"b{rows}")
        same_bits(got, (whole[0][:rows], whole[1][:rows]), f"{rows} of 65 rows")


@case("12_row_count_of_a_route")
def _(r):
    """The same rows on both sides of row counts where a route may change."""
    for layout in LAYOUTS:
        c = cases.decode(121, layout=layout, rows=129, heads=8, topk=40, page_size=64, lengths="random", sink=True)
        out, lse = c.expected()
        for rows in (1, 15, 16, 17, 63, 64, 65, 128, 129):
            few = c.copy()
            for name in ("q", "indices", "topk_length"):
                few.set(name, c.array(name)[:rows])
            close(r.decode(few, f"b{rows}"), out[:rows], lse[:rows], f"{rows} rows of {layout}")


# ---------------------------------------------------------------- 13: index width, alignment

@case("13_int64_equals_int32")
def _(r):
    for first, second in (("I64", "I64"), ("I64", "I32"), ("I32", "I64")):
        kw = dict(rows=3, heads=16, topk=70, page_size=64, negatives=0.2)
        wide = cases.decode(131, index=first, extra=dict(topk=33, page_size=7, index=second), **kw)
        narrow = cases.decode(131, index="I32", extra=dict(topk=33, page_size=7, index="I32"), **kw)
        same_bits(r.decode(wide, "wide"), r.decode(narrow, "narrow"), f"{first} and {second}")


def right_or_named(r, path, c, word, what):
    done = r.call("run", path, *r.options(), "--check")
    if done.returncode == 0:
        expect(done.stdout.strip().endswith("ok"), f"{what}: exit code 0 without ok")
        return
    expect(done.returncode == 2 and word in done.stderr.lower(), f"{what}: exit code {done.returncode}, neither right nor an error that says '{word}'\n{done.stdout}{done.stderr}")


@case("13_stride_not_a_multiple_of_16")
def _(r):
    for layout in LAYOUTS:
        for gap in (1, 2, 4, 8, 24):
            c = cases.decode(132, layout=layout, rows=2, heads=16, topk=40, page_size=16, gap=gap)
            right_or_named(r, c.save(r.path(f"gap{gap}.safetensors")), c, "align", f"{layout}, {gap} bytes between pages")


@case("13_misaligned_file")
def _(r):
    """Tensors at odd offsets of the file: what a reader that maps the file hands on."""
    c = cases.decode(133, rows=2, heads=16, topk=41, page_size=16)
    path = c.save(r.path("aligned.safetensors"))
    with open(path, "rb") as f:
        blob = f.read()
    n = int.from_bytes(blob[:8], "little")
    for shift in (1, 2, 4, 8):
        moved = r.path(f"shift{shift}.safetensors")
        cases.write_raw(moved, blob[8 : 8 + n] + b" " * shift, blob[8 + n :])
        right_or_named(r, moved, c, "align", f"data moved by {shift} bytes")


# ---------------------------------------------------------------- 14, 15: partial results, zero rows

@case("14_partials_of_odd_heads")
def _(r):
    for heads in (1, 3, 5, 17, 33, 66):
        c = cases.decode(140 + heads, rows=3, heads=heads, topk=256, page_size=64, s_q=2, sink=True, lengths=[256, 100, 1])
        for n in (2, 3, 4):
            r.check_case(c, f"h{heads}s{n}", split_schedule(r, n))


@case("14_more_splits_than_tokens")
def _(r):
    for topk, n in ((1, 4), (33, 8), (65, 16)):
        r.check_case(cases.decode(149, rows=2, heads=11, topk=topk, page_size=64), f"k{topk}s{n}", split_schedule(r, n))


@case("15_zero_rows")
def _(r):
    for layout in LAYOUTS:
        for with_extra in (False, True):
            c = cases.decode(151, layout=layout, rows=2, heads=16, topk=64, page_size=64, lengths=[3, 64], sink=True, extra=dict(topk=7, page_size=2) if with_extra else None)
            for name in ("q", "indices", "topk_length", "extra_indices"):
                if name in c.t:
                    c.set(name, c.array(name)[:0])
            out, lse = r.decode(c)
            expect(out.shape == (0, 1, 16, 512) and lse.shape == (0, 16, 1), f"shapes {out.shape} and {lse.shape}")


@case("15_zero_rows_of_the_other_kernels")
def _(r):
    lay = oracle.Layout("MODEL1")
    raw = np.zeros((2, lay.page_bytes(16)), np.uint8)
    oracle.save(r.path("d.safetensors"), {"k_cache": ("U8", raw), "indices": ("I32", np.zeros((0,), np.int32)), "kv": ("BF16", np.zeros((0, 512), np.uint16))}, dict(kind="dequant", layout="MODEL1", page_size=16))
    r.check(r.path("d.safetensors"))
    oracle.save(r.path("m.safetensors"), {"indices": ("I32", np.zeros((0,), np.int32)), "mask": ("I8", np.zeros((4,), np.int8))}, dict(kind="mark", page_size=16, pages=4))
    r.check(r.path("m.safetensors"))
    oracle.save(r.path("p.safetensors"), {"kv": ("BF16", np.zeros((0, 512), np.uint16)), "slots": ("I32", np.zeros((0,), np.int32)), "cache_before": ("U8", raw), "cache": ("U8", raw)},
                dict(kind="pack", layout="MODEL1", page_size=16))
    r.check(r.path("p.safetensors"))


if __name__ == "__main__":
    sys.exit(harness.main(__doc__))
