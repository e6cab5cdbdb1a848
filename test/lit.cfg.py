"""The lit suite: files with RUN lines under test/, in the order of lib/."""

import os
import shutil

import lit.formats

config.name = "fp8c"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Unit", "Python", "Fixtures", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.fp8c_obj_root, "test")

config.environment["PATH"] = os.path.pathsep.join(
    [config.fp8c_tools_dir, config.llvm_tools_dir, config.environment["PATH"]]
)

config.substitutions += [
    ("%python", config.fp8c_python),
    ("%src", config.fp8c_src_root),
    ("%fixtures", os.path.join(config.test_source_root, "Fixtures")),
    ("%docs", os.path.join(config.fp8c_src_root, "docs")),
    ("%tools", config.fp8c_tools_dir),
]

# Tests that assemble PTX say `REQUIRES: ptxas`: the toolkit's, found as the compiler finds it.
ptxas = os.environ.get("FP8C_PTXAS") or shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))

# Tests that need a device say `REQUIRES: gpu`; where there is none lit counts them as unsupported.
if os.path.exists("/dev/nvidia0"):
    config.available_features.add("gpu")
