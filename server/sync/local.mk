libcairnd_a_SOURCES += \
	server/sync/fanout.c \
	server/sync/fanout.h \
	server/sync/subscription.c \
	server/sync/subscription.h \
	server/sync/view.c \
	server/sync/view.h
