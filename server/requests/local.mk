# server/requests: handlers of clients' messages, by theme.
libcairnd_a_SOURCES += \
	server/requests/dispatch.c \
	server/requests/handlers_admin.c \
	server/requests/handlers_groups.c \
	server/requests/handlers_input.c \
	server/requests/handlers_operations.c \
	server/requests/handlers_scene.c \
	server/requests/handlers_shape.c \
	server/requests/handlers_state.c \
	server/requests/handlers_world.c \
	server/requests/requests.h
