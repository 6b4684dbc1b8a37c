# Fluids of particles: neighbours, pressures, walls, what they do to bodies.
libengine_a_SOURCES += \
	server/engine/fluids/fluid.c \
	server/engine/fluids/fluid.h \
	server/engine/fluids/fluid_body.c \
	server/engine/fluids/fluid_boundary.c \
	server/engine/fluids/fluid_boundary.h \
	server/engine/fluids/fluid_forces.c \
	server/engine/fluids/fluid_kernel.h \
	server/engine/fluids/fluid_lanes.c \
	server/engine/fluids/fluid_lanes.h \
	server/engine/fluids/fluid_lanes_1.c \
	server/engine/fluids/fluid_lanes_8.c \
	server/engine/fluids/fluid_near.c \
	server/engine/fluids/fluid_samples.c \
	server/engine/fluids/fluid_samples.h \
	server/engine/fluids/fluid_solve.c \
	server/engine/fluids/fluid_tension.c \
	server/engine/fluids/fluid_work.h
