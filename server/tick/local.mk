# server/tick: when a world steps and with which commands.
libcairnd_a_SOURCES += \
	server/tick/runnable.h \
	server/tick/pool.h
