/* bench_articulated.c: the cost of reduced coordinates: building the forest, inverse and forward
 * dynamics of chains and binary trees of 10 to 10⁴ links (or the numbers given) with a hinge each.
 *
 * bench_articulated [links…]: µs an axis, the least of several batches; how far inverse dynamics of
 * the accelerations is from the forces. */
#include "server/engine/articulated/tree_dynamics.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/motions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The fastest batch counts: others share the machine. */
enum { BATCHES = 7, LINKS_PER_BATCH = 40000, LINKS_MAX = 1000000 };

struct mechanism {
	struct articulation_source source;
	struct body_motion *motions;
	struct mass_body *masses;
	struct articulation_joint *joints;
	struct articulation tree;
	struct tree_dynamics dynamics;
	double *forces, *accelerations, *back;
};

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *room(uint32_t count, size_t size)
{
	void *memory = calloc(count, size);
	if (memory == NULL)
		exit(1);
	return memory;
}

/* Link i hangs on link (i − 1) / fan, the first on the ground, by a hinge about x of a random frame at
 * the common point of both. */
static void make_bodies(struct mechanism *self, uint32_t count, uint32_t fan)
{
	struct rng rng = rng_seeded(1);
	for (uint32_t i = 0; i < count; i++) {
		struct articulation_joint *link = &self->joints[i];
		uint32_t parent = i == 0 ? ARTICULATION_NONE : (i - 1) / fan;
		struct body_motion base = i == 0 ? still() : self->motions[parent], own = base;
		quat frame = random_rotation(&rng);
		vec3 out = random_vector(&rng, 0.2), in = random_vector(&rng, 0.2);
		vec3 anchor = vec3_add(base.centre, quat_rotate(base.rotation, out));
		vec3 about = quat_rotate(quat_mul(base.rotation, frame), vec3_axis(0));
		own.centre = vec3_sub(anchor, quat_rotate(own.rotation, in));
		own.angular_velocity =
			vec3_mul_add(base.angular_velocity, about, rng_range(&rng, -0.1, 0.1));
		vec3 speed = vec3_add(base.velocity, vec3_cross(base.angular_velocity,
								vec3_sub(anchor, base.centre)));
		own.velocity = vec3_add(
			speed, vec3_cross(own.angular_velocity, vec3_sub(own.centre, anchor)));
		self->motions[i] = own;
		self->masses[i] = random_mass(&rng);
		*link = (struct articulation_joint){ .body = { parent, i } };
		link->joint = (struct joint){ .type = JOINT_REVOLUTE,
					      .point_a = out,
					      .point_b = in,
					      .frame_a = frame,
					      .frame_b = frame,
					      .a = base,
					      .b = own };
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
			link->joint.axes[axis].mode = joint_axis_kind(JOINT_REVOLUTE, axis).mode;
		self->forces[i] = rng_range(&rng, -1, 1);
	}
}

static void open_tree(struct mechanism *self)
{
	if (articulation_make(&self->tree, &self->source, NULL) != STATUS_OK ||
	    tree_dynamics_make(&self->dynamics, &self->tree) != STATUS_OK)
		exit(1);
}

static void close_tree(struct mechanism *self)
{
	tree_dynamics_release(&self->dynamics);
	articulation_release(&self->tree);
}

enum part { BUILD, INVERSE, FORWARD, PARTS };

static void run(struct mechanism *self, enum part part)
{
	if (part == BUILD) {
		close_tree(self);
		open_tree(self);
	} else if (part == INVERSE) {
		tree_inverse(&self->dynamics, self->accelerations, NULL, self->back);
	} else {
		if (!tree_factor(&self->dynamics))
			exit(1);
		tree_forward(&self->dynamics, self->forces, NULL, true, self->accelerations);
	}
}

static void measure(const char *name, uint32_t count, uint32_t fan)
{
	struct mechanism self = { 0 };
	self.motions = room(count, sizeof *self.motions);
	self.masses = room(count, sizeof *self.masses);
	self.joints = room(count, sizeof *self.joints);
	self.forces = room(3 * count, sizeof *self.forces);
	self.accelerations = self.forces + count;
	self.back = self.accelerations + count;
	self.source = (struct articulation_source){ self.motions, self.masses, self.joints, count,
						    count };
	make_bodies(&self, count, fan);
	open_tree(&self);
	double best[PARTS] = { 1e30, 1e30, 1e30 };
	uint32_t repeats = count < LINKS_PER_BATCH ? LINKS_PER_BATCH / count : 1;
	for (uint32_t batch = 0; batch < BATCHES; batch++)
		for (uint32_t part = 0; part < PARTS; part++) {
			double start = now();
			for (uint32_t i = 0; i < repeats; i++)
				run(&self, (enum part)part);
			best[part] = scalar_min(best[part], (now() - start) / repeats);
		}
	run(&self, INVERSE);
	double off = 0, size = 1;
	for (uint32_t i = 0; i < count; i++) {
		off = fmax(off, fabs(self.back[i] - self.forces[i]));
		size = fmax(size, fabs(self.accelerations[i]));
	}
	double axis = 1e6 / self.tree.axis_count;
	printf("%-6s %7u links: build %6.3f, inverse %6.3f, forward %6.3f us/dof; off by %.1e N m, "
	       "accelerations up to %.1e rad/s2\n",
	       name, (unsigned)count, axis * best[BUILD], axis * best[INVERSE],
	       axis * best[FORWARD], off, size);
	close_tree(&self);
	free(self.motions);
	free(self.masses);
	free(self.joints);
	free(self.forces);
}

int main(int argc, char **argv)
{
	static const char *const USUAL[] = { "10", "100", "1000", "10000" };
	int count = argc > 1 ? argc - 1 : 4;
	for (int i = 0; i < count; i++) {
		unsigned long links = strtoul(argc > 1 ? argv[i + 1] : USUAL[i], NULL, 10);
		if (links < 1 || links > LINKS_MAX)
			return fprintf(stderr, "usage: bench_articulated [links…], 1 to %d\n",
				       LINKS_MAX),
			       2;
		measure("chain", (uint32_t)links, 1);
		measure("tree", (uint32_t)links, 2);
	}
	return 0;
}
