/* ODE on the common scenes. Variants: quick (QuickStep, 20 iterations), quick50, exact (dWorldStep). */
#include "tests/bench/bench.h"

#include <ode/ode.h>
#include <stdlib.h>
#include <string.h>

enum { CONTACTS_MAX = 8 };

static dWorldID world;
static dSpaceID space;
static dJointGroupID contacts;

static void near_callback(void *data, dGeomID a, dGeomID b)
{
	dContact found[CONTACTS_MAX];
	int count = dCollide(a, b, CONTACTS_MAX, &found[0].geom, sizeof found[0]);
	(void)data;
	for (int i = 0; i < count; i++) {
		found[i].surface.mode = dContactApprox1;
		found[i].surface.mu = BENCH_FRICTION;
		dJointID joint = dJointCreateContact(world, contacts, &found[i]);
		dJointAttach(joint, dGeomGetBody(a), dGeomGetBody(b));
	}
}

static void make_world(const struct bench *b)
{
	dInitODE2(0);
	dAllocateODEDataForThread(dAllocateMaskAll);
	world = dWorldCreate();
	space = dHashSpaceCreate(0);
	contacts = dJointGroupCreate(0);
	dWorldSetGravity(world, 0, -BENCH_GRAVITY, 0);
	if (strcmp(b->variant, "quick50") == 0)
		dWorldSetQuickStepNumIterations(world, 50);
	dWorldSetAutoDisableFlag(world, b->sleep);
	dWorldSetContactSurfaceLayer(world, 0.001);
	dWorldSetContactMaxCorrectingVel(world, 3);
	dWorldSetCFM(world, 1e-5); /* the value of the manual's examples */
	dCreatePlane(space, 0, 1, 0, 0);
	if (b->kind != BENCH_SPHERES)
		return;
	dCreatePlane(space, 1, 0, 0, -BENCH_CONTAINER);
	dCreatePlane(space, -1, 0, 0, -BENCH_CONTAINER);
	dCreatePlane(space, 0, 0, 1, -BENCH_CONTAINER);
	dCreatePlane(space, 0, 0, -1, -BENCH_CONTAINER);
}

static dBodyID make_body(const struct bench *b, int i)
{
	double side = 2 * BENCH_HALF;
	dMass mass;
	dBodyID body = dBodyCreate(world);
	dBodySetPosition(body, b->start[i].x, b->start[i].y, b->start[i].z);
	if (b->kind == BENCH_SPHERES)
		dMassSetSphereTotal(&mass, b->mass[i], BENCH_RADIUS);
	else
		dMassSetBoxTotal(&mass, b->mass[i], side, side, side);
	dBodySetMass(body, &mass);
	dGeomID geom = b->kind == BENCH_SPHERES ? dCreateSphere(space, BENCH_RADIUS)
						: dCreateBox(space, side, side, side);
	dGeomSetBody(geom, body);
	return body;
}

static struct bench_vec from(const dReal *v)
{
	return (struct bench_vec){ v[0], v[1], v[2] };
}

static void read_state(struct bench *b, const dBodyID *bodies)
{
	for (int i = 0; i < b->count; i++) {
		const dReal *q = dBodyGetQuaternion(bodies[i]);
		b->position[i] = from(dBodyGetPosition(bodies[i]));
		b->rotation[i] = (struct bench_quat){ q[0], q[1], q[2], q[3] };
		b->velocity[i] = from(dBodyGetLinearVel(bodies[i]));
		b->spin[i] = from(dBodyGetAngularVel(bodies[i]));
	}
}

int main(int argc, char **argv)
{
	struct bench b;
	bench_init(&b, sizeof(dReal) == 8 ? "ode64" : "ode32", "quick", argc, argv);
	make_world(&b);
	int exact = strcmp(b.variant, "exact") == 0;
	dBodyID *bodies = calloc((size_t)b.count, sizeof *bodies);
	if (bodies == NULL)
		return 1;
	for (int i = 0; i < b.count; i++)
		bodies[i] = make_body(&b, i);
	for (int step = 0; step < b.steps; step++) {
		double begin = bench_now();
		dSpaceCollide(space, 0, near_callback);
		if (exact)
			dWorldStep(world, BENCH_STEP);
		else
			dWorldQuickStep(world, BENCH_STEP);
		dJointGroupEmpty(contacts);
		b.ms[step] = bench_now() - begin;
		read_state(&b, bodies);
		bench_sample(&b, step);
	}
	bench_report(&b);
	bench_release(&b);
	free(bodies);
	dCloseODE();
	return 0;
}
