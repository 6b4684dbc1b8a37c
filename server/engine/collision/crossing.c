/* crossing.c: perturbed orientation signs, and the two ends of the common segment of two triangles.
 *
 * With D(a,b,c,p) = (b−a)×(c−a)·(p−a) and B shifted by s = (ε, ε², ε³):
 *   a₀ a₁ a₂ against b:     D + s·n_A,                 n_A = (a₁−a₀)×(a₂−a₀)
 *   b₀ b₁ b₂ against a:     D − s·n_B
 *   a₀ a₁ against b₀ b₁:    D + s·(a₁−a₀)×(b₀−b₁)
 * (the last because D is linear in each of b₀ and b₁, and s × s = 0). The first two signs are not zero for
 * triangles with area. The third is computed only for an edge whose ends lie on both sides of the other
 * triangle's plane; such an edge is parallel to none of its edges, so the sign is not zero. Two
 * triangles in general position share a segment with two ends, or no point.
 *
 * Order of the ends: the segment is directed along n_A × n_B. It leaves B through an edge with B on its
 * left, so this edge goes from the right, inside A, to the left, outside A. It leaves A through an edge that
 * goes from the right, outside B, to the left, inside B.
 */
#include "server/engine/collision/crossing.h"

#include "server/engine/geometry/orient.h"

/* The sign of the first component of the normal that is not zero: the sign of its product with the shift
 * (ε, ε², ε³); 0 for a triangle without area. */
static int shift_sign(const vec3 t[3])
{
	for (uint32_t axis = 0; axis < 3; axis++) {
		int sign = orient_line(axis, t[0], t[1], t[2]);
		if (sign != 0)
			return sign;
	}
	return 0;
}

int crossing_side_of_a(const vec3 a[3], vec3 b)
{
	int side = orient_plane(a[0], a[1], a[2], b);
	return side != 0 ? side : shift_sign(a);
}

int crossing_side_of_b(const vec3 b[3], vec3 a)
{
	int side = orient_plane(b[0], b[1], b[2], a);
	return side != 0 ? side : -shift_sign(b);
}

/* The perturbed sign of edge a₀ a₁ of A against edge b₀ b₁ of B: on which side it passes. */
static int side_of_edges(vec3 a0, vec3 a1, vec3 b0, vec3 b1)
{
	int side = orient_plane(a0, a1, b0, b1);
	for (uint32_t axis = 0; axis < 3 && side == 0; axis++)
		side = orient_vectors(axis, a0, a1, b1, b0);
	return side;
}

/* sign[i][j]: edge i of a against edge j of b, computed on first use. */
enum { SIGN_UNKNOWN = 2 };
struct edge_signs {
	const vec3 *a, *b;
	int8_t sign[3][3];
};

static int edge_sign(struct edge_signs *self, uint32_t i, uint32_t j)
{
	ASSERT(i < 3 && j < 3);
	int8_t *sign = &self->sign[i][j];
	if (*sign == SIGN_UNKNOWN)
		*sign = (int8_t)side_of_edges(self->a[i], self->a[(i + 1) % 3], self->b[j],
					      self->b[(j + 1) % 3]);
	ASSERT(*sign >= -1 && *sign <= 1);
	return *sign;
}

/* True if edge `edge` of one triangle, whose ends are on both sides of the other's plane, pierces it. */
static bool pierces(struct edge_signs *signs, bool from_a, uint32_t edge)
{
	int first = from_a ? edge_sign(signs, edge, 0) : edge_sign(signs, 0, edge);
	if (first == 0)
		return false;
	for (uint32_t k = 1; k < 3; k++)
		if ((from_a ? edge_sign(signs, edge, k) : edge_sign(signs, k, edge)) != first)
			return false;
	return true;
}

struct ends {
	uint32_t starts, finishes;
	struct crossing *out;
};

static void find_ends(struct edge_signs *signs, bool from_a, const int side[3], struct ends *ends)
{
	for (uint32_t k = 0; k < 3; k++) {
		int here = side[k], next = side[(k + 1) % 3];
		ASSERT(here >= -1 && here <= 1);
		if (here * next >= 0 || !pierces(signs, from_a, k))
			continue;
		struct crossing_end end = { from_a, (uint8_t)k, here > 0 };
		if (end.enters == from_a) {
			ends->out->end = end;
			ends->finishes++;
		} else {
			ends->out->start = end;
			ends->starts++;
		}
	}
}

static bool one_sided(const int side[3])
{
	return side[0] == side[1] && side[1] == side[2];
}

enum crossing_outcome crossing_find(const vec3 a[3], const vec3 b[3], struct crossing *out)
{
	int of_b[3], of_a[3];
	for (uint32_t k = 0; k < 3; k++)
		of_b[k] = crossing_side_of_a(a, b[k]);
	if (one_sided(of_b))
		return of_b[0] == 0 ? CROSSING_BROKEN : CROSSING_NONE;
	for (uint32_t k = 0; k < 3; k++)
		of_a[k] = crossing_side_of_b(b, a[k]);
	if (one_sided(of_a))
		return of_a[0] == 0 ? CROSSING_BROKEN : CROSSING_NONE;
	struct edge_signs signs = { a, b, { { 2, 2, 2 }, { 2, 2, 2 }, { 2, 2, 2 } } };
	struct ends ends = { 0, 0, out };
	find_ends(&signs, true, of_a, &ends);
	find_ends(&signs, false, of_b, &ends);
	ASSERT(ends.starts + ends.finishes <= 6);
	if (ends.starts == 1 && ends.finishes == 1)
		return CROSSING_FOUND;
	return ends.starts == 0 && ends.finishes == 0 ? CROSSING_NONE : CROSSING_BROKEN;
}
