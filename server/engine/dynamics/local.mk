# Bodies, contacts, forces, islands and sleep: what methods stand on.
libengine_a_SOURCES += \
	server/engine/dynamics/body.c \
	server/engine/dynamics/body.h \
	server/engine/dynamics/collide.c \
	server/engine/dynamics/contact.c \
	server/engine/dynamics/contact.h \
	server/engine/dynamics/dynamics.c \
	server/engine/dynamics/dynamics.h \
	server/engine/dynamics/force.c \
	server/engine/dynamics/force.h \
	server/engine/dynamics/integrate.c \
	server/engine/dynamics/integrate.h \
	server/engine/dynamics/island.c \
	server/engine/dynamics/pairs.c \
	server/engine/dynamics/row.h \
	server/engine/dynamics/tuning.h
