# server/commands: the commands of cairnd besides serving: run, replay, mesh.
cairnd_SOURCES += \
	server/commands/check_files.c \
	server/commands/check_files.h \
	server/commands/mesh_command.c \
	server/commands/mesh_command.h \
	server/commands/replay_command.c \
	server/commands/replay_command.h \
	server/commands/run.c \
	server/commands/run.h
