# tests/mutation: small faults that tests must notice; `make mutants` is not part of check (docs/TESTING.md).
#
# MUTANTS="word…" names faults by a part of their name; MUTANT_JOBS copies of the tree are worked on at a time.
MUTANT_JOBS = 2
MUTANTS =
.PHONY: mutants
mutants:
	MUTANT_JOBS=$(MUTANT_JOBS) $(top_srcdir)/tests/mutation/run $(abs_top_srcdir) $(abs_top_builddir) $(MUTANTS)
EXTRA_DIST += tests/mutation/run tests/mutation/main.py tests/mutation/faults.py tests/mutation/scratch.py \
	tests/mutation/faults
