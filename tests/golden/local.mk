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
EXTRA_DIST += tests/golden/aarch64 tests/golden/sha256.c tests/golden/no_order.c

# The same hashes on another processor: a cross build run by qemu-user. Needs gcc-aarch64-linux-gnu,
# libc6-dev-arm64-cross and qemu-user; not a part of `make check`.
.PHONY: golden-aarch64
golden-aarch64:
	$(top_srcdir)/tests/golden/aarch64 $(abs_top_srcdir) '$(CAIRN_CFLAGS)' \
		$(libengine_a_SOURCES) $(libbase_a_SOURCES)
