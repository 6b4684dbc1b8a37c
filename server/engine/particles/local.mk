# Particle systems: births, flight, impacts on bodies, links, sinks.
libengine_a_SOURCES += \
	server/engine/particles/particle_birth.c \
	server/engine/particles/particle_birth.h \
	server/engine/particles/particle_bonds.h \
	server/engine/particles/particle_cells.c \
	server/engine/particles/particle_cells.h \
	server/engine/particles/particle_cloth.c \
	server/engine/particles/particle_descent.c \
	server/engine/particles/particle_hits.c \
	server/engine/particles/particle_holds.c \
	server/engine/particles/particle_holds.h \
	server/engine/particles/particle_limit.c \
	server/engine/particles/particle_limit.h \
	server/engine/particles/particle_links.c \
	server/engine/particles/particle_links.h \
	server/engine/particles/particle_meet.c \
	server/engine/particles/particle_meet.h \
	server/engine/particles/particle_pairs.c \
	server/engine/particles/particle_pairs.h \
	server/engine/particles/particle_path.c \
	server/engine/particles/particle_room.c \
	server/engine/particles/particle_room.h \
	server/engine/particles/particle_self.c \
	server/engine/particles/particle_self.h \
	server/engine/particles/particle_sinks.c \
	server/engine/particles/particle_sinks.h \
	server/engine/particles/particle_skin.c \
	server/engine/particles/particle_skin.h \
	server/engine/particles/particles.c \
	server/engine/particles/particles.h
