noinst_PROGRAMS += tests/golden/golden
tests_golden_golden_SOURCES = tests/golden/golden.c tests/golden/scenes.h tests/golden/scenes.c \
	tests/golden/solvers.h tests/golden/solvers.c tests/golden/closest.h tests/golden/closest.c \
	tests/golden/shapes.h tests/golden/shapes.c tests/golden/overlap.h tests/golden/overlap.c \
	server/io/parallel_pool.h server/io/parallel_pool.c
# The engine and threads alone, so that a build for other hashes compiles nothing else.
tests_golden_golden_LDADD = tests/lib/libtests.a $(ENGINE_LIBS) $(CHECK_LIBS)
TESTS += tests/golden/run
EXTRA_DIST += tests/golden/run tests/golden/motion.txt tests/golden/state.txt \
	tests/golden/answers.txt

# make golden-aarch64: the same hashes on another processor, with and without optimisation: cross builds run by
# qemu-user. Needs root, gcc-aarch64-linux-gnu and qemu-user; not a part of `make check`.
.PHONY: golden-aarch64
golden-aarch64:
	for level in -O0 -O2; do $(top_srcdir)/tests/tools/aarch64_build $(abs_top_srcdir) aarch64 tests/golden/golden $$level && \
		CAIRN_SRCDIR=$(abs_top_srcdir) aarch64/golden$$level || exit 1; done
