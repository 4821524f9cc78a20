#!/usr/bin/env python3
"""Checks that includes go one way: base → spec → … → api → tools. The table below is the rule; a ctest runs this.

    scripts/check_includes.py [ROOT]
    scripts/check_includes.py --self-test     plants wrong includes in a temporary tree and expects each to be found
"""
import os
import re
import sys
import tempfile

# A folder may include itself and the folders named here. The longest prefix of a path decides its folder.
RUNTIME_LOW = ["runtime/base", "runtime/spec"]
RUNTIME = RUNTIME_LOW + ["runtime/artifact", "runtime/driver", "runtime/cache", "runtime/module", "runtime/launch", "runtime/workspace"]
FOR_COMPILER = RUNTIME_LOW + ["runtime/artifact"]
MAY_INCLUDE = {
    "runtime/base": [],
    "runtime/spec": ["runtime/base"],
    "runtime/artifact": RUNTIME_LOW,
    "runtime/driver": RUNTIME_LOW,
    "runtime/cache": FOR_COMPILER,
    "runtime/module": FOR_COMPILER + ["runtime/driver"],
    "runtime/launch": FOR_COMPILER + ["runtime/driver", "runtime/module"],
    "runtime/workspace": FOR_COMPILER + ["runtime/driver"],
    "runtime/bundle": RUNTIME,
    "runtime/engine": RUNTIME + ["runtime/bundle", "kernels_dsl/spec"],
    "kernels_dsl/spec": RUNTIME_LOW,
    "kernels_dsl/programs": RUNTIME_LOW + ["compiler/dsl", "kernels_dsl/spec"],
    "compiler/pch": [],
    "compiler/layout": RUNTIME_LOW,
    "compiler/dialect": RUNTIME_LOW + ["compiler/layout"],
    "compiler/dsl": RUNTIME_LOW + ["compiler/layout", "compiler/dialect"],
    "compiler/transforms": RUNTIME_LOW + ["compiler/layout", "compiler/dialect"],
    "compiler/conversion": RUNTIME_LOW + ["compiler/layout", "compiler/dialect", "compiler/transforms"],
    "compiler/codegen": FOR_COMPILER + ["compiler/layout", "compiler/dialect", "compiler/transforms", "compiler/conversion"],
    "compiler/assembler": FOR_COMPILER + ["compiler/codegen"],
    "compiler/host": FOR_COMPILER + ["compiler/layout", "compiler/dialect", "compiler/transforms", "compiler/conversion", "compiler/codegen"],
    "compiler/emulator": FOR_COMPILER + ["compiler/codegen"],
    "compiler/pipeline": FOR_COMPILER + ["compiler"],
    "api": ["runtime", "compiler", "kernels_dsl"],
    # The command speaks through the api. It takes result.h for its errors; `nereid-opt` is a developer's view into the compiler.
    "tools/nereid": ["api", "runtime/base"],
    "tools/nereid_opt": ["compiler", "runtime/base", "runtime/spec"],
    "examples": ["api", "compiler/dsl", "runtime/base", "runtime/spec"],
    "bench": ["api", "runtime/base", "runtime/spec"],
    "tests": ["runtime", "compiler", "kernels_dsl", "api"],
}
# Headers of others that a folder must not see, directly or through a header of ours.
LLVM = re.compile(r"^(mlir|llvm|llvm-c|mlir-c)/")
CUDA = re.compile(r"^(cuda[\w]*|nvrtc|nvJitLink|nvml)\.h(pp)?$")
SEES_LLVM = ["compiler", "tools/nereid_opt", "tests/unit", "tests/kit", "api"]
NEVER_LLVM = ["compiler/layout"]
NOT_THROUGH_OURS = ["kernels_dsl", "runtime", "examples", "tools/nereid", "bench"]  # checked through the whole closure

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
SOURCE = (".h", ".hpp", ".cpp", ".c", ".def", ".inc")
LAYERS = ("runtime", "compiler", "kernels_dsl", "api", "tools", "examples", "bench", "tests")


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def folder_of(path):
    best = ""
    for name in MAY_INCLUDE:
        if inside(path, name) and len(name) > len(best):
            best = name
    return best


def sources(root):
    for layer in LAYERS:
        for base, _, names in os.walk(os.path.join(root, layer)):
            for name in sorted(names):
                if name.endswith(SOURCE):
                    yield os.path.relpath(os.path.join(base, name), root)


def includes_of(root, path, known):
    if path not in known:
        try:
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
                known[path] = [m.groups() for m in INCLUDE.finditer(f.read())]
        except OSError:
            known[path] = []  # made by the build
    return known[path]


def foreign_through_ours(root, path, known, seen=None):
    """The chains path → … → <header of LLVM>."""
    seen = seen if seen is not None else set()
    for _, name in includes_of(root, path, known):
        if LLVM.match(name):
            yield [path, name]
        elif name.startswith(LAYERS) and name not in seen:
            seen.add(name)
            for chain in foreign_through_ours(root, name, known, seen):
                yield [path] + chain


def check(root):
    """A list of (path, message)."""
    known, wrong, files = {}, [], 0
    for path in sources(root):
        files += 1
        folder = folder_of(path)
        if not folder:
            wrong.append((path, "stands in no folder of the table; add the folder to scripts/check_includes.py with what it may include"))
            continue
        for quote, name in includes_of(root, path, known):
            if CUDA.match(name):
                wrong.append((path, f"includes {name}: CUDA is opened at run time, no header of it is needed"))
            elif LLVM.match(name):
                if any(inside(path, f) for f in NEVER_LLVM) or not any(inside(path, f) for f in SEES_LLVM):
                    wrong.append((path, f"includes {name}: {folder} is free of LLVM and MLIR"))
            elif quote == '"' and not name.startswith(LAYERS):
                wrong.append((path, f'includes "{name}": write the path from the root of the project'))
            elif name.startswith(LAYERS):
                target = folder_of(name)
                if target != folder and not any(inside(name, f) for f in MAY_INCLUDE[folder]):
                    wrong.append((path, f"includes {name}: {folder} may include {', '.join(MAY_INCLUDE[folder]) or 'nothing'}"))
        if any(inside(path, f) for f in NOT_THROUGH_OURS) and not any(inside(path, f) for f in ("tools/nereid_opt",)):
            for chain in foreign_through_ours(root, path, known):
                if len(chain) > 2:
                    wrong.append((path, f"reaches {' → '.join(chain[1:])}: {folder} is free of LLVM and MLIR"))
    return wrong, files


PLANTED = [  # (path, text, does it break the rule)
    ("runtime/base/result.h", "#include <string>\n", False),
    ("runtime/spec/spec.h", '#include "runtime/base/result.h"\n', False),
    ("runtime/base/up.h", '#include "runtime/spec/spec.h"\n', True),
    ("runtime/driver/cuda.cpp", "#include <cuda.h>\n", True),
    ("runtime/engine/engine.cpp", '#include "compiler/pipeline/compile.h"\n', True),
    ("compiler/layout/layout.cpp", '#include "llvm/ADT/SmallVector.h"\n', True),
    ("compiler/transforms/fine.cpp", '#include "mlir/IR/Builders.h"\n#include "compiler/dialect/tile_dialect.h"\n', False),
    ("compiler/transforms/up.cpp", '#include "compiler/codegen/pass_table.h"\n', True),
    ("compiler/codegen/launch.cpp", '#include "runtime/launch/launch.h"\n', True),
    ("compiler/dsl/dsl_impl.h", '#include "mlir/IR/Builders.h"\n', False),
    ("compiler/dsl/dsl.h", '#include "runtime/spec/abi.h"\n', False),
    ("kernels_dsl/programs/fine.cpp", '#include "compiler/dsl/dsl.h"\n#include "kernels_dsl/spec/problem.h"\n', False),
    ("kernels_dsl/programs/mlir.cpp", '#include "mlir/IR/Builders.h"\n', True),
    ("kernels_dsl/programs/through.cpp", '#include "compiler/dsl/dsl_impl.h"\n', True),
    ("kernels_dsl/spec/problem.h", '#include "runtime/spec/spec.h"\n', False),
    ("tools/nereid/run.cpp", '#include "api/nereid.hpp"\n', False),
    ("tools/nereid/compile.cpp", '#include "compiler/pipeline/compile.h"\n', True),
    ("api/nereid.cpp", '#include "compiler/pipeline/compile.h"\n#include "runtime/launch/launch.h"\n', False),
    ("runtime/spec/near.cpp", '#include "near.h"\n', True),
    ("runtime/elsewhere/x.cpp", "#include <string>\n", True),
]


def self_test():
    with tempfile.TemporaryDirectory() as root:
        for path, text, _ in PLANTED:
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w") as f:
                f.write(text)
        found = {path for path, _ in check(root)[0]}
    bad = 0
    for path, _, breaks in PLANTED:
        if (path in found) != breaks:
            print(f"{path}: {'a planted wrong include was not found' if breaks else 'reported, though it breaks no rule'}")
            bad = 1
    print(f"{len(PLANTED)} planted files, {sum(b for *_, b in PLANTED)} of them wrong: {'FAILED' if bad else 'all told apart'}")
    return bad


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    wrong, files = check(root)
    for path, message in wrong:
        print(f"{path}: {message}")
    if not files:
        print(f"no source was found under {root}")
        return 1
    print(f"{files} files, {len(wrong)} wrong includes")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
