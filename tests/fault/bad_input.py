#!/usr/bin/env python3
"""Bad input: each is a message that says what, where and how to fix it, and exit code 2 (usage, input) or 3 (environment).

Never a crash, never a result. Names are <part>_<what>; `bad_input.py file` runs all of the files' part.
"""
import json
import os
import re
import stat
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kit"))
import cases  # noqa: E402
import harness  # noqa: E402
from cases import oracle  # noqa: E402
from harness import case, expect  # noqa: E402


def refused(r, argv, words, code=2, env=None):
    """The call ends with the code, and stderr has every word (a tuple: one of them), a place and advice."""
    done = r.call(*argv, env=env)
    err = done.stderr
    shown = f"exit code {done.returncode}\n--- stdout\n{done.stdout[-600:]}\n--- stderr\n{err[-1200:]}"
    expect(done.returncode == code, f"expected exit code {code}, got {shown}")
    for word in words:
        options = word if isinstance(word, tuple) else (word,)
        expect(any(o.lower() in err.lower() for o in options), f"the message does not say {' or '.join(map(repr, options))}: {shown}")
    expect(not re.search(r"terminate called|Assertion|Stack dump|LLVM ERROR|Traceback|std::|\bbad_alloc\b", err), f"not a message for a user: {shown}")
    # "what (where). fix": more than one statement
    expect(len(re.findall(r"[.:;(]\s", err + " ")) >= 2, f"the message lacks a place or advice: {shown}")
    expect("ok" not in [l.strip() for l in done.stdout.splitlines()], f"says ok: {shown}")


def run_refused(r, c, words, name="bad", code=2, options=()):
    path = c if isinstance(c, str) else c.save(r.path(name + ".safetensors"), expect=False)
    refused(r, ["run", path, *r.options(), "--out", r.path("out.safetensors"), *options], words, code)
    expect(not os.path.exists(r.path("out.safetensors")), "an output file was left behind")


def small(**kw):
    return cases.decode(1, **{**dict(rows=2, heads=4, topk=8, page_size=4, lengths="random", sink=True), **kw})


# ---------------------------------------------------------------- files that are not what they claim

def file_cases():
    yield "empty", lambda p: open(p, "wb").close(), ["bad.safetensors"]
    yield "four_bytes", lambda p: open(p, "wb").write(b"abcd"), ["bad.safetensors"]
    yield "header_longer_than_file", lambda p: cases.write_raw(p, {}, b"", 10**6), ["bad.safetensors", "header"]
    yield "header_length_2_63", lambda p: cases.write_raw(p, {}, b"", 2**63), ["bad.safetensors", "header"]
    yield "header_length_all_ones", lambda p: cases.write_raw(p, {}, b"", 2**64 - 1), ["bad.safetensors", "header"]
    yield "header_length_zero", lambda p: cases.write_raw(p, {}, b"", 0), ["bad.safetensors"]
    yield "not_json", lambda p: cases.write_raw(p, b"{]  nonsense", b""), ["bad.safetensors", ("json", "header")]
    yield "json_list", lambda p: cases.write_raw(p, b"[1, 2]  ", b""), ["bad.safetensors", ("object", "header")]
    yield "deep_json", lambda p: cases.write_raw(p, b"[" * 200000, b""), ["bad.safetensors"]
    yield "not_utf8", lambda p: cases.write_raw(p, b'{"\xff\xfe": 1}', b""), ["bad.safetensors"]
    yield "random_bytes", lambda p: open(p, "wb").write(np.random.default_rng(5).bytes(4096)), ["bad.safetensors"]
    yield "only_metadata", lambda p: cases.write_raw(p, {"__metadata__": {"kind": "decode", "layout": "MODEL1", "page_size": "64"}}, b""), ["q"]
    yield "metadata_not_strings", lambda p: cases.write_raw(p, {"__metadata__": {"kind": 5}}, b""), ["bad.safetensors"]


for _name, _write, _words in file_cases():
    @case(f"file_{_name}")
    def _(r, write=_write, words=_words):
        write(r.path("bad.safetensors"))
        run_refused(r, r.path("bad.safetensors"), words)


def lying(r, edit, words):
    """A right file whose header is edited: edit(header, data) changes the header, may return other data."""
    path = small().save(r.path("bad.safetensors"), expect=False)
    with open(path, "rb") as f:
        n = struct.unpack("<Q", f.read(8))[0]
        header, data = json.loads(f.read(n)), f.read()
    other = edit(header, data)
    cases.write_raw(path, header, data if other is None else other)
    run_refused(r, path, words)


def entry(name, **change):
    return lambda h, d: h[name].update(change) or None


LIES = {
    "truncated_data": (lambda h, d: d[: len(d) // 2], [("k_cache", "indices", "attn_sink", "data_offsets")]),
    "one_byte_short": (lambda h, d: d[:-1], ["attn_sink"]),
    "offsets_past_the_end": (lambda h, d: h["q"].update(data_offsets=[0, 10**12]) or None, ["q"]),
    "offsets_negative": (entry("q", data_offsets=[-8, 4]), ["q"]),
    "offsets_reversed": (entry("q", data_offsets=[100, 50]), ["q"]),
    "offsets_huge": (entry("q", data_offsets=[0, 2**64 - 1]), ["q"]),
    "offsets_one": (entry("q", data_offsets=[0]), ["q"]),
    "offsets_text": (entry("q", data_offsets=["0", "9"]), ["q"]),
    "shape_smaller_than_data": (entry("q", shape=[1, 1, 4, 512]), ["q"]),
    "shape_overflow": (entry("k_cache", shape=[2**40, 2**40]), ["k_cache"]),
    "shape_negative": (entry("k_cache", shape=[-5, -9]), ["k_cache"]),
    "shape_fraction": (entry("k_cache", shape=[1.5, 2]), ["k_cache"]),
    "shape_missing": (lambda h, d: h["k_cache"].pop("shape") and None, ["k_cache"]),
    "dtype_missing": (lambda h, d: h["k_cache"].pop("dtype") and None, ["k_cache"]),
    "dtype_unknown": (entry("k_cache", dtype="Q7"), ["k_cache", "Q7"]),
    "entry_not_an_object": (lambda h, d: h.__setitem__("q", 5), ["q"]),
}
for _name, (_edit, _words) in LIES.items():
    @case(f"lie_{_name}")
    def _(r, edit=_edit, words=_words):
        lying(r, edit, words)


@case("file_missing")
def _(r):
    run_refused(r, r.path("nowhere.safetensors"), ["nowhere.safetensors"])


@case("file_is_a_folder")
def _(r):
    run_refused(r, r.folder, [os.path.basename(r.folder)])


# ---------------------------------------------------------------- tensors and metadata that do not fit

def without(name):
    return lambda c: c.t.pop(name)


def as_type(name, dtype):
    return lambda c: c.t.__setitem__(name, (dtype, c.array(name).astype(oracle._NP[dtype])))


def shaped(name, f):
    return lambda c: c.set(name, f(c.array(name)))


def meta(**kw):
    return lambda c: c.meta.update({k: str(v) for k, v in kw.items()})


def no_meta(key):
    return lambda c: c.meta.pop(key)


EXTRA = dict(extra=dict(topk=8, page_size=4))
TENSORS = {
    "no_q": (without("q"), ["q"], {}),
    "no_k_cache": (without("k_cache"), ["k_cache"], {}),
    "no_indices": (without("indices"), ["indices"], {}),
    "second_cache_without_indices": (without("extra_indices"), ["extra_indices"], EXTRA),
    "second_indices_without_cache": (without("extra_k_cache"), ["extra_k_cache"], EXTRA),
    "second_length_without_cache": (lambda c: c.set("extra_topk_length", [1, 2], "I32"), ["extra_topk_length"], {}),
    "q_f32": (as_type("q", "F32"), ["q", "BF16"], {}),
    "k_cache_i8": (as_type("k_cache", "I8"), ["k_cache", "U8"], {}),
    "indices_f32": (as_type("indices", "F32"), ["indices", "I32"], {}),
    "lengths_i64": (as_type("topk_length", "I64"), ["topk_length", "I32"], {}),
    "q_rank_2": (shaped("q", lambda a: a.reshape(-1, 512)), ["q"], {}),
    "q_rank_5": (shaped("q", lambda a: a[None]), ["q"], {}),
    "k_cache_rank_1": (shaped("k_cache", lambda a: a.reshape(-1)), ["k_cache"], {}),
    "k_cache_stride_too_small": (shaped("k_cache", lambda a: a[:, :1000]), ["k_cache", "page"], {}),
    "k_cache_no_pages_wide_enough": (shaped("k_cache", lambda a: a[:, :0]), ["k_cache"], {}),
    "indices_of_another_batch": (shaped("indices", lambda a: a[:1]), ["indices"], {}),
    "indices_of_another_s_q": (shaped("indices", lambda a: np.repeat(a, 2, 1)), ["indices"], {}),
    "topk_0": (shaped("indices", lambda a: a[..., :0]), ["indices", ("top-k", "topk")], {}),
    "lengths_of_another_batch": (shaped("topk_length", lambda a: a[:1]), ["topk_length"], {}),
    "sink_of_other_heads": (shaped("attn_sink", lambda a: a[:-1]), ["attn_sink"], {}),
    "q_narrower_than_a_row": (shaped("q", lambda a: a[..., :256]), ["q", "512"], {}),
    "q_without_heads": (shaped("q", lambda a: a[:, :, :0]), ["q"], {}),
    "page_size_0": (meta(page_size=0), ["page_size"], {}),
    "page_size_negative": (meta(page_size=-4), ["page_size"], {}),
    "page_size_text": (meta(page_size="many"), ["page_size", "many"], {}),
    "page_size_huge": (meta(page_size=2**62), ["page_size"], {}),
    "page_size_trailing": (meta(page_size="4x"), ["page_size", "4x"], {}),
    "page_size_missing": (no_meta("page_size"), ["page_size"], {}),
    "second_page_size_0": (meta(extra_page_size=0), ["extra_page_size"], EXTRA),
    "head_dim_v_0": (meta(head_dim_v=0), ["head_dim_v"], {}),
    "head_dim_v_larger_than_a_row": (meta(head_dim_v=513), ["head_dim_v", "512"], {}),
    "head_dim_v_text": (meta(head_dim_v="wide"), ["head_dim_v"], {}),
    "scale_text": (meta(softmax_scale="soft"), ["softmax_scale"], {}),
    "scale_nan": (meta(softmax_scale="nan"), ["softmax_scale"], {}),
    "layout_unknown": (meta(layout="MODEL9"), ["layout", "MODEL9", "MODEL1"], {}),
    "layout_missing": (no_meta("layout"), ["layout"], {}),
    "second_layout_unknown": (meta(extra_layout="MODEL9"), ["extra_layout", "MODEL9"], EXTRA),
    "kind_unknown": (meta(kind="encode"), ["kind", "encode", "decode"], {}),
    "kind_missing": (no_meta("kind"), ["kind"], {}),
    "lse_base_unknown": (meta(lse_base="10"), ["lse_base", "10"], {}),
    "lse_empty_unknown": (meta(lse_empty="0"), ["lse_empty"], {}),
}
for _name, (_edit, _words, _kw) in TENSORS.items():
    @case(f"tensor_{_name}")
    def _(r, edit=_edit, words=_words, kw=_kw):
        c = small(**kw)
        edit(c)
        run_refused(r, c, words)


@case("tensor_expected_of_another_shape")
def _(r):
    c = small()
    out, lse = c.expected()
    c.set("out", oracle.bf16_bits(out[:, :, :2]), "BF16").set("lse", lse, "F32")
    refused(r, ["run", c.save(r.path("bad.safetensors"), expect=False), *r.options(), "--check"], ["out"])


# ---------------------------------------------------------------- flags of run

@case("run_check_without_expected_tensors")
def _(r):
    refused(r, ["run", small().save(r.path("bare.safetensors"), expect=False), *r.options(), "--check"], ["--check", ("expected", "out")])


@case("run_no_file")
def _(r):
    refused(r, ["run"], [("case", "file", "required")])


@case("run_unknown_flag")
def _(r):
    refused(r, ["run", os.path.join(harness.GOLDEN, "basic_h64_b1_k64_p64.safetensors"), "--fast"], ["--fast"])


for _flag, _value, _word in (("--device", "tpu", "cpu"), ("--device", "cuda:x", "cuda"), ("--codegen", "tvm", "nvptx"), ("--limits", "sm_1", "chip"), ("--schedule", "speed=9", "speed"),
                             ("--schedule", "splits=zero", "splits"), ("--schedule", "splits=0", "splits"), ("--schedule", "stages=-1", "stages"), ("--repeat", "-3", "repeat")):
    @case(f"run_{_flag[2:]}_{re.sub('[^a-z0-9_]', '_', _value)}")
    def _(r, flag=_flag, value=_value, word=_word):
        path = small().save(r.path("case.safetensors"))
        refused(r, ["run", path, *([] if flag == "--device" else r.options()), flag, value, "--check"], [word])


@case("run_output_in_a_missing_folder")
def _(r):
    refused(r, ["run", small().save(r.path("case.safetensors")), *r.options(), "--out", r.path("none/out.safetensors")], ["none/out.safetensors"], code=3)


@case("run_output_is_a_folder")
def _(r):
    os.makedirs(r.path("folder"))
    refused(r, ["run", small().save(r.path("case.safetensors")), *r.options(), "--out", r.path("folder")], ["folder"], code=3)


@case("run_output_on_a_full_disk")
def _(r):
    """/dev/full takes no byte."""
    if not os.path.exists("/dev/full"):
        return "skipped: no /dev/full here"
    refused(r, ["run", small().save(r.path("case.safetensors")), *r.options(), "--out", "/dev/full"], ["/dev/full"], code=3)


@case("run_output_not_writable")
def _(r):
    if os.geteuid() == 0:
        return "skipped: root may write anywhere; the folder and full-disk cases stand for it"
    os.makedirs(r.path("closed"))
    os.chmod(r.path("closed"), stat.S_IRUSR | stat.S_IXUSR)
    refused(r, ["run", small().save(r.path("case.safetensors")), *r.options(), "--out", r.path("closed/out.safetensors")], ["closed/out.safetensors"], code=3)


# ---------------------------------------------------------------- the environment

@case("environment_no_driver")
def _(r):
    if harness.no_device_reason() is None:
        return "skipped: this machine has a GPU"
    refused(r, ["run", small().save(r.path("case.safetensors")), "--device", "cuda", "--check"], [("libcuda", "driver"), ("install", "--device cpu")], code=3)


@case("environment_device_auto_falls_back_with_a_notice")
def _(r):
    if harness.no_device_reason() is None:
        return "skipped: this machine has a GPU"
    done = r.call("run", small().save(r.path("case.safetensors")), "--device", "auto", "--check")
    expect(done.returncode == 0 and "cpu" in done.stderr.lower(), f"exit code {done.returncode}, stderr {done.stderr!r}")


COMPILE = ["compile", "sparse_decode", "layout=MODEL1", "page_size=64", "topk=128", "heads=16", "--target", "sm_120a"]


@case("environment_no_nvjitlink_no_ptxas")
def _(r):
    """A chosen CUDA folder that is empty: the message names what is missing and what brings it."""
    os.makedirs(r.path("empty"))
    refused(r, [*COMPILE, "-o", r.path("k.cubin")], [("nvJitLink", "ptxas"), ("install", "scripts/setup", "NEREID_CUDA_HOME")], code=3, env={"NEREID_CUDA_HOME": r.path("empty")})


@case("environment_nvjitlink_is_not_a_library")
def _(r):
    os.makedirs(r.path("fake/lib"))
    with open(r.path("fake/lib/libnvJitLink.so.13"), "w") as f:
        f.write("not a library")
    refused(r, [*COMPILE, "-o", r.path("k.cubin")], ["nvJitLink"], code=3, env={"NEREID_CUDA_HOME": r.path("fake")})


@case("environment_ptx_needs_no_cuda")
def _(r):
    os.makedirs(r.path("empty"))
    done = r.call(*COMPILE, "--emit", "ptx", "-o", r.path("k.ptx"), env={"NEREID_CUDA_HOME": r.path("empty")})
    expect(done.returncode == 0 and os.path.getsize(r.path("k.ptx")) > 1000, f"exit code {done.returncode}\n{done.stderr}")


@case("environment_compile_output_in_a_missing_folder")
def _(r):
    refused(r, [*COMPILE, "-o", r.path("none/k.cubin")], ["none/k.cubin"], code=3)


# ---------------------------------------------------------------- keys of compile

def compile_with(*changes):
    keys = {"layout": "MODEL1", "page_size": "64", "topk": "128", "heads": "16"}
    for c in changes:
        k, _, v = c.partition("=")
        keys[k] = v
    return ["compile", "sparse_decode", *(f"{k}={v}" for k, v in keys.items() if v != "-"), "--target", "sm_120a", "--emit", "ptx"]


KEYS = {
    "topk_0": (["topk=0"], ["topk"]), "topk_text": (["topk=all"], ["topk", "all"]), "page_size_0": (["page_size=0"], ["page_size"]), "heads_0": (["heads=0"], ["heads"]),
    "heads_negative": (["heads=-16"], ["heads"]), "heads_empty": (["heads="], ["heads"]), "head_dim_v_too_wide": (["head_dim_v=640"], ["head_dim_v", "512"]),
    "head_dim_v_0": (["head_dim_v=0"], ["head_dim_v"]), "layout_unknown": (["layout=MODEL9"], ["layout", "MODEL9", "MODEL1"]), "index_i16": (["index=i16"], ["index", "i16", "i64"]),
    "s_q_0": (["s_q=0"], ["s_q"]), "arith_unknown": (["arith=f64"], ["arith", "f64"]), "lse_base_10": (["lse_base=10"], ["lse_base"]), "key_unknown": (["heds=16"], ["heds", "heads"]),
    "page_size_missing": (["page_size=-"], ["page_size"]), "second_page_size_without_topk": (["extra_page_size=64"], ["extra_topk"]),
    "second_topk_without_page_size": (["extra_topk=64"], ["extra_page_size"]), "number_too_large": (["topk=99999999999999999999"], ["topk"]), "d_qk_of_no_layout": (["d_qk=100"], ["d_qk"]),
    "specialise_unknown": (["specialise=both"], ["specialise", "generic"]), "lengths_2": (["lengths=2"], ["lengths"]),
}
for _name, (_changes, _words) in KEYS.items():
    @case(f"compile_{_name}")
    def _(r, changes=_changes, words=_words):
        refused(r, compile_with(*changes), words)


@case("compile_key_twice")
def _(r):
    refused(r, [*compile_with(), "heads=32"], ["heads"])


@case("compile_word_without_value")
def _(r):
    refused(r, [*compile_with(), "heads"], ["heads", "="])


@case("compile_kernel_unknown")
def _(r):
    refused(r, ["compile", "dense_decode", "--target", "sm_120a"], ["dense_decode", "sparse_decode"])


@case("compile_target_unknown")
def _(r):
    refused(r, [*COMPILE[:-1], "sm_70"], ["sm_70", "sm_120a"])


@case("compile_emit_unknown")
def _(r):
    refused(r, [*COMPILE, "--emit", "elf"], ["elf", "ptx"])


@case("compile_schedule_that_cannot_fit")
def _(r):
    """99 KiB a block: a schedule that asks for more is refused with needed and available bytes."""
    refused(r, [*COMPILE, "--schedule", "stages=64"], [("shared", "stages"), ("101376", "101,376", "99")])


@case("command_none")
def _(r):
    refused(r, [], [("subcommand", "command"), "run"])


@case("command_unknown")
def _(r):
    refused(r, ["walk"], ["walk"])


if __name__ == "__main__":
    sys.exit(harness.main(__doc__))
