# server/commands: the commands of cairnd besides serving: run, replay, mesh, store.
cairnd_SOURCES += \
	server/commands/mesh_command.c \
	server/commands/mesh_command.h \
	server/commands/replay_command.c \
	server/commands/replay_command.h \
	server/commands/run.c \
	server/commands/run.h \
	server/commands/run_output.c \
	server/commands/run_output.h \
	server/commands/store_command.c \
	server/commands/store_command.h
