# Collision: broad phase, distances, separating axes, manifolds.
libengine_a_SOURCES += \
	server/engine/collision/broad_phase.h \
	server/engine/collision/broad_phase.c \
	server/engine/collision/manifold.h \
	server/engine/collision/tree.h \
	server/engine/collision/tree.c

UNIT_TESTS += \
	tests/unit/server/engine/collision/test_broad_phase \
	tests/unit/server/engine/collision/test_tree
