# cairn: the command line client.
bin_PROGRAMS += cairn
cairn_SOURCES = \
	clients/cli/apply.c \
	clients/cli/cli.h \
	clients/cli/completion.c \
	clients/cli/completion.h \
	clients/cli/daemon_words.c \
	clients/cli/daemon_words.h \
	clients/cli/draw.c \
	clients/cli/draw.h \
	clients/cli/joints.c \
	clients/cli/robots.c \
	clients/cli/particles.c \
	clients/cli/pieces.c \
	clients/cli/main.c \
	clients/cli/output.c \
	clients/cli/progress.c \
	clients/cli/progress.h \
	clients/cli/usage.c \
	clients/cli/usage.h \
	clients/cli/verb_command.c \
	clients/cli/verb_draw.c \
	clients/cli/verb_input.c \
	clients/cli/verb_lists.c \
	clients/cli/verb_load.c \
	clients/cli/verb_operations.c \
	clients/cli/verb_past.c \
	clients/cli/verb_record.c \
	clients/cli/verb_query.c \
	clients/cli/verb_replay.c \
	clients/cli/verb_scene.c \
	clients/cli/verb_schema.c \
	clients/cli/verb_stability.c \
	clients/cli/verb_state.c \
	clients/cli/verb_token.c \
	clients/cli/verb_top.c \
	clients/cli/verb_watch.c \
	clients/cli/verb_worlds.c \
	clients/cli/verbs.def \
	clients/cli/verbs.h \
	clients/cli/words.c
cairn_LDADD = $(CLIENT_LIBS)
