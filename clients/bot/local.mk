# cairn-bot: many sessions from one process, for load tests.
bin_PROGRAMS += cairn-bot
cairn_bot_SOURCES = \
	clients/bot/bot.h \
	clients/bot/fleet.c \
	clients/bot/histogram.c \
	clients/bot/histogram.h \
	clients/bot/liar.c \
	clients/bot/main.c \
	clients/bot/network.c \
	clients/bot/network.h \
	clients/bot/options.c \
	clients/bot/report.c
cairn_bot_LDADD = $(CLIENT_LIBS)
PYTHON_TESTS += tests/system/test_bot.py
