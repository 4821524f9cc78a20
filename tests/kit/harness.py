"""Shared by the drivers: which binary on which device, the cases of a driver, running them, and saying how to run one again.

A driver registers functions with @case and ends with `harness.main(__doc__)`. A function gets a Runner; it fails by raising.
"""
import argparse
import concurrent.futures
import ctypes
import os
import shlex
import subprocess
import sys
import tempfile
import time
import traceback

import numpy as np

import cases
from cases import oracle

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOLDEN = os.path.join(ROOT, "tests", "golden")
SKIP = 77
_registered = {}


class Failure(Exception):
    pass


def case(name):
    """Registers a function under a name; decorators stack, so one function may stand under several."""
    def register(f):
        assert name not in _registered, name
        _registered[name] = f
        return f
    return register


def expect(condition, message):
    if not condition:
        raise Failure(message)


def no_device_reason():
    """Why no GPU can be used here, or None."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as e:
        return f"no driver ({e})"
    count = ctypes.c_int(0)
    rc = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
    return f"the driver answers {rc}" if rc else None if count.value else "the driver sees no device"


class Runner:
    """Runs the command in a folder of its own."""

    def __init__(self, args, folder):
        self.args, self.folder, self.commands = args, folder, []

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *argv, env=None, timeout=None, under=()):
        """The finished process of `under… nereid argv…`; a crash, an abort or a hang is a failure whatever was expected."""
        command = [*map(str, under), self.args.nereid, *map(str, argv)]
        self.commands.append(shlex.join(command))
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout or self.args.timeout, env={**os.environ, **(env or {})}, cwd=self.folder)
        except subprocess.TimeoutExpired:
            raise Failure(f"no end after {timeout or self.args.timeout} s")
        expect(done.returncode >= 0 and done.returncode < 126, f"ended by signal or not started: {done.returncode}\n{done.stderr[-2000:]}")
        return done

    def options(self, schedule=None):
        o = ["--device", self.args.device]
        if self.args.limits:
            o += ["--limits", self.args.limits]
        if self.args.target:
            o += ["--target", self.args.target]
        if self.args.codegen:
            o += ["--codegen", self.args.codegen]
        schedule = schedule or self.args.schedule
        return o + (["--schedule", schedule] if schedule else [])

    def check(self, path, schedule=None, options=()):
        """`nereid run --check` must say ok."""
        done = self.call("run", path, *self.options(schedule), "--check", *options)
        lines = done.stdout.strip().splitlines()
        expect(done.returncode == 0 and lines and lines[-1].strip() == "ok", f"exit code {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
        return done

    def tensors(self, path, schedule=None, options=()):
        """The tensors that `nereid run --out` writes, as bits."""
        out = self.path(os.path.basename(path).replace(".safetensors", "") + f".got{len(self.commands)}.safetensors")
        done = self.call("run", path, *self.options(schedule), "--out", out, *options)
        expect(done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
        t, _, dtypes = oracle.load(out)
        os.remove(out)
        return t, dtypes

    def decode(self, c, name="case", schedule=None, options=()):
        """(out bits, lse bits) of a Case."""
        t, dtypes = self.tensors(c.save(self.path(name + ".safetensors"), expect=False), schedule, options)
        expect(dtypes.get("out") == "BF16" and dtypes.get("lse") == "F32", f"--out has {dtypes}, expected out BF16 and lse F32")
        return t["out"], t["lse"].view(np.uint32)

    def check_case(self, c, name="case", schedule=None, options=()):
        self.check(c.save(self.path(name + ".safetensors")), schedule, options)


def same_bits(a, b, what):
    for x, y, name in zip(a, b, ("out", "lse")):
        expect(x.shape == y.shape, f"{what}: {name} has shape {x.shape} and {y.shape}")
        n = int((x != y).sum())
        expect(n == 0, f"{what}: {n} of {x.size} values of {name} differ in their bits")


def close(got, out, lse, what):
    """Bits of (out, lse) against float64, with the limits of the command's --check."""
    g, l = cases.oracle.bf16_value(got[0]), got[1].view(np.float32).astype(np.float64)
    expect(np.array_equal(np.isnan(g), np.isnan(out)) and np.array_equal(np.isinf(l), np.isinf(lse)), f"{what}: NaN or infinities in other places")
    d = np.linalg.norm(np.nan_to_num(g - out), axis=-1)
    n = np.linalg.norm(np.nan_to_num(out), axis=-1)
    worst = float((d / np.where(n > 0, n, 1)).max(initial=0))
    total = float(np.linalg.norm(d) / (np.linalg.norm(n) or 1))
    expect(total <= 3e-3 and worst <= 6e-3, f"{what}: out is off by {total:.2e} in all, {worst:.2e} in the worst row and head")
    fin = np.isfinite(lse)
    e = float((np.abs(l - lse)[fin] / np.maximum(1, np.abs(lse[fin]))).max(initial=0))
    expect(e <= 2e-5, f"{what}: lse is off by {e:.2e}")


def add_flags(parser):
    parser.add_argument("names", nargs="*", help="cases to run, whole names or beginnings; default: all")
    parser.add_argument("--nereid", default=os.environ.get("NEREID_BIN", os.path.join(ROOT, "build", "bin", "nereid")))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--limits", default="")
    parser.add_argument("--target", default="", help="of --device emu")
    parser.add_argument("--codegen", default="")
    parser.add_argument("--schedule", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one call of the command")
    parser.add_argument("--keep", help="folder for the case files; default: a temporary one")
    parser.add_argument("--list", action="store_true")


def run_one(args, name, function, root):
    folder = os.path.join(root, name.replace("/", "_"))
    os.makedirs(folder, exist_ok=True)
    runner, started = Runner(args, folder), time.time()
    try:
        note = function(runner)
        return name, True, f"{note + ', ' if isinstance(note, str) else ''}{time.time() - started:.1f} s", runner
    except Failure as e:
        return name, False, str(e), runner
    except Exception:
        return name, False, traceback.format_exc(), runner
    finally:
        if not args.keep:
            for base, _, files in os.walk(folder):
                for f in files:
                    os.remove(os.path.join(base, f))


def main(doc, parser=None, rerun_flags=()):
    """Runs the registered cases that the arguments choose; returns the exit code."""
    parser = parser or argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if not any(a.dest == "nereid" for a in parser._actions):
        add_flags(parser)
    args = parser.parse_args()
    args.nereid = os.path.abspath(args.nereid)
    def chosen(name):
        return not args.names or any(name == n or name.startswith(n + ".") or name.startswith(n + "_") for n in args.names)
    todo = {n: f for n, f in _registered.items() if chosen(n)}
    if args.list:
        print("\n".join(todo))
        return 0
    if not todo:
        print(f"no case is named {' '.join(args.names)}; --list names all")
        return 2
    if args.device.startswith("cuda") and (reason := no_device_reason()):
        print(f"skipped: {reason}; needs a GPU and its driver")
        return SKIP
    if not os.access(args.nereid, os.X_OK):
        print(f"{args.nereid} is missing; scripts/build makes it, --nereid or NEREID_BIN name another")
        return 3
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="nereid_") as temporary, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        root = os.path.abspath(args.keep) if args.keep else temporary
        for future in [pool.submit(run_one, args, n, f, root) for n, f in todo.items()]:
            name, ok, text, runner = future.result()
            passed, failed = passed + ok, failed + (not ok)
            print(f"{'pass' if ok else 'FAIL'} {name}: {text}", flush=True)
            if not ok:
                flags = [f"--{k}={v}" for k, v in (("device", args.device), ("limits", args.limits), ("target", args.target), ("codegen", args.codegen), ("schedule", args.schedule)) if v]
                again = [os.path.relpath(sys.argv[0]), *flags, f"--nereid={os.path.relpath(args.nereid)}", *rerun_flags, "--keep=/tmp/nereid_case", name]
                print(f"     run only this: {shlex.join(again)}")
                if runner.commands:
                    print(f"     last command: {runner.commands[-1]}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0 or passed == 0)
