# The commands of daily work; CMake does the real work. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -eo pipefail -c
.DEFAULT_GOAL := help

JOBS ?= $(shell nproc)
CMAKE_BUILD_TYPE ?= Release
CMAKE_FLAGS ?=
FUZZ_RUNS ?= 100000
FUZZ_SECONDS ?= 3600
SETUP ?= scripts/setup
PREFIX ?= /usr/local
# What ccache must overlook to cache units that use the precompiled header.
export CCACHE_SLOPPINESS := pch_defines,time_macros,include_file_ctime,include_file_mtime
# What a unit includes is read from what the compiler says, instead of preprocessing it first: a twelfth of a first build.
export CCACHE_DEPEND := 1

# $(call configure,<folder>,<flags>)
configure = cmake -G Ninja -S . -B $(1) $(2) $(CMAKE_FLAGS) \
	$$(command -v ccache >/dev/null && echo -DCMAKE_{C,CXX}_COMPILER_LAUNCHER=ccache)
# $(call run-tests,<folder>): an empty test list is a failure, not a success.
run-tests = ctest --test-dir $(1) -j $(JOBS) --output-on-failure --no-tests=error
# clang compiles this code in two thirds of the time that GCC takes, and instrumented code in one third; CXX=g++ chooses
# GCC.
fast-compiler = $(if $(filter default,$(origin CXX)),$$(command -v clang++-22 >/dev/null && \
	echo -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22))
# Instrumented code at -O2 -g takes more than twice as long to compile.
sanitizer-build = -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1 -DNDEBUG"
asan-flags = $(sanitizer-build) -DKILN_SANITIZE=address,undefined
tsan-flags = $(sanitizer-build) -DKILN_SANITIZE=thread -DKILN_RUNTIME_ONLY=ON
# Sources for the formatter: tracked files, and new ones that git does not ignore; whoever owns the clone.
sources = git -c safe.directory='*' ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.h' '*.cuh'

.PHONY: help demo test build configure install package bench bench-compare verify-all docs asan tsan fuzz format format-check lint clean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16
	@echo
	@echo "Variables: JOBS=$(JOBS)  CMAKE_BUILD_TYPE=$(CMAKE_BUILD_TYPE)  CMAKE_FLAGS=..."
	@echo "           PREFIX=$(PREFIX)  DESTDIR=$(DESTDIR)"
	@echo "           FUZZ_RUNS=$(FUZZ_RUNS)  FUZZ_SECONDS=$(FUZZ_SECONDS)  SETUP=true to install nothing"

# A folder of its own, because a compiler for daily work is optimised and this one is not.
demo: ## build what the showcase program needs, quickly, then run it (build-demo/)
	$(SETUP)
	$(call configure,build-demo,-DCMAKE_BUILD_TYPE=Quick $(fast-compiler))
	ninja -C build-demo -j $(JOBS) kiln kiln-exec flash_attention
	scripts/demo build-demo

test: build ## build, then run every test
	$(call run-tests,build)

build: configure ## install what is missing, then build into build/
	ninja -C build -j $(JOBS)

install: configure ## build what is installed, and install it: PREFIX=/usr/local DESTDIR=
	ninja -C build -j $(JOBS) kiln-package
	cmake --install build --prefix $(PREFIX) --strip

package: configure ## make the archive that runs where it is unpacked, and the wheel (build/kiln-*)
	ninja -C build -j $(JOBS) kiln-package
	packaging/make-archive build

configure:
	$(SETUP)
	$(call configure,build,-DCMAKE_BUILD_TYPE=$(CMAKE_BUILD_TYPE) $(fast-compiler))

bench: build ## build, then run the CPU benchmarks
	rm -f build/bench/bench.json
	build/bin/kiln_bench_engine --json build/bench/bench.json
	build/bin/kiln_bench_jit --json build/bench/bench.json
	build/bin/kiln_bench_groups --json build/bench/bench.json
	build/bin/kiln_bench_kernels --json build/bench/bench.json
	scripts/bench-ranks build
	scripts/bench-report build/bench/bench.json

bench-compare: bench ## the same, then flag what is worse than bench/baseline.json by more than the spread
	scripts/bench-report build/bench/bench.json --compare bench/baseline.json

verify-all: build ## compile every example for every machine, verify each pass, prove, simulate, conformance at length
	scripts/verify-all build
	scripts/conformance --all build

docs: configure ## generate the op pages from the dialect definitions
	ninja -C build -j $(JOBS) kiln-docs

# The packaged LLVM is not instrumented: what it poisons by hand and frees at exit would be false alarms.
asan: export ASAN_OPTIONS = detect_leaks=0:allow_user_poisoning=0:allocator_may_return_null=1
asan: export UBSAN_OPTIONS = halt_on_error=1:print_stacktrace=1
asan: ## build and test under AddressSanitizer and UBSan (build-asan/)
	$(SETUP) --sanitize
	$(call configure,build-asan,$(asan-flags) $(fast-compiler))
	ninja -C build-asan -j $(JOBS)
	$(call run-tests,build-asan)

# A test asks for too much memory, and malloc says no.
tsan: export TSAN_OPTIONS = allocator_may_return_null=1
tsan: ## build and test the runtime under ThreadSanitizer (build-tsan/)
	$(SETUP) --runtime-only --sanitize
	$(call configure,build-tsan,$(tsan-flags) $(fast-compiler))
	ninja -C build-tsan -j $(JOBS)
	$(call run-tests,build-tsan)

fuzz: ## fuzz the readers of files, then the parser, the verifiers and the passes (build-fuzz/)
	$(SETUP) --fuzz
	for target in entry bundle dump npy arguments view parse; do JOBS=$(JOBS) fuzz/run build-fuzz --target=$$target \
		-runs=$(FUZZ_RUNS) -max_total_time=$(FUZZ_SECONDS); done

format: ## format the C++ sources in place
	$(sources) | xargs -0 -r clang-format-22 -i

format-check: ## check the format, who includes whom, code that targets repeat, and what the documentation names
	$(sources) | xargs -0 -r clang-format-22 --dry-run -Werror
	scripts/check-includes
	scripts/check-duplicates
	scripts/check-docs

lint: build format-check ## the same, then run clang-tidy on what it has not seen clean
	$(SETUP) --lint
	scripts/tidy -j $(JOBS) build

clean: ## remove every build folder
	rm -rf build build-demo build-asan build-tsan build-fuzz
