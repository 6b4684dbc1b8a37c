# server/io: streams, clocks, threads.
libcairnd_a_SOURCES += \
	server/io/instant.h \
	server/io/address.h \
	server/io/frame.h \
	server/io/io.h \
	server/io/io_uv.h \
	server/io/executor.h \
	server/io/executor_uv.h \
	server/io/parallel_pool.h
