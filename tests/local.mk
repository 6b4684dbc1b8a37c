# tests/local.mk: the common test library and how each kind of test is run. All tests print TAP.
#
# Unit tests: one program of one source, tests/unit/<path>/test_<noun>.c, linked with every archive:
#   UNIT_TESTS += tests/unit/<path>/test_<noun>
# Python tests: pytest files (clients/python on the path; the build directory in CAIRN_BUILDDIR):
#   PYTHON_TESTS += tests/system/test_<noun>.py
# Fuzz targets: LLVMFuzzerTestOneInput in tests/fuzz/fuzz_<noun>.c, corpus in tests/fuzz/corpus/<noun>/;
# two lines each. `make check` replays the corpus, --enable-fuzzing builds it with libFuzzer:
#   FUZZ_TARGETS += tests/fuzz/fuzz_<noun>
#   tests_fuzz_fuzz_<noun>_LDADD = $(LDADD_FUZZ)
# Tests with threads are listed here too, so that they also run under ThreadSanitizer:
#   THREAD_TESTS += tests/unit/<path>/test_<noun>
# Long motions that are compared with each other, and pages of commands, run where AddressSanitizer does not slow them:
# shorter tests touch the same memory:
#   LONG_TESTS += tests/unit/<path>/test_<noun>
# Anything else executable that prints TAP (from the source tree or built):
#   TESTS += tests/golden/run
# Helpers used by several tests go into tests/lib:
#   tests_lib_libtests_a_SOURCES += tests/lib/near.h tests/lib/near.c
check_LIBRARIES = tests/lib/libtests.a
tests_lib_libtests_a_SOURCES += tests/lib/check_main.h tests/lib/check_main.c

check_PROGRAMS += $(UNIT_TESTS)
# Roughly the longest kinds first; tests/run and .ci/run begin with tests/longest.
TESTS += $(PYTHON_TESTS) $(UNIT_TESTS) tests/lib/test_tally

LONG_TESTS = \
	tests/property/test_joint_scenes \
	tests/property/test_robots \
	tests/system/test_gallery.py \
	tests/system/test_piles.py \
	tests/system/test_same_history.py \
	tests/system/test_stability.py \
	tests/system/test_tutorials.py \
	tests/unit/server/engine/methods/test_impact_rough \
	tests/unit/server/engine/methods/test_joint_book \
	tests/unit/server/engine/methods/test_parameters \
	tests/unit/server/engine/methods/test_soft_cluster \
	tests/unit/server/engine/methods/test_velocity_joint \
	tests/unit/server/engine/methods/test_velocity_mechanism \
	tests/unit/server/engine/methods/test_velocity_scenes

# ---- fuzz targets --------------------------------------------------------------------------------
if FUZZING
LDADD_FUZZ = $(LIBFUZZER) $(LDADD)
noinst_PROGRAMS += $(FUZZ_TARGETS)
else
check_LIBRARIES += tests/fuzz/libreplay.a
tests_fuzz_libreplay_a_SOURCES = tests/fuzz/fuzz_input.h tests/fuzz/replay_main.c
LDADD_FUZZ = tests/fuzz/libreplay.a $(LDADD)
check_PROGRAMS += $(FUZZ_TARGETS)
TESTS += $(FUZZ_TARGETS)
endif

# Total time of `make fuzz` in seconds, divided among the targets.
FUZZ_SECONDS = 240
.PHONY: fuzz fuzz-targets
fuzz-targets: $(FUZZ_TARGETS)
fuzz: $(FUZZ_TARGETS)
	$(top_srcdir)/tests/fuzz/run $(abs_top_srcdir) $(abs_top_builddir) $(FUZZ_SECONDS) $(FUZZ_TARGETS)

# fuzz-coverage reports the lines that the committed corpora reach, in a separate build. fuzz-minimise needs
# a build with --enable-fuzzing: it merges fuzz/<noun> into each corpus and reduces the corpus.
.PHONY: fuzz-coverage fuzz-minimise
fuzz-coverage:
	$(top_srcdir)/tests/fuzz/coverage $(abs_top_srcdir) $(abs_top_builddir) $(FUZZ_TARGETS)
fuzz-minimise: $(FUZZ_TARGETS)
	$(top_srcdir)/tests/fuzz/minimise $(abs_top_srcdir) $(abs_top_builddir) $(FUZZ_TARGETS)

# ---- how tests are run ---------------------------------------------------------------------------
# Seconds after which a test program is killed as hung. Tests of `make check` must stay far below this: the longest,
# 39 s of processor time, took 600 s beside a dozen browsers and compilers on a slow machine.
TEST_SECONDS = 1200
TEST_TIMEOUT = $(top_srcdir)/tests/lib/timed $(TEST_SECONDS)
# Prints the tests that took more than COST_SECONDS of processor time in the last `make check`.
COST_SECONDS = 4
.PHONY: test-costs
test-costs:
	@$(top_srcdir)/tests/costs . $(COST_SECONDS)

TEST_EXTENSIONS = .py .js
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(TEST_TIMEOUT)
PY_LOG_DRIVER = $(LOG_DRIVER)
PY_LOG_COMPILER = $(TEST_TIMEOUT) $(PYTHON) $(top_srcdir)/tests/lib/pytest_tap.py
JS_LOG_DRIVER = $(LOG_DRIVER)
JS_LOG_COMPILER = $(TEST_TIMEOUT) $(top_srcdir)/clients/web/check

# CAIRN_SANITIZE names the sanitizers of the build, for tests that measure memory or time.
# Tests find their data in CAIRN_SRCDIR and write only below CAIRN_BUILDDIR or $TMPDIR. Check's limit
# of 4 s a case is multiplied by 30, because it assumes an idle machine; for the same reason clients wait two minutes
# for an answer.
AM_TESTS_ENVIRONMENT = \
	CAIRN_SRCDIR='$(abs_top_srcdir)'; export CAIRN_SRCDIR; \
	CAIRN_BUILDDIR='$(abs_top_builddir)'; export CAIRN_BUILDDIR; \
	CAIRN_SANITIZE='$(CAIRN_SANITIZE)'; export CAIRN_SANITIZE; \
	PYTHONPATH='$(abs_top_srcdir)/clients/python'; export PYTHONPATH; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	CK_TIMEOUT_MULTIPLIER=$${CK_TIMEOUT_MULTIPLIER-30}; export CK_TIMEOUT_MULTIPLIER; \
	CAIRN_TIMEOUT=$${CAIRN_TIMEOUT-120000}; export CAIRN_TIMEOUT; \
	UBSAN_OPTIONS=$${UBSAN_OPTIONS-print_stacktrace=1}; export UBSAN_OPTIONS;

EXTRA_DIST += $(PYTHON_TESTS) tests/lib/pytest_tap.py tests/lib/tally.sh tests/lib/test_tally tests/fuzz/run \
	tests/fuzz/coverage tests/fuzz/minimise tests/fuzz/seeds tests/fuzz/targets tests/fuzz/words \
	tests/lib/timed tests/costs tests/longest tests/lint tests/run tests/fuzz/corpus docs server/setup server/quickstart .ci/run .github
