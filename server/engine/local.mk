# libengine.a: the simulation, pure. Each folder appends its own sources.
noinst_LIBRARIES += libengine.a
libengine_a_SOURCES = server/engine/engine.h
