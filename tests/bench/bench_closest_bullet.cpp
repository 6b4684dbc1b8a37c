// bench_closest_bullet.cpp: Bullet (Debian's: floats): GJK with the separating axis kept between queries, GJK
// and EPA for depth, quantised trees of GImpact for meshes. Margins are 0, so that the shapes are ours.
#include "tests/bench/bench_closest.h"

#include <BulletCollision/CollisionDispatch/btCollisionObject.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>
#include <btBulletCollisionCommon.h>

namespace
{

btTransform transform_of(const struct closest_pose *at)
{
	const double *q = at->rotation, *p = at->position;
	return btTransform(btQuaternion(btScalar(q[1]), btScalar(q[2]), btScalar(q[3]), btScalar(q[0])),
			   btVector3(btScalar(p[0]), btScalar(p[1]), btScalar(p[2])));
}

btConvexShape *shape_of(const struct closest_shape *shape)
{
	btConvexShape *out;
	if (shape->half[0] > 0) {
		out = new btBoxShape(btVector3(btScalar(shape->half[0]), btScalar(shape->half[1]),
					       btScalar(shape->half[2])));
	} else {
		btConvexHullShape *hull = new btConvexHullShape();
		for (int k = 0; k < shape->point_count; k++) {
			const double *p = shape->points + 3 * k;
			hull->addPoint(btVector3(btScalar(p[0]), btScalar(p[1]), btScalar(p[2])), false);
		}
		hull->recalcLocalAabb();
		out = hull;
	}
	out->setMargin(0);
	return out;
}

struct Pair {
	btConvexShape *a, *b;
	btVoronoiSimplexSolver simplex;
	btGjkEpaPenetrationDepthSolver deep;
	btGjkPairDetector detector;
	Pair(const struct closest_shape *of_a, const struct closest_shape *of_b)
		: a(shape_of(of_a)), b(shape_of(of_b)), detector(a, b, &simplex, &deep)
	{
	}
	~Pair()
	{
		delete a;
		delete b;
	}
};

void *create(const struct closest_shape *a, const struct closest_shape *b)
{
	return new Pair(a, b);
}

void destroy(void *pair)
{
	delete static_cast<Pair *>(pair);
}

double ask(void *object, const struct closest_pose *at, bool warm)
{
	Pair *pair = static_cast<Pair *>(object);
	btGjkPairDetector::ClosestPointInput input;
	btPointCollector output;
	input.m_transformA.setIdentity();
	input.m_transformB = transform_of(at);
	if (!warm)
		pair->detector.setCachedSeparatingAxis(btVector3(0, 1, 0));
	pair->detector.getClosestPoints(input, output, 0);
	return output.m_hasResult ? double(output.m_distance) : 1e9;
}

double depth(void *object, const struct closest_pose *at, bool warm)
{
	return -ask(object, at, warm);
}

struct Surface {
	btTriangleIndexVertexArray array;
	btGImpactMeshShape *shape;
	btScalar *vertices;
	int *indices;
	explicit Surface(const struct closest_surface *of)
		: vertices(new btScalar[size_t(of->vertex_count) * 3]),
		  indices(new int[size_t(of->triangle_count) * 3])
	{
		for (int k = 0; k < 3 * of->vertex_count; k++)
			vertices[k] = btScalar(of->vertices[k]);
		for (int k = 0; k < 3 * of->triangle_count; k++)
			indices[k] = int(of->triangles[k]);
		btIndexedMesh part;
		part.m_numTriangles = of->triangle_count;
		part.m_triangleIndexBase = reinterpret_cast<const unsigned char *>(indices);
		part.m_triangleIndexStride = 3 * sizeof(int);
		part.m_numVertices = of->vertex_count;
		part.m_vertexBase = reinterpret_cast<const unsigned char *>(vertices);
		part.m_vertexStride = 3 * sizeof(btScalar);
		array.addIndexedMesh(part);
		shape = new btGImpactMeshShape(&array);
		shape->setMargin(0);
		shape->updateBound();
	}
	~Surface()
	{
		delete shape;
		delete[] vertices;
		delete[] indices;
	}
};

struct Meshes {
	Surface a, b;
	btPairSet pairs;
	Meshes(const struct closest_surface *of_a, const struct closest_surface *of_b) : a(of_a), b(of_b)
	{
	}
};

void *create_mesh(const struct closest_surface *a, const struct closest_surface *b)
{
	return new Meshes(a, b);
}

void destroy_mesh(void *pair)
{
	delete static_cast<Meshes *>(pair);
}

double meet(void *object, const struct closest_pose *at, bool warm)
{
	Meshes *pair = static_cast<Meshes *>(object);
	(void)warm;
	btTransform one, other = transform_of(at);
	one.setIdentity();
	btGImpactMeshShapePart *a = pair->a.shape->getMeshPart(0), *b = pair->b.shape->getMeshPart(0);
	pair->pairs.resize(0);
	btGImpactQuantizedBvh::find_collision(a->getBoxSet(), one, b->getBoxSet(), other, pair->pairs);
	int count = 0;
	a->lockChildShapes();
	b->lockChildShapes();
	for (int k = 0; k < pair->pairs.size(); k++) {
		btPrimitiveTriangle p, q;
		GIM_TRIANGLE_CONTACT contact;
		a->getPrimitiveTriangle(pair->pairs[k].m_index1, p);
		b->getPrimitiveTriangle(pair->pairs[k].m_index2, q);
		p.m_margin = q.m_margin = 0;
		p.applyTransform(one);
		q.applyTransform(other);
		p.buildTriPlane();
		q.buildTriPlane();
		if (p.overlap_test_conservative(q) && p.find_triangle_collision_clip_method(q, contact))
			count++;
	}
	a->unlockChildShapes();
	b->unlockChildShapes();
	return count;
}

} // namespace

extern "C" const struct closest_peer closest_bullet = { "Bullet", create,      destroy,	     ask, depth,
							 create_mesh, destroy_mesh, meet };
