# server/io: streams and their queues, clocks, threads, the log.
libcairnd_a_SOURCES += \
	server/io/instant.c \
	server/io/instant.h \
	server/io/address.h \
	server/io/address.c \
	server/io/frame.h \
	server/io/frame.c \
	server/io/lock.h \
	server/io/log.h \
	server/io/log.c \
	server/io/io.h \
	server/io/io.c \
	server/io/io_uv.h \
	server/io/io_uv.c \
	server/io/uv_internal.h \
	server/io/uv_listener.c \
	server/io/uv_stream.c \
	server/io/executor.h \
	server/io/entropy.c \
	server/io/entropy.h \
	server/io/config_file.c \
	server/io/config_file.h \
	server/io/executor.c \
	server/io/executor_uv.h \
	server/io/notify.c \
	server/io/notify.h \
	server/io/outbox.h \
	server/io/outbox.c \
	server/io/executor_uv.c \
	server/io/tls_stream.h \
	server/io/tls_stream.c \
	server/io/privileges.h \
	server/io/privileges.c \
	server/io/secret_file.h \
	server/io/secret_file.c \
	server/io/parallel_pool.h \
	server/io/parallel_pool.c

# The simulated network and threads, for every test that runs the daemon or a part of it.
tests_lib_libtests_a_SOURCES += \
	tests/lib/io_sim.h \
	tests/lib/io_sim_internal.h \
	tests/lib/io_sim.c \
	tests/lib/io_sim_net.c \
	tests/lib/io_sim_executor.c

IO_TESTS = \
	tests/unit/server/io/test_executor \
	tests/unit/server/io/test_frame \
	tests/unit/server/io/test_io \
	tests/unit/server/io/test_parallel_pool
UNIT_TESTS += $(IO_TESTS) \
	tests/unit/server/io/test_address \
	tests/unit/server/io/test_config_file \
	tests/unit/server/io/test_io_sim \
	tests/unit/server/io/test_log \
	tests/unit/server/io/test_outbox \
	tests/unit/server/io/test_tls_stream
THREAD_TESTS += $(IO_TESTS)
