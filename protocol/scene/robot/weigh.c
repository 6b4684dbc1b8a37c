/* weigh.c: masses, centres and inertias of links, and the refusal of those that no body has. */
#include "protocol/scene/robot/model.h"

/* Of a link of a file, kg: less is a mistake of units. Bodies may have less. */
#define LINK_MASS_MIN 1e-6

/* ---- from shapes --------------------------------------------------------------------------- */

/* The centre first, then the tensors moved to it. */
static enum status weigh_shapes(struct robot_link *link, const struct robot_geom *geoms,
				uint32_t count)
{
	double mass = 0;
	vec3 moment = vec3_zero();
	for (uint32_t i = 0; i < count; i++)
		if (geoms[i].mass < 0)
			return node_fail(
				geoms[i].node, STATUS_MISSING, "inertial",
				"'%.32s' would take its mass from a mesh; give it an inertial",
				link->name);
	for (uint32_t i = 0; i < count; i++) {
		ASSERT(geoms[i].mass >= 0);
		mass += geoms[i].mass;
		moment = vec3_mul_add(moment, geoms[i].at.position, geoms[i].mass);
	}
	link->mass = mass;
	if (!(mass > 0))
		return STATUS_OK;
	link->centre = vec3_scale(moment, 1 / mass);
	link->inertia = (struct tensor){ 0 };
	for (uint32_t i = 0; i < count; i++) {
		vec3 apart = vec3_sub(geoms[i].at.position, link->centre);
		link->inertia =
			tensor_add(link->inertia,
				   tensor_add(tensor_turn(geoms[i].inertia, geoms[i].at.rotation),
					      tensor_of_point(geoms[i].mass, apart)));
	}
	return STATUS_OK;
}

/* ---- what no body has ---------------------------------------------------------------------- */

static double largest(vec3 v)
{
	return vec3_max_component(v);
}

static bool is_possible(vec3 m)
{
	double sum = m.x + m.y + m.z, most = largest(m);
	return vec3_min_component(m) > 0 && most <= (sum - most) * (1 + 1e-9);
}

/* Moments above the sum of the others by rounding become that sum; others are refused, or
 * balanced if asked. */
static enum status check_inertia(const struct robot *self, struct robot_link *link)
{
	quat axes;
	vec3 m = tensor_principal(link->inertia, &axes);
	double sum = m.x + m.y + m.z;
	if (is_possible(m))
		return STATUS_OK;
	if (!self->balance || !(sum > 0))
		return node_fail(link->node, STATUS_RANGE, "inertia",
				 "'%.24s' has moments [%.4g, %.4g, %.4g] kg m2, as no body has%s",
				 link->name, m.x, m.y, m.z,
				 sum > 0 ? "; --balance makes them equal" : "");
	link->inertia = tensor_diagonal(vec3_all(sum / 3));
	node_note(self, link->node, &link->inertia,
		  "the moments [%.4g, %.4g, %.4g] kg m2 of '%.32s', as no body has, are balanced",
		  m.x, m.y, m.z, link->name);
	return STATUS_OK;
}

static double reach_of(const struct robot_geom *geom, vec3 centre)
{
	double size = geom->shape == SHAPE_CAPSULE || geom->shape == SHAPE_CYLINDER
			      ? geom->size.x + geom->size.y
			      : largest(geom->size);
	return vec3_distance(geom->at.position, centre) + size;
}

/* A radius of gyration far outside of the shapes, or far too small: units are mixed up, or a
 * digit. */
static void check_units(const struct robot *self, const struct robot_link *link,
			const struct robot_geom *geoms, uint32_t count)
{
	static const int too_large = 0, too_small = 0;
	double reach = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (geoms[i].shown && !geoms[i].collides)
			continue;
		if (geoms[i].shape == SHAPE_MESH)
			return;
		reach = MAX_OF(reach, reach_of(&geoms[i], link->centre));
	}
	quat axes;
	double gyration = scalar_sqrt(largest(tensor_principal(link->inertia, &axes)) / link->mass);
	if (reach > 0 && gyration > 10 * reach)
		node_note(
			self, link->node, &too_large,
			"the inertia of '%.32s' is that of a body of %.3g m, its shapes reach %.3g m: "
			"check the units",
			link->name, gyration, reach);
	if (reach > 0 && gyration < 0.01 * reach)
		node_note(
			self, link->node, &too_small,
			"the inertia of '%.32s' is that of a body of %.3g m, its shapes reach %.3g m: "
			"check the units",
			link->name, gyration, reach);
}

static enum status check_link(const struct robot *self, struct robot_link *link,
			      const struct robot_geom *geoms, uint32_t count)
{
	if (link->mass == 0 || link->still || link->animated)
		return STATUS_OK;
	if (!(link->mass >= LINK_MASS_MIN && link->mass <= MASS_MAX))
		return node_fail(link->node, STATUS_RANGE, "mass",
				 "mass %g kg of '%.32s' is not between %g and %g kg", link->mass,
				 link->name, LINK_MASS_MIN, MASS_MAX);
	enum status status = check_inertia(self, link);
	if (status == STATUS_OK && link->given)
		check_units(self, link, geoms, count);
	return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* The bounds of MJCF's compiler. */
static void bound_link(const struct robot *self, struct robot_link *link)
{
	if (link->mass == 0 && self->mass_least == 0)
		return;
	link->mass = MAX_OF(link->mass, self->mass_least);
	if (!(self->inertia_least > 0))
		return;
	quat axes;
	vec3 m = tensor_principal(link->inertia, &axes);
	link->inertia =
		tensor_turn(tensor_diagonal(vec3_max(m, vec3_all(self->inertia_least))), axes);
}

static void scale_total(struct robot *self)
{
	double total = 0;
	for (uint32_t i = 0; i < self->links.count; i++)
		total += self->links.items[i].mass;
	double factor = total > 0 ? self->mass_total / total : 1;
	for (uint32_t i = 0; i < self->links.count; i++) {
		struct robot_link *link = &self->links.items[i];
		link->mass *= factor;
		link->inertia = tensor_scale(link->inertia, factor);
	}
}

static const struct robot_geom *geoms_of(const struct robot *self, const struct robot_link *link)
{
	return link->geom_count > 0 ? self->geoms.items + link->geom_first : NULL;
}

enum status robot_weigh(struct robot *self)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < self->links.count; i++) {
		struct robot_link *link = &self->links.items[i];
		if (!link->given && !link->still && status == STATUS_OK)
			status = weigh_shapes(link, geoms_of(self, link), link->geom_count);
		bound_link(self, link);
	}
	if (self->mass_total > 0)
		scale_total(self);
	for (uint32_t i = 0; i < self->links.count && status == STATUS_OK; i++) {
		struct robot_link *link = &self->links.items[i];
		status = check_link(self, link, geoms_of(self, link), link->geom_count);
	}
	return status;
}
