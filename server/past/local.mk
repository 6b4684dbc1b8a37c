libcairnd_a_SOURCES += \
	server/past/past.c \
	server/past/past.h \
	server/past/past_archive.c \
	server/past/past_file.c \
	server/past/past_outline.c \
	server/past/past_state.h \
	server/past/past_states.c \
	server/past/past_walk.c \
	server/past/past_when.c
