/* body_mass.c: mass properties of a body made of shapes.
 *
 * Each shape has volume, centre and inertia for unit density (geometry/mass.h); they are summed over the
 * placed shapes (app D-01). A given mass scales the sum; otherwise the density multiplies it. The sum is
 * over shapes, not over their union, so a volume in which two shapes overlap counts twice. SPAWN's
 * mass_rule replaces the centre, or the centre and the inertia; without the latter, the moments of the
 * shapes about their own centre stay.
 *
 * A very thin body has no usable inverse inertia: a needle of 10⁵ m by 10⁻⁴ m turned by 45° has tensor
 * entries whose difference, the inertia about the long axis, is smaller than their rounding errors. The
 * pivots of the tensor are therefore compared with its trace, and such a body is refused as degenerate.
 * It may exist with fixed rotation, or if it is not dynamic.
 */
#include "server/engine/world/body_mass.h"

#include "server/engine/types.h"
#include "server/engine/world/command_bytes.h"

#include <string.h>

/* A pivot below this fraction of the trace may be rounding error only: entries have errors of about 1e-16
 * of the trace, their products in the elimination a few times that. At the limit three digits of the
 * inverse are correct; a smaller limit would accept bodies whose inverse is noise. */
#define PIVOT_MIN 1e-12

bool shape_is_static_only(const struct shape *shape)
{
	return shape_is_ground(shape);
}

static void pack_inertia(const mat3 *m, bool planar, double out[6])
{
	memset(out, 0, 6 * sizeof *out);
	out[2] = m->z.z;
	if (planar)
		return;
	out[0] = m->x.x;
	out[1] = m->y.y;
	out[3] = m->y.x;
	out[4] = m->z.y;
	out[5] = m->z.x;
}

static struct body_mass mass_of_shapes(const struct command_SPAWN *spawn,
				       const struct shape *const *shapes, bool planar)
{
	struct body_mass result = { 0 };
	if (spawn->shapes.count == 0) {
		result.mass = spawn->mass > 0 ? spawn->mass : 1.0;
		return result;
	}
	struct mass_part parts[ATTACHMENTS_MAX];
	for (uint32_t i = 0; i < spawn->shapes.count; i++) {
		const struct attachment *item = &spawn->shapes.items[i];
		if (shape_is_static_only(shapes[i]))
			return result;
		parts[i].shape = shapes[i];
		parts[i].at = pose_make(item->position, command_rotation(item->rotation));
		parts[i].density = spawn->mass > 0 ? 1.0 : spawn->density;
	}
	struct mass_total total = mass_combine(parts, spawn->shapes.count);
	double scale = spawn->mass > 0 && total.mass > 0 ? spawn->mass / total.mass : 1.0;
	mat3 inertia = mat3_scale(total.inertia, scale);
	result.mass = spawn->mass > 0 && total.mass > 0 ? spawn->mass : total.mass;
	result.centre = total.centre;
	pack_inertia(&inertia, planar, result.inertia);
	return result;
}

struct body_mass body_mass_of_parts(const struct mass_part *parts, uint32_t count, bool planar)
{
	struct mass_total total = mass_combine(parts, count);
	struct body_mass result = { .mass = total.mass, .centre = total.centre };
	ASSERT(count <= ATTACHMENTS_MAX);
	pack_inertia(&total.inertia, planar, result.inertia);
	return result;
}

struct body_mass body_mass_of(const struct command_SPAWN *spawn, const struct shape *const *shapes,
			      bool planar)
{
	struct body_mass result = mass_of_shapes(spawn, shapes, planar);
	if (result.mass == 0 || spawn->mass_rule == MASS_OF_SHAPES)
		return result;
	result.centre = spawn->centre;
	if (spawn->mass_rule != MASS_GIVEN)
		return result;
	quat axes = planar ? quat_identity() : command_rotation(spawn->inertia_rotation);
	vec3 m = spawn->inertia;
	mat3 inertia = mat3_rotate_tensor(mat3_from_quat(axes), mat3_diagonal(m));
	result.mass = spawn->mass;
	pack_inertia(&inertia, planar, result.inertia);
	return result;
}

bool body_inertia_inverse(const double inertia[6], bool planar, double inverse[6])
{
	memset(inverse, 0, 6 * sizeof *inverse);
	double xx = inertia[0], yy = inertia[1], zz = inertia[2];
	double xy = inertia[3], yz = inertia[4], zx = inertia[5];
	if (xx == 0 && yy == 0 && zz == 0)
		return true;
	if (planar) {
		inverse[2] = zz > 0 ? 1.0 / zz : 0.0;
		return zz > 0 && scalar_is_finite(inverse[2]);
	}
	/* Pivots of L D Lᵀ: all are positive if and only if the tensor is positive definite. */
	double least = PIVOT_MIN * (xx + yy + zz);
	double d1 = xx, d2 = yy - xy * (xy / d1);
	double l32 = (yz - zx * (xy / d1)) / d2;
	double d3 = zz - zx * (zx / d1) - l32 * l32 * d2;
	if (!(d1 > least && d2 > least && d3 > least))
		return false;
	/* The inverse is L⁻ᵀ D⁻¹ L⁻¹; m31 is an entry of L⁻¹. */
	double l21 = xy / d1, l31 = zx / d1;
	double m31 = l21 * l32 - l31;
	double i1 = 1.0 / d1, i2 = 1.0 / d2, i3 = 1.0 / d3;
	inverse[0] = i1 + l21 * l21 * i2 + m31 * m31 * i3;
	inverse[1] = i2 + l32 * l32 * i3;
	inverse[2] = i3;
	inverse[3] = -l21 * i2 - m31 * l32 * i3;
	inverse[4] = -l32 * i3;
	inverse[5] = m31 * i3;
	return true;
}

enum status body_mass_check(const struct body_mass *mass, bool planar, bool fixed_rotation,
			    int64_t index, struct reason *why)
{
	if (!(mass->mass >= MASS_MIN && mass->mass <= MASS_MAX))
		return reason_set(
			why, STATUS_RANGE, index, "mass",
			"the body has %.10g kg: a dynamic body must have %.10g to %.10g kg; mass "
			"or density sets it",
			mass->mass, MASS_MIN, MASS_MAX);
	double inverse[6];
	if (!fixed_rotation && !body_inertia_inverse(mass->inertia, planar, inverse))
		return reason_set(
			why, STATUS_DEGENERATE, index, "shapes",
			"the body is too thin: rounding hides its inertia about one axis; use "
			"thicker shapes or fix its rotation");
	return STATUS_OK;
}

void body_inverses_set(struct tables *tables, uint32_t row)
{
	struct body_table *body = &tables->body;
	bool dynamic = body->status[row] == BODY_DYNAMIC;
	bool turns = dynamic && !(body->flags[row] & BODY_FIXED_ROTATION);
	body->mass_inv[row] = dynamic ? 1.0 / body->mass[row] : 0.0;
	memset(body->inertia_inv[row], 0, sizeof body->inertia_inv[row]);
	if (turns) {
		bool good = body_inertia_inverse(body->inertia[row], tables->world.planar[0] != 0,
						 body->inertia_inv[row]);
		ASSERT(good);
	}
}
