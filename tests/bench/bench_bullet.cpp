/* Bullet 3 on the common scenes. Variants: si (its default, sequential impulse), si50 (50 iterations). */
#include "tests/bench/bench.h"

#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

static btVector3 to(bench_vec a)
{
	return btVector3(btScalar(a.x), btScalar(a.y), btScalar(a.z));
}

static bench_vec from(const btVector3 &a)
{
	return bench_vec{ a.x(), a.y(), a.z() };
}

/* Never freed; the process owns it. */
static btRigidBody *make_body(const bench &b, btCollisionShape *shape, double mass, bench_vec at)
{
	btVector3 inertia(0, 0, 0);
	if (mass > 0)
		shape->calculateLocalInertia(btScalar(mass), inertia);
	btTransform start;
	start.setIdentity();
	start.setOrigin(to(at));
	btRigidBody::btRigidBodyConstructionInfo info(
		btScalar(mass), new btDefaultMotionState(start), shape, inertia);
	info.m_friction = btScalar(std::sqrt(BENCH_FRICTION)); /* Bullet multiplies the two */
	info.m_restitution = 0;
	btRigidBody *body = new btRigidBody(info);
	if (mass > 0 && !b.sleep)
		body->setActivationState(DISABLE_DEACTIVATION);
	return body;
}

static void make_ground(const bench &b, btDiscreteDynamicsWorld &world)
{
	static const btVector3 walls[] = { { 1, 0, 0 }, { -1, 0, 0 }, { 0, 0, 1 }, { 0, 0, -1 } };
	bench_vec origin = { 0, 0, 0 };
	world.addRigidBody(make_body(b, new btStaticPlaneShape(btVector3(0, 1, 0), 0), 0, origin));
	if (b.kind == BENCH_SPHERES)
		for (const btVector3 &normal : walls)
			world.addRigidBody(make_body(
				b, new btStaticPlaneShape(normal, btScalar(-BENCH_CONTAINER)), 0, origin));
}

static void read_state(bench &b, const std::vector<btRigidBody *> &bodies)
{
	for (int i = 0; i < b.count; i++) {
		const btTransform &at = bodies[i]->getWorldTransform();
		btQuaternion q = at.getRotation();
		b.position[i] = from(at.getOrigin());
		b.rotation[i] = bench_quat{ q.w(), q.x(), q.y(), q.z() };
		b.velocity[i] = from(bodies[i]->getLinearVelocity());
		b.spin[i] = from(bodies[i]->getAngularVelocity());
	}
}

int main(int argc, char **argv)
{
	bench b;
	bench_init(&b, sizeof(btScalar) == 8 ? "bullet64" : "bullet32", "si", argc, argv);
	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher(&configuration);
	btDbvtBroadphase broad_phase;
	btSequentialImpulseConstraintSolver solver;
	btDiscreteDynamicsWorld world(&dispatcher, &broad_phase, &solver, &configuration);
	world.setGravity(btVector3(0, btScalar(-BENCH_GRAVITY), 0));
	if (std::strcmp(b.variant, "si50") == 0)
		world.getSolverInfo().m_numIterations = 50;
	make_ground(b, world);
	btCollisionShape *shape = nullptr;
	if (b.kind == BENCH_SPHERES)
		shape = new btSphereShape(btScalar(BENCH_RADIUS));
	else
		shape = new btBoxShape(btVector3(BENCH_HALF, BENCH_HALF, BENCH_HALF));
	std::vector<btRigidBody *> bodies;
	for (int i = 0; i < b.count; i++) {
		bodies.push_back(make_body(b, shape, b.mass[i], b.start[i]));
		world.addRigidBody(bodies.back());
	}
	for (int step = 0; step < b.steps; step++) {
		double begin = bench_now();
		world.stepSimulation(btScalar(BENCH_STEP), 0);
		b.ms[step] = bench_now() - begin;
		read_state(b, bodies);
		bench_sample(&b, step);
	}
	bench_report(&b);
	bench_release(&b);
	std::fflush(stdout);
	std::_Exit(0); /* Bullet does not own the objects it was given, and the process ends anyway. */
}
