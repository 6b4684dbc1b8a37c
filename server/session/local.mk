libcairnd_a_SOURCES += \
	server/session/outbox.c \
	server/session/outbox.h
