libengine_a_SOURCES += \
	server/engine/math/scalar.h \
	server/engine/math/vec2.h \
	server/engine/math/vec3.h \
	server/engine/math/vec3f.h \
	server/engine/math/mat3.h \
	server/engine/math/sym3.h \
	server/engine/math/sym3f.h \
	server/engine/math/pose.h \
	server/engine/math/quat.h \
	server/engine/math/quat.c \
	server/engine/math/interpolate.h \
	server/engine/math/interpolate.c \
	server/engine/math/trig.h \
	server/engine/math/trig.c \
	server/engine/math/trig_tables.h \
	server/engine/math/double_double.h \
	server/engine/math/vector_lanes.h \
	server/engine/math/wide.h \
	server/engine/math/float_environment.h \
	server/engine/math/float_environment.c

UNIT_TESTS += \
	tests/unit/server/engine/math/test_interpolate \
	tests/unit/server/engine/math/test_quat \
	tests/unit/server/engine/math/test_scalar \
	tests/unit/server/engine/math/test_sym3 \
	tests/unit/server/engine/math/test_trig \
	tests/unit/server/engine/math/test_vec3 \
	tests/unit/server/engine/math/test_wide
EXTRA_DIST += tests/data/make_trig.py tests/data/trig_points.txt
