/* mass.c: exact mass properties (Mirtich's method, app D-01…D-06 as corrected there).
 *
 * Volume integrals become integrals over faces by the divergence theorem (D-02); those become
 * integrals over the face's projection along the largest component of its normal (D-03, D-04);
 * those become integrals over edges by Green's theorem (D-05); and those are polynomials of
 * vertices (D-06). One pass, linear in the number of edges, exact up to rounding for any closed
 * surface of planar faces.
 *
 * What goes wrong: far from the origin the terms are large and cancel, so callers translate to near
 * the centroid first and mass_of_integrals moves the centre back. Faces without area have no normal
 * and contribute nothing. A closed mesh may be folded flat: its volume is then rounding error, and
 * dividing by it would put the centre anywhere; such a mesh bounds no solid.
 *
 * Letters are the appendix's: α, β, γ are the cyclic axes with γ the projection's; P_uv = ∫ α^u
 * β^v.
 */
#include "server/engine/geometry/mass.h"

struct projection {
	double p1, a, aa, aaa, b, bb, bbb, ab, aab, abb;
};

/* D-05 with D-06. α0 … β1 are the ends of an edge; the sums run over the face's loop. */
static struct projection projected_integrals(const vec3 *vertices, uint32_t count, uint32_t alpha,
					     uint32_t beta, double sign)
{
	ASSERT(count >= 2 && alpha < 3 && beta < 3);
	struct projection p = { 0 };
	for (uint32_t i = 0; i < count; i++) {
		vec3 from = vertices[i], to = vertices[i + 1 == count ? 0 : i + 1];
		double a0 = vec3_get(from, alpha), b0 = vec3_get(from, beta);
		double a1 = vec3_get(to, alpha), b1 = vec3_get(to, beta);
		double da = a1 - a0, db = b1 - b0;
		/* c_k = Σ_{i ≤ k} a1^i a0^(k−i), d_k the same in β. */
		double c1 = a1 + a0, c2 = a1 * c1 + a0 * a0, c3 = a1 * c2 + a0 * a0 * a0;
		double c4 = a1 * c3 + a0 * a0 * a0 * a0;
		double d1 = b1 + b0, d2 = b1 * d1 + b0 * b0, d3 = b1 * d2 + b0 * b0 * b0;
		double d4 = b1 * d3 + b0 * b0 * b0 * b0;
		double a2b = b1 * (3 * a1 * a1 + 2 * a1 * a0 + a0 * a0) +
			     b0 * (a1 * a1 + 2 * a1 * a0 + 3 * a0 * a0);
		double a3b = b1 * (4 * a1 * a1 * a1 + 3 * a1 * a1 * a0 + 2 * a1 * a0 * a0 +
				   a0 * a0 * a0) +
			     b0 * (a1 * a1 * a1 + 2 * a1 * a1 * a0 + 3 * a1 * a0 * a0 +
				   4 * a0 * a0 * a0);
		double ab3 = a1 * (4 * b1 * b1 * b1 + 3 * b1 * b1 * b0 + 2 * b1 * b0 * b0 +
				   b0 * b0 * b0) +
			     a0 * (b1 * b1 * b1 + 2 * b1 * b1 * b0 + 3 * b1 * b0 * b0 +
				   4 * b0 * b0 * b0);
		p.p1 += db * c1;
		p.a += db * c2;
		p.aa += db * c3;
		p.aaa += db * c4;
		p.b += da * d2;
		p.bb += da * d3;
		p.bbb += da * d4;
		p.ab += db * a2b;
		p.aab += db * a3b;
		p.abb += da * ab3;
	}
	return (struct projection){
		.p1 = sign * p.p1 / 2,
		.a = sign * p.a / 6,
		.aa = sign * p.aa / 12,
		.aaa = sign * p.aaa / 20,
		.b = -sign * p.b / 6,
		.bb = -sign * p.bb / 12,
		.bbb = -sign * p.bbb / 20,
		.ab = sign * p.ab / 24,
		.aab = sign * p.aab / 60,
		.abb = -sign * p.abb / 60,
	};
}

/* The integrals over the face that D-02 needs, indexed by axis. */
struct face_integrals {
	double first[3], second[3], third[3];
	double mixed[3]; /* ∫ u²v with v the axis after u */
};

/* D-04. `n` is unit, d = −n·(any vertex). */
static struct face_integrals face_integrals(const struct projection *p, vec3 n, double d,
					    uint32_t alpha, uint32_t beta, uint32_t gamma)
{
	VALIDATE(alpha != beta && beta != gamma && gamma != alpha);
	double na = vec3_get(n, alpha), nb = vec3_get(n, beta), ng = vec3_get(n, gamma);
	double k1 = 1.0 / scalar_abs(ng), k2 = k1 / ng, k3 = k2 / ng, k4 = k3 / ng;
	struct face_integrals f;
	f.first[alpha] = k1 * p->a;
	f.second[alpha] = k1 * p->aa;
	f.third[alpha] = k1 * p->aaa;
	f.mixed[alpha] = k1 * p->aab;
	f.first[beta] = k1 * p->b;
	f.second[beta] = k1 * p->bb;
	f.third[beta] = k1 * p->bbb;
	f.mixed[beta] = -k2 * (na * p->abb + nb * p->bbb + d * p->bb);
	f.first[gamma] = -k2 * (na * p->a + nb * p->b + d * p->p1);
	f.second[gamma] = k3 * (na * na * p->aa + 2 * na * nb * p->ab + nb * nb * p->bb +
				2 * d * na * p->a + 2 * d * nb * p->b + d * d * p->p1);
	f.third[gamma] =
		-k4 * (na * na * na * p->aaa + 3 * na * na * nb * p->aab +
		       3 * na * nb * nb * p->abb + nb * nb * nb * p->bbb + 3 * d * na * na * p->aa +
		       6 * d * na * nb * p->ab + 3 * d * nb * nb * p->bb + 3 * d * d * na * p->a +
		       3 * d * d * nb * p->b + d * d * d * p->p1);
	f.mixed[gamma] = k3 * (na * na * p->aaa + 2 * na * nb * p->aab + nb * nb * p->abb +
			       2 * d * na * p->aa + 2 * d * nb * p->ab + d * d * p->a);
	return f;
}

void mass_add_face(struct volume_integrals *sum, const vec3 *vertices, uint32_t count)
{
	ASSERT(count >= 3);
	vec3 newell = vec3_zero();
	for (uint32_t i = 1; i + 1 < count; i++)
		newell = vec3_add(newell, vec3_cross(vec3_sub(vertices[i], vertices[0]),
						     vec3_sub(vertices[i + 1], vertices[0])));
	vec3 n = vec3_normalize(newell);
	uint32_t gamma = vec3_largest_axis(vec3_abs(n));
	uint32_t alpha = (gamma + 1) % 3, beta = (gamma + 2) % 3;
	if (!(scalar_abs(vec3_get(n, gamma)) > 0))
		return;
	struct projection p = projected_integrals(vertices, count, alpha, beta,
						  scalar_copy_sign(1.0, vec3_get(n, gamma)));
	struct face_integrals f =
		face_integrals(&p, n, -vec3_dot(n, vertices[0]), alpha, beta, gamma);
	sum->t1 += n.x * f.first[0];
	for (uint32_t axis = 0; axis < 3; axis++) {
		double ni = vec3_get(n, axis);
		vec3_set(&sum->t, axis, vec3_get(sum->t, axis) + ni * f.second[axis] / 2);
		vec3_set(&sum->squares, axis,
			 vec3_get(sum->squares, axis) + ni * f.third[axis] / 3);
		vec3_set(&sum->products, axis,
			 vec3_get(sum->products, axis) + ni * f.mixed[axis] / 2);
	}
}

struct mass_properties mass_of_integrals(const struct volume_integrals *sum, vec3 origin)
{
	struct mass_properties mass = { 0, vec3_zero(), mat3_zero() };
	if (!(sum->t1 > 0))
		return mass;
	double m = sum->t1;
	vec3 c = vec3_make(sum->t.x / m, sum->t.y / m, sum->t.z / m);
	vec3 s = vec3_sub(sum->squares, vec3_scale(vec3_hadamard(c, c), m));
	double xy = sum->products.x - m * c.x * c.y;
	double yz = sum->products.y - m * c.y * c.z;
	double zx = sum->products.z - m * c.z * c.x;
	mass.volume = m;
	mass.centre = vec3_add(origin, c);
	mass.inertia = mat3_columns(vec3_make(s.y + s.z, -xy, -zx), vec3_make(-xy, s.z + s.x, -yz),
				    vec3_make(-zx, -yz, s.x + s.y));
	ASSERT(mass.volume > 0);
	return mass;
}

struct mass_properties mass_of_hull(const struct hull *hull)
{
	struct volume_integrals sum = { 0 };
	/* A face can have nearly all vertices of the hull. Fans of at most FAN corners with a
	 * common first vertex avoid an allocation. */
	enum { FAN = 32 };
	vec3 corner[FAN];
	for (uint32_t f = 0; f < hull->face_count; f++) {
		uint32_t h = hull->faces[f].edge, count = 0;
		for (uint32_t i = 0; i < hull->faces[f].edge_count; i++, h = hull->edges[h].next) {
			corner[count++] =
				vec3_sub(hull->vertices[hull->edges[h].origin], hull->centre);
			if (count < FAN)
				continue;
			mass_add_face(&sum, corner, FAN);
			corner[1] = corner[FAN - 1];
			count = 2;
		}
		if (count > 2)
			mass_add_face(&sum, corner, count);
	}
	return mass_of_integrals(&sum, hull->centre);
}

struct mass_properties mass_of_mesh(const struct mesh *mesh)
{
	ASSERT(mesh->node_count > 0);
	struct volume_integrals sum = { 0 };
	if (!mesh->closed)
		return mass_of_integrals(&sum, vec3_zero());
	struct aabb box = aabb_make(mesh->nodes[0].min, mesh->nodes[0].max);
	vec3 origin = aabb_centre(box);
	double reach = vec3_distance(box.max, origin);
	for (uint32_t t = 0; t < mesh->triangle_count; t++) {
		vec3 corner[3];
		for (uint32_t i = 0; i < 3; i++)
			corner[i] = vec3_sub(mesh->vertices[mesh->triangles[t][i]], origin);
		mass_add_face(&sum, corner, 3);
	}
	/* Coordinates are at most `reach`; of one triangle, D-06, D-04 and D-02 add up fewer than 64 terms
	 * of at most reach³, each rounded to half an ulp. */
	double rounding = 64 * 0x1p-53 * reach * reach * reach * mesh->triangle_count;
	if (!(sum.t1 > rounding))
		sum.t1 = 0;
	return mass_of_integrals(&sum, origin);
}

/* m (|r|² 1 − r rᵀ): the inertia of a point mass at r (parallel axes). */
static mat3 point_inertia(double m, vec3 r)
{
	mat3 square = mat3_scale(mat3_identity(), vec3_dot(r, r));
	return mat3_scale(mat3_sub(square, mat3_outer(r, r)), m);
}

/* Rotation rounds the two off-diagonal halves differently; the mean is exactly symmetric. */
static mat3 symmetric(mat3 a)
{
	return mat3_scale(mat3_add(a, mat3_transpose(a)), 0.5);
}

struct mass_total mass_combine(const struct mass_part *parts, uint32_t count)
{
	struct mass_total total = { 0, vec3_zero(), mat3_zero() };
	vec3 moment = vec3_zero();
	for (uint32_t i = 0; i < count; i++) {
		double m = parts[i].density * parts[i].shape->mass.volume;
		vec3 centre = pose_point(parts[i].at, parts[i].shape->mass.centre);
		total.mass += m;
		moment = vec3_mul_add(moment, centre, m);
	}
	if (!(total.mass > 0))
		return (struct mass_total){ 0, vec3_zero(), mat3_zero() };
	total.centre = vec3_scale(moment, 1.0 / total.mass);
	for (uint32_t i = 0; i < count; i++) {
		const struct mass_properties *own = &parts[i].shape->mass;
		vec3 arm = vec3_sub(pose_point(parts[i].at, own->centre), total.centre);
		mat3 turned =
			mat3_rotate_tensor(mat3_from_quat(parts[i].at.rotation), own->inertia);
		total.inertia =
			mat3_add(total.inertia,
				 mat3_add(mat3_scale(symmetric(turned), parts[i].density),
					  point_inertia(parts[i].density * own->volume, arm)));
	}
	return total;
}
