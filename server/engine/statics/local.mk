libengine_a_SOURCES += \
	server/engine/statics/counterweights.h \
	server/engine/statics/counterweights.c \
	server/engine/statics/overhang.h \
	server/engine/statics/overhang.c \
	server/engine/statics/equilibrium.h \
	server/engine/statics/equilibrium.c \
	server/engine/statics/support.h \
	server/engine/statics/support.c \
	server/engine/statics/stability.h \
	server/engine/statics/parts.c \
	server/engine/statics/parts.h \
	server/engine/statics/stability_parts.c \
	server/engine/statics/uniqueness.h \
	server/engine/statics/uniqueness.c \
	server/engine/statics/lowest.h \
	server/engine/statics/lowest.c \
	server/engine/statics/plates.h \
	server/engine/statics/plates.c \
	server/engine/statics/stability.c
UNIT_TESTS += tests/unit/server/engine/statics/test_carried tests/unit/server/engine/statics/test_geared tests/unit/server/engine/statics/test_lowest tests/unit/server/engine/statics/test_unique tests/unit/server/engine/statics/test_overhang tests/unit/server/engine/statics/test_stability tests/unit/server/engine/world/test_stability_world
tests_lib_libtests_a_SOURCES += tests/lib/frames.h tests/lib/frames.c tests/lib/towers.h tests/lib/towers.c
