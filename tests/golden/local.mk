noinst_PROGRAMS += tests/golden/golden
tests_golden_golden_SOURCES = tests/golden/golden.c tests/golden/scenes.h tests/golden/scenes.c
TESTS += tests/golden/run
EXTRA_DIST += tests/golden/run tests/golden/hashes.txt
