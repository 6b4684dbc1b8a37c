libengine_a_SOURCES += \
	server/engine/types.h \
	server/engine/world/commands.def \
	server/engine/world/fields.def \
	server/engine/world/parameters.def \
	server/engine/world/command.h \
	server/engine/world/parameters.h \
	server/engine/world/parameters.c \
	server/engine/world/tables.h \
	server/engine/world/tables.c
