libengine_a_SOURCES += \
	server/engine/solvers/solver.h \
	server/engine/solvers/solver.c \
	server/engine/solvers/lcp.h \
	server/engine/solvers/lcp.c \
	server/engine/solvers/lcp_wide.h \
	server/engine/solvers/lcp_wide.c \
	server/engine/solvers/lcp_core.h \
	server/engine/solvers/lcp_core.c \
	server/engine/solvers/lcp_core_band.c \
	server/engine/solvers/lcp_drive.c \
	server/engine/solvers/lcp_dantzig.h \
	server/engine/solvers/lcp_dantzig.c \
	server/engine/solvers/lcp_friction.h \
	server/engine/solvers/lcp_friction.c \
	server/engine/solvers/lcp_friction_drive.c \
	server/engine/solvers/lcp_friction_sparse.c \
	server/engine/solvers/lcp_friction_sweep.h \
	server/engine/solvers/lcp_friction_sweep.c \
	server/engine/solvers/lcp_friction_sparse.h \
	server/engine/solvers/lcp_sparse.h \
	server/engine/solvers/lcp_sparse.c \
	server/engine/solvers/lcp_sparse_core.h \
	server/engine/solvers/lcp_sparse_active.c \
	server/engine/solvers/lcp_sparse_interior.c \
	server/engine/solvers/lcp_sparse_newton.c \
	server/engine/solvers/lcp_sparse_order.c \
	server/engine/solvers/lcp_sparse_proof.c \
	server/engine/solvers/lcp_sparse_scale.c \
	server/engine/solvers/qp.h \
	server/engine/solvers/qp.c \
	server/engine/solvers/qp_dual_active_set.h \
	server/engine/solvers/qp_dual_active_set.c

tests_lib_libtests_a_SOURCES += tests/lib/gen_lcp.h tests/lib/gen_lcp.c tests/lib/gen_qp.h tests/lib/gen_qp.c \
	tests/lib/gen_sparse.h tests/lib/gen_sparse.c tests/lib/far_residual.h

UNIT_TESTS += \
	tests/unit/server/engine/solvers/test_lcp \
	tests/unit/server/engine/solvers/test_lcp_sparse \
	tests/unit/server/engine/solvers/test_qp \
	tests/unit/server/engine/solvers/test_qp_conditions \
	tests/unit/server/engine/solvers/test_friction \
	tests/unit/server/engine/solvers/test_friction_sparse \
	tests/unit/server/engine/solvers/test_contract \
	tests/property/test_hard_qp \
	tests/property/test_contact_problems \
	tests/property/test_sparse_problems

# Linear programs.
libengine_a_SOURCES += \
	server/engine/solvers/lp.h \
	server/engine/solvers/lp.c \
	server/engine/solvers/lp_basis.c \
	server/engine/solvers/lp_dual_phase.c \
	server/engine/solvers/lp_dual_simplex.h \
	server/engine/solvers/lp_dual_simplex.c \
	server/engine/solvers/lp_factor.h \
	server/engine/solvers/lp_factor.c \
	server/engine/solvers/lp_factor_solve.c \
	server/engine/solvers/lp_load.c \
	server/engine/solvers/lp_primal_phase.c \
	server/engine/solvers/lp_program.c \
	server/engine/solvers/lp_program.h \
	server/engine/solvers/lp_simplex.h

tests_lib_libtests_a_SOURCES += tests/lib/gen_lp.h tests/lib/gen_lp.c \
	tests/lib/gen_lp_family.h tests/lib/gen_lp_family.c
UNIT_TESTS += tests/unit/server/engine/solvers/test_lp
# The reader of bench-lp-sets.
UNIT_TESTS += tests/property/test_mps
tests_property_test_mps_SOURCES = tests/property/test_mps.c tests/bench/mps.c tests/bench/mps.h

# CLP is the oracle of this test; the product does not use it.
if HAVE_CLP
UNIT_TESTS += tests/property/test_lp_clp
tests_property_test_lp_clp_SOURCES = tests/property/test_lp_clp.c tests/lib/lp_clp.c tests/lib/lp_clp.h
tests_property_test_lp_clp_LDADD = $(LDADD) -lClp -lCoinUtils

# The programs of running scenes: the solver's calls go through the test, which asks CLP as well.
UNIT_TESTS += tests/property/test_lp_recorded
tests_property_test_lp_recorded_SOURCES = tests/property/test_lp_recorded.c tests/lib/lp_clp.c tests/lib/lp_clp.h \
	server/commands/batch_world.c
tests_property_test_lp_recorded_LDFLAGS = -Wl,--wrap=lp_dual_simplex_solve
tests_property_test_lp_recorded_LDADD = $(LDADD) -lClp -lCoinUtils

# 500 programs of steps of piles beside CLP: optima, pivots and times.
bench-lp-steps: tests/property/test_lp_recorded
	CAIRN_SRCDIR=$(abs_top_srcdir) CAIRN_LP_RECORDED=500 CK_TIMEOUT_MULTIPLIER=60 ./tests/property/test_lp_recorded

# Compares 10^5 programs with CLP.
soak-lp: tests/property/test_lp_clp
	CAIRN_LP_CASES=100000 ./tests/property/test_lp_clp
endif
.PHONY: soak-lp bench-lp-steps
FUZZ_TARGETS += tests/fuzz/fuzz_lp
tests_fuzz_fuzz_lp_LDADD = $(LDADD_FUZZ)

FUZZ_TARGETS += tests/fuzz/fuzz_lcp
tests_fuzz_fuzz_lcp_LDADD = $(LDADD_FUZZ)
FUZZ_TARGETS += tests/fuzz/fuzz_impact
tests_fuzz_fuzz_impact_LDADD = $(LDADD_FUZZ)
FUZZ_TARGETS += tests/fuzz/fuzz_qp
tests_fuzz_fuzz_qp_LDADD = $(LDADD_FUZZ)

# The soak tests: 10^5 problems for each family and solver, each solution checked with more digits; stacks of 100,
# walls of 20 rows, a sparse wall of 5000 bricks. All tests run, even if one fails.
.PHONY: soak-solvers
soak-solvers: tests/property/test_contact_problems tests/property/test_sparse_problems \
	tests/property/test_hard_qp tests/unit/server/engine/solvers/test_lcp_sparse \
	tests/unit/server/engine/solvers/test_friction_sparse \
	tests/unit/server/engine/solvers/test_friction tests/unit/server/engine/solvers/test_qp
	failed=0; for test in $^; do CAIRN_SOLVER_COUNT=100000 CAIRN_SOLVER_SIZE=100 \
		CK_TIMEOUT_MULTIPLIER=60 ./$$test || failed=1; done; exit $$failed

# Simultaneous impacts.
tests_lib_libtests_a_SOURCES += tests/lib/impact.h tests/lib/impact.c
libengine_a_SOURCES += \
	server/engine/solvers/impulse.h \
	server/engine/solvers/impulse.c \
	server/engine/solvers/reflection.h \
	server/engine/solvers/reflection.c
UNIT_TESTS += \
	tests/unit/server/engine/solvers/test_impulse \
	tests/unit/server/engine/solvers/test_reflection
