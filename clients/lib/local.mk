libcairn_a_SOURCES += \
	clients/lib/cairn.h \
	clients/lib/client.c \
	clients/lib/client.h \
	clients/lib/connection.c \
	clients/lib/connection.h \
	clients/lib/load.c \
	clients/lib/requests.c \
	clients/lib/resume.c \
	clients/lib/shape_text.c \
	clients/lib/shape_text.h \
	clients/lib/transport.c \
	clients/lib/transport.h

# Tests with a daemon of this build.
UNIT_TESTS += tests/unit/clients/lib/test_client
