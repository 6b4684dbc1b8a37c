libcairnd_a_SOURCES += \
	server/host/host.c \
	server/host/host.h \
	server/host/host_boundary.c \
	server/host/host_joints.c \
	server/host/host_fields.c \
	server/host/host_particles.c \
	server/host/host_lists.c \
	server/host/host_looks.c \
	server/host/host_requests.c \
	server/host/host_modes.c \
	server/host/host_moments.c \
	server/host/host_players.c \
	server/host/host_answer.h \
	server/host/host_query.c \
	server/host/host_robot.c \
	server/host/host_stability.h \
	server/host/host_stability.c \
	server/host/host_shape_query.c \
	server/host/host_report.c \
	server/host/host_report_joints.c \
	server/host/host_snapshots.c \
	server/host/host_state.h \
	server/host/host_plan.c \
	server/host/step_plan.c \
	server/host/step_plan.h \
	server/host/host_past.c \
	server/host/report.h \
	server/host/report_world.c \
	server/host/report_world.h \
	server/host/report_queue.c \
	server/host/report_queue.h

UNIT_TESTS += \
	tests/unit/server/host/test_host_threads \
	tests/unit/server/host/test_report_queue
THREAD_TESTS += tests/unit/server/host/test_host_threads tests/unit/server/host/test_report_queue
