# libcairnproto.a: the language both sides speak.
libcairnproto_a_SOURCES += \
	protocol/limits.h \
	protocol/messages.def \
	protocol/capabilities.def \
	protocol/message.h \
	protocol/message.c
