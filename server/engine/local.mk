# libengine.a: the simulation, pure. Each folder appends its own sources.
libengine_a_SOURCES += server/engine/engine.h
