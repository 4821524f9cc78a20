# lit's settings: FileCheck tests of ops, passes and printed artifacts. lit.site.cfg.py, made by cmake, sets the paths.
import os

import lit.formats

config.name = "nereid"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.nereid_build_dir, "tests", "lit")

# %nereid-opt before %nereid: the first match wins.
config.substitutions += [
    ("%nereid-opt", os.path.join(config.nereid_build_dir, "bin", "nereid-opt")),
    ("%nereid", os.path.join(config.nereid_build_dir, "bin", "nereid")),
    ("%source", config.nereid_source_dir),
    ("%golden", os.path.join(config.nereid_source_dir, "tests", "golden")),
    ("%ptxas", os.path.join(config.nereid_cuda_dir, "bin", "ptxas")),
]
config.environment["PATH"] = os.pathsep.join([config.llvm_tools_dir, config.environment.get("PATH", "")])
config.environment["FILECHECK_OPTS"] = "--dump-input=fail"
if os.path.exists(os.path.join(config.nereid_cuda_dir, "bin", "ptxas")):
    config.environment["NEREID_CUDA_HOME"] = config.nereid_cuda_dir
    config.available_features.add("ptxas")
