libengine_a_SOURCES += \
	server/engine/solvers/solver.h \
	server/engine/solvers/solver.c \
	server/engine/solvers/lcp.h \
	server/engine/solvers/lcp.c \
	server/engine/solvers/lcp_core.h \
	server/engine/solvers/lcp_core.c \
	server/engine/solvers/lcp_drive.c \
	server/engine/solvers/lcp_dantzig.h \
	server/engine/solvers/lcp_dantzig.c \
	server/engine/solvers/lcp_friction.h \
	server/engine/solvers/lcp_friction.c \
	server/engine/solvers/lcp_friction_drive.c

tests_lib_libtests_a_SOURCES += tests/lib/gen_lcp.h tests/lib/gen_lcp.c

UNIT_TESTS += \
	tests/unit/server/engine/solvers/test_lcp \
	tests/unit/server/engine/solvers/test_friction \
	tests/property/test_contact_problems
