# Bodies and joints as forests in reduced coordinates.
libengine_a_SOURCES += \
	server/engine/articulated/articulation.h \
	server/engine/articulated/articulation.c \
	server/engine/articulated/closure.h \
	server/engine/articulated/closure.c \
	server/engine/articulated/tree_dynamics.h \
	server/engine/articulated/tree_dynamics.c
UNIT_TESTS += tests/unit/server/engine/articulated/test_articulation
