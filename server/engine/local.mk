# libengine.a: the simulation, without I/O. Each folder adds its own sources.
libengine_a_SOURCES += server/engine/engine.h server/engine/solids.h
include server/engine/math/local.mk
include server/engine/linalg/local.mk
include server/engine/solvers/local.mk
include server/engine/world/local.mk
include server/engine/geometry/local.mk
include server/engine/collision/local.mk
include server/engine/dynamics/local.mk
include server/engine/particles/local.mk
include server/engine/fluids/local.mk
include server/engine/articulated/local.mk
include server/engine/statics/local.mk
include server/engine/packing/local.mk
include server/engine/methods/local.mk
