# server/web: WebSocket, the viewer's files, metrics; the only room that uses libwebsockets.
libcairnd_a_SOURCES += \
	server/web/assets.h \
	server/web/assets.c \
	server/web/web.h \
	server/web/web.c \
	server/web/web_http.c \
	server/web/web_internal.h \
	server/web/web_metrics.c \
	server/web/web_stream.h \
	server/web/web_stream.c

UNIT_TESTS += \
	tests/unit/server/web/test_assets \
	tests/unit/server/web/test_web_stream

FUZZ_TARGETS += tests/fuzz/fuzz_web
tests_fuzz_fuzz_web_LDADD = $(LDADD_FUZZ)
EXTRA_DIST += tests/fuzz/corpus/web
FUZZ_TARGETS += tests/fuzz/fuzz_http
tests_fuzz_fuzz_http_LDADD = $(LDADD_FUZZ)
EXTRA_DIST += tests/fuzz/corpus/http
