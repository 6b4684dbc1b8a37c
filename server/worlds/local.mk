libcairnd_a_SOURCES += \
	server/worlds/recordings.c \
	server/worlds/recordings.h \
	server/worlds/scene_world.c \
	server/worlds/scene_world.h \
	server/worlds/travel.c \
	server/worlds/travel.h \
	server/worlds/travel_requests.c \
	server/worlds/world_reports.c \
	server/worlds/world_reports.h \
	server/worlds/members.c \
	server/worlds/step_groups.c \
	server/worlds/step_groups.h \
	server/worlds/worlds.c \
	server/worlds/worlds.h \
	server/worlds/worlds_open.c
