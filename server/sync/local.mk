libcairnd_a_SOURCES += \
	server/sync/allowance.c \
	server/sync/allowance.h \
	server/sync/fanout.c \
	server/sync/fanout.h \
	server/sync/fanout_encode.c \
	server/sync/fanout_joints.c \
	server/sync/fanout_particles.c \
	server/sync/fanout_state.h \
	server/sync/interest.c \
	server/sync/interest.h \
	server/sync/interest_grid.c \
	server/sync/interest_grid.h \
	server/sync/interest_sights.c \
	server/sync/quantised.c \
	server/sync/quantised.h \
	server/sync/ration.c \
	server/sync/ration.h \
	server/sync/subscription.c \
	server/sync/subscription.h \
	server/sync/view.c \
	server/sync/view.h \
	server/sync/view_joints.c \
	server/sync/view_joints.h \
	server/sync/view_particles.c \
	server/sync/view_particles.h

tests_lib_libtests_a_SOURCES += \
	tests/lib/fan_hall.h \
	tests/lib/fan_hall.c \
	tests/lib/gen_reports.h \
	tests/lib/gen_reports.c \
	tests/lib/cubes.h \
	tests/lib/cubes.c \
	tests/lib/watchers.h \
	tests/lib/watchers.c

UNIT_TESTS += \
	tests/unit/server/sync/test_allowance \
	tests/unit/server/sync/test_fanout \
	tests/unit/server/sync/test_fanout_joints \
	tests/unit/server/sync/test_interest \
	tests/unit/server/sync/test_quantised \
	tests/unit/server/sync/test_cubes \
	tests/unit/server/sync/test_events \
	tests/unit/server/sync/test_view
