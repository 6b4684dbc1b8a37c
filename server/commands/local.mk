# server/commands: the commands of cairnd besides serving: run, replay, past, mesh.
cairnd_SOURCES += \
	server/commands/mesh_command.c \
	server/commands/mesh_command.h \
	server/commands/export.h \
	server/commands/export_mcap.c \
	server/commands/export_rows.c \
	server/commands/export_sqlite.c \
	server/commands/past_command.c \
	server/commands/past_command.h \
	server/commands/replay_command.c \
	server/commands/replay_command.h \
	server/commands/run.c \
	server/commands/run.h
