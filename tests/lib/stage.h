/* stage.h: bodies in bare tables, stepped by a method without a world: for tests of dynamics and
 * methods, which are layers below the world. A failure ends the program. */
#ifndef CAIRN_TESTS_STAGE_H
#define CAIRN_TESTS_STAGE_H

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/methods/method.h"
#include "server/engine/world/parameters.h"

enum { STAGE_SHAPES_MAX = 64 };

struct stage {
	struct tables tables;
	const struct shape *shapes[STAGE_SHAPES_MAX]; /* taken */
	struct dynamics dynamics;
	struct method_instance method;
	const struct parallel *parallel;
	double dt;
};

/* An empty world at 60 Hz, gravity (0,−9.81,0), parameters with the defaults of parameters.def. */
void stage_init(struct stage *self, const char *method);
void stage_release(struct stage *self);
/* The shape is taken; returns its row. */
uint32_t stage_shape(struct stage *self, struct shape *shape);

/* A body of one shape; mass 0 takes density 1000. */
struct stage_body {
	uint8_t status;
	uint32_t shape; /* row */
	vec3 position;
	quat rotation; /* all zero: none */
	vec3 velocity, spin;
	double mass, friction, restitution;
	bool wakeful; /* may not sleep */
};
/* Returns its row; friction 0.6 unless it is given (negative: none). */
uint32_t stage_add(struct stage *self, struct stage_body body);
void stage_remove(struct stage *self, uint32_t body);
void stage_parameter(struct stage *self, enum parameter_row parameter, double value);
/* As the METHOD command does. */
void stage_method(struct stage *self, const char *method);

/* One tick; its events are in dynamics.events. */
enum status stage_try(struct stage *self);
void stage_step(struct stage *self);
void stage_run(struct stage *self, uint32_t ticks);

/* A hash of all tables: equal states, equal hashes. */
uint64_t stage_hash(const struct stage *self);
/* Copies every table of `from` over those of `to` and rebuilds its caches: a restore. */
void stage_restore(struct stage *to, const struct stage *from);

/* Kinetic energy, potential energy of height above y = 0, and momenta about the origin. */
double stage_kinetic(const struct stage *self);
double stage_potential(const struct stage *self);
vec3 stage_momentum(const struct stage *self);
vec3 stage_angular_momentum(const struct stage *self);
uint32_t stage_events(const struct stage *self, uint8_t kind);

/* A parallel of n threads that cuts work into pieces of the grain and assigns them to workers in
 * turn, for tests only. */
struct parallel *parallel_threads_create(uint32_t workers);
void parallel_threads_destroy(struct parallel *parallel);

#endif
