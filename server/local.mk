# server/*.c but main.c, and the rooms of the daemon that stand below the sessions.
libcairnd_a_SOURCES += \
	server/log.h \
	server/log.c \
	server/stats.h \
	server/stats.c \
	server/options.def \
	server/options.h \
	server/options.c

include server/io/local.mk
include server/tick/local.mk
