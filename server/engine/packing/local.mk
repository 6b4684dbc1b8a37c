libengine_a_SOURCES += \
	server/engine/packing/packing.h \
	server/engine/packing/packing.c \
	server/engine/packing/packing_pairs.c \
	server/engine/packing/packing_parts.c \
	server/engine/packing/packing_region.c \
	server/engine/packing/packing_solve.c \
	server/engine/packing/packing_work.h
# Compacts 100 polygons of 75 corners, and checks and prints each jump.
.PHONY: bench-packing
bench-packing: tests/unit/server/engine/packing/test_packing
	CAIRN_PACKING=1 CK_RUN_CASE=large ./tests/unit/server/engine/packing/test_packing

UNIT_TESTS += tests/unit/server/engine/packing/test_packing
tests_lib_libtests_a_SOURCES += tests/lib/gen_packing.h tests/lib/gen_packing.c
