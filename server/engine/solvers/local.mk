libengine_a_SOURCES += \
	server/engine/solvers/solver.h \
	server/engine/solvers/solver.c
