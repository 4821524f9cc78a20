#!/usr/bin/env python3
"""Scales and queries at the ends of their ranges, against float64: nothing in between may overflow or lose its bits."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import cases  # noqa: E402
import harness  # noqa: E402
from cases import oracle  # noqa: E402

HEADS = (16, 32)  # schedules with one role for both products and with two


def rows_of(c):
    """[pages, page_size, row bytes] of the cache, a copy, and how to put it back."""
    lay, ps, raw = oracle.Layout(c.meta["layout"]), int(c.meta["page_size"]), c.array("k_cache").copy()
    body = raw[:, : ps * lay.row].reshape(len(raw), ps, lay.row).copy()

    def put():
        raw[:, : ps * lay.row] = body.reshape(len(raw), -1)
        c.set("k_cache", raw)

    return lay, raw, body, put


def codes(c, code):
    """MODEL1: exponent codes [pages, page_size, 7] or one number; scale 2^(code - 127)."""
    lay, raw, body, put = rows_of(c)
    pages, ps = body.shape[:2]
    footer = raw[:, ps * lay.row : ps * lay.row + ps * 8].reshape(pages, ps, 8).copy()
    footer[..., :7] = code(pages, ps) if callable(code) else code
    raw[:, ps * lay.row : ps * lay.row + ps * 8] = footer.reshape(pages, -1)
    c.set("k_cache", raw)
    return c


def scales(c, value):
    """V32: f32 scales [pages, page_size, 4] or one number."""
    lay, _, body, put = rows_of(c)
    pages, ps = body.shape[:2]
    s = np.broadcast_to(np.asarray(value(pages, ps) if callable(value) else value, "<f4"), (pages, ps, 4))
    body[..., lay.nope : lay.nope + 16] = np.ascontiguousarray(s).view(np.uint8)
    put()
    return c


def queries(c, factor):
    c.set("q", oracle.bf16_bits(oracle.bf16_value(c.array("q")) * factor))
    return c


def both(name, layout, change, factor=1.0):
    for heads in HEADS:
        @harness.case(f"{name}_h{heads}")
        def _(r, heads=heads):
            r.check_case(queries(change(cases.decode(3, layout=layout, rows=1, heads=heads, topk=40)), factor))


rng = np.random.default_rng(0)
for _code in (0, 30, 185, 195, 230, 240):
    both(f"code_{_code}", "MODEL1", lambda c, x=_code: codes(c, x))
both("code_240_small_q", "MODEL1", lambda c: codes(c, 240), 2.0**-120)
both("code_1_large_q", "MODEL1", lambda c: codes(c, 1), 2.0**90)
both("codes_far_apart", "MODEL1", lambda c: codes(c, lambda n, ps: rng.integers(60, 150, (n, ps, 7))), 2.0**-20)
both("codes_rise", "MODEL1", lambda c: codes(c, lambda n, ps: (np.arange(n * ps).reshape(n, ps, 1) * 6 % 240 + 4 + np.arange(7)) % 250), 2.0**-110)
for _scale in (1e-30, 1e5, 1e10, 1e20, 1e27, 1e31, 1e33):
    both(f"scale_{_scale:g}", "V32", lambda c, x=_scale: scales(c, x))
both("scale_1e35_small_q", "V32", lambda c: scales(c, 1e35), 1e-35)
both("scales_far_apart", "V32", lambda c: scales(c, lambda n, ps: np.exp2(rng.integers(-30, 3, (n, ps, 4))) * rng.uniform(0.5, 1, (n, ps, 4))))
both("scales_negative", "V32", lambda c: scales(c, lambda n, ps: -np.abs(rng.normal(size=(n, ps, 4))) * 0.02))

def later_tokens_decide(name, layout, change, **meta):
    """Tokens of the first tile have large scales, those of the next small ones and nearly all of the weight; and the other way round."""
    for first in (False, True):
        for heads in HEADS:
            @harness.case(f"{name}_{'first' if first else 'later'}_h{heads}")
            def _(r, heads=heads, first=first):
                c = cases.decode(5, layout=layout, rows=1, heads=heads, topk=64, pool_tokens=64, page_size=64, **meta)
                c.set("indices", np.arange(64).reshape(1, 1, 64))
                small = np.arange(64) < 32 if first else np.arange(64) >= 32
                lay, _, body, put = rows_of(c)
                q = c.array("q").copy()
                q[..., -64:] = oracle.bf16_bits(np.ones(64))  # the columns without a scale decide the weights
                c.set("q", q)
                rope = body[0, :, lay.nope + (16 if layout == "V32" else 0) :].view(np.uint16)
                rope[:, :64] = oracle.bf16_bits(np.where(small, 10.0, 0.0))[:, None]
                put()
                r.check_case(change(c, small))


def by_token(body_shape, small, low, high):
    return np.broadcast_to(np.where(small, low, high)[None, :, None], body_shape)


for _arith, _ratio in (("f16", 12), ("f16", 24), ("f16", 60), ("bf16", 24), ("fp8", 8), ("fp8", 24)):
    later_tokens_decide(f"model1_{_arith}_2^-{_ratio}", "MODEL1",
                        lambda c, small, e=_ratio: codes(c, lambda n, ps: by_token((n, ps, 7), np.resize(small, ps), 120 - e, 120)), arith=_arith, head_dim_v=448)
    later_tokens_decide(f"v32_{_arith}_2^-{_ratio}", "V32",
                        lambda c, small, e=_ratio: scales(c, lambda n, ps: by_token((n, ps, 4), np.resize(small, ps), 0.013 * 2.0**-e, 0.013)), arith=_arith)

if __name__ == "__main__":
    sys.exit(harness.main(__doc__))
