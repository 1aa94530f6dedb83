# What a lit test may use:
#   kiln-opt, kiln-lsp-server, kiln, kiln-exec   the tools of this build (those that are built)
#   FileCheck, not, count, split-file   from the LLVM package
#   %kiln        the path of `kiln`
#   %toy         the path of a `kiln` that has one more platform (test/Platform/Toy)
#   %examples    the folder of the built examples
#   %pages       the folder of the programs that pages of the documentation are made into
#   %cxx         the C++ compiler of this build, to check a file that includes kiln's headers
#   %compile     the same, to compile C++ that uses them; such a test says `REQUIRES: orchestration-compiler`
#   %emulate     runs a command with the emulated GPU in place of one; such a test says `REQUIRES: emulated-gpu`
#   %python      a Python that has torch; such a test says `REQUIRES: torch`
#   %any_python  a Python 3 of which nothing more is known
# Features: `cuda-compiler` when NVRTC or nvcc is there, `no-gpu` without a CUDA driver,
# `torch` when scripts/find-python finds such a Python, `kiln` when the `kiln` tool is built.
# A test whose requirement is missing is reported as unsupported, by name.
import ctypes
import os
import subprocess
import sys

import lit.formats
import lit.util

config.name = "kiln"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.kiln_build_root, "test")

tools = os.path.join(config.kiln_build_root, "bin")
config.environment["PATH"] = os.pathsep.join([tools, config.llvm_tools_dir, config.environment["PATH"]])
# A test compiles what it runs, and leaves nothing behind; who tests the cache says KILN_CACHE=1.
config.environment["KILN_CACHE"] = "0"
for name in ("KILN_PYTHON", "LD_LIBRARY_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
if config.kiln_sanitize:
    # The packaged MLIR is not instrumented and keeps its registries until the process ends.
    config.environment.setdefault("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", ""))
    config.environment.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
    config.available_features.add("sanitizer")

# A missing tool would make every `not` test pass.
for tool in ("FileCheck", "not", "count"):
    if not lit.util.which(tool, config.llvm_tools_dir):
        lit_config.fatal(f"{tool} is not in {config.llvm_tools_dir}; scripts/setup installs llvm-22-tools")
if not lit.util.which("kiln-opt", tools):
    lit_config.fatal(f"kiln-opt is not built; build it into {tools} first")

if lit.util.which("kiln", tools):
    config.available_features.add("kiln")
# What is compiled here is loaded into a tool; an instrumented one wants it instrumented, too.
if lit.util.which(config.cxx.split()[-1]) and not config.kiln_sanitize:
    config.available_features.add("orchestration-compiler")

# An instrumented program cannot be traced everywhere.
if lit.util.which("gdb") and not config.kiln_sanitize:
    config.available_features.add("gdb")
if config.cxx_id == "Clang":
    config.available_features.add("clang")

# What compiles CUDA C++ here, and whether a driver might run it; the compiler looks in the same places.
cuda_libraries = ("libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.13",
                  "/usr/local/cuda/lib/libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.12")


def can_open(library):
    try:
        return bool(ctypes.CDLL(library))
    except OSError:
        return False


if any(map(can_open, cuda_libraries)) or lit.util.which("nvcc") or os.access("/usr/local/cuda/bin/nvcc", os.X_OK):
    config.available_features.add("cuda-compiler")
if not can_open("libcuda.so.1"):
    config.available_features.add("no-gpu")

# A GPU of the host's (device/emulated), which compiles emitted kernels by itself.
emulate = os.path.join(config.kiln_build_root, "device", "emulated", "emulate")
if os.path.exists(os.path.join(os.path.dirname(emulate), "libcuda.so.1")) and not config.kiln_sanitize:
    config.available_features.add("emulated-gpu")

# Ranks that are processes; as root, Open MPI wants to be told that it is meant.
mpirun = lit.util.which("mpirun")
if mpirun and os.path.exists(os.path.join(config.kiln_build_root, "lib", "libkiln_mpi.so")) and not config.kiln_sanitize:
    config.available_features.add("mpi")
mpirun = f"timeout 120 {mpirun} --oversubscribe" + (" --allow-run-as-root" if os.geteuid() == 0 else "")

find_python = subprocess.run(
    [os.path.join(config.kiln_source_root, "scripts", "find-python")], capture_output=True, text=True, check=False
)
if find_python.returncode == 0:
    config.available_features.add("torch")
python = find_python.stdout.strip() or "no-python-with-torch"

# Some of the front end is generated from the table of elementwise ops.
includes = f"-I{config.kiln_source_root}/include -I{config.kiln_build_root}/include"
config.substitutions += [
    ("%kiln", os.path.join(tools, "kiln")),
    ("%emulate", emulate),
    ("%mpirun", mpirun),
    ("%toy", os.path.join(config.kiln_build_root, "test", "Platform", "Toy", "bin", "kiln")),
    ("%examples", os.path.join(config.kiln_build_root, "examples")),
    ("%pages", os.path.join(config.kiln_build_root, "docs")),
    ("%cxx", f"{config.cxx} -std=c++20 -fsyntax-only {includes}"),
    ("%compile", f"{config.cxx} -std=c++20 {includes}"),
    ("%any_python", sys.executable),
    ("%python", python),
]
