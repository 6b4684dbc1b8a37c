/* tree_dynamics.c: recursions over a forest.
 *
 * Each link keeps its quantities about its own mass centre, so sums contain distances within the
 * mechanism only. With A the inertia of a link and all that hangs on it, p the force that it needs
 * without acceleration, U = A S and D = Sᵀ U:
 *
 *   up     u = τ − Sᵀ p     A' = A − U D⁻¹ Uᵀ     p' = p + A' c + U D⁻¹ u     both added to the parent's
 *   down   a = X a_parent + c     q'' = D⁻¹ (u − Uᵀ a)     a += S q''
 *
 * D is factored as L Lᵀ without exchanges, at most six rows.
 */
#include "server/engine/articulated/tree_dynamics.h"

#include "server/base/heap.h"
#include "server/engine/linalg/chol.h"

/* ---- 6×6 ----------------------------------------------------------------------------------------- */

static struct spatial_inertia inertia_of(const struct articulation_link *link)
{
	return (struct spatial_inertia){ mat3_diagonal(vec3_all(link->mass)), mat3_zero(),
					 sym3_matrix(link->inertia) };
}

static struct spatial spatial_add(struct spatial a, struct spatial b)
{
	return spatial_mul_add(a, b, 1);
}

/* Entry (i, j ≤ i) of what rotors add to M within a link. */
static double armature_of(const struct articulation *tree, const struct articulation_link *link,
			  uint32_t i, uint32_t j)
{
	ASSERT(j <= i && i < link->count);
	return tree->armature == NULL
		       ? 0
		       : tree->armature[(size_t)(link->first + i) * ARTICULATION_AXES_MAX + j];
}

/* ---- storage ------------------------------------------------------------------------------------- */

enum status tree_dynamics_make(struct tree_dynamics *self, const struct articulation *tree)
{
	size_t links = (size_t)tree->link_count + 1, axes = (size_t)tree->axis_count + 1;
	*self = (struct tree_dynamics){ .tree = tree };
	self->inertia = heap_alloc(links * sizeof *self->inertia);
	self->acceleration = heap_alloc(links * sizeof *self->acceleration);
	self->force = heap_alloc(links * sizeof *self->force);
	self->push = heap_alloc(axes * sizeof *self->push);
	self->pivot = heap_alloc(axes * ARTICULATION_AXES_MAX * sizeof *self->pivot);
	self->drive = heap_alloc(axes * sizeof *self->drive);
	bool made = self->inertia != NULL && self->acceleration != NULL && self->force != NULL &&
		    self->push != NULL && self->pivot != NULL && self->drive != NULL;
	return made ? STATUS_OK : STATUS_NO_MEMORY;
}

void tree_dynamics_release(struct tree_dynamics *self)
{
	heap_free(self->inertia);
	heap_free(self->acceleration);
	heap_free(self->force);
	heap_free(self->push);
	heap_free(self->pivot);
	heap_free(self->drive);
	*self = (struct tree_dynamics){ 0 };
}

/* ---- inverse ------------------------------------------------------------------------------------- */

/* w × I w, less the load. */
static struct spatial resting_force(const struct articulation_link *link,
				    const struct spatial *load, bool moving)
{
	struct spatial force = spatial_zero();
	vec3 w = link->velocity.angular;
	if (moving)
		force.angular = vec3_cross(w, sym3_apply(link->inertia, w));
	return load == NULL ? force : spatial_mul_add(force, *load, -1);
}

static struct spatial carried_of(const struct tree_dynamics *self,
				 const struct articulation_link *link, bool moving)
{
	struct spatial a = moving ? link->bias : spatial_zero();
	if (link->parent == ARTICULATION_NONE)
		return a;
	return spatial_add(a, spatial_carry(link->arm, self->acceleration[link->parent]));
}

/* The forces that the rotors of a link's axes need. */
static void add_rotor_forces(const struct articulation *tree, const struct articulation_link *link,
			     const double *accelerations, double *forces)
{
	for (uint32_t i = 0; i < link->count; i++) {
		forces[i] += tree->rotor_bias[link->first + i];
		for (uint32_t j = 0; j < link->count && accelerations != NULL; j++)
			forces[i] += armature_of(tree, link, MAX_OF(i, j), MIN_OF(i, j)) *
				     accelerations[link->first + j];
	}
}

void tree_inverse(struct tree_dynamics *self, const double *accelerations,
		  const struct spatial *loads, double *forces)
{
	const struct articulation *tree = self->tree;
	ASSERT(forces != NULL || tree->axis_count == 0);
	for (uint32_t i = 0; i < tree->link_count; i++) {
		const struct articulation_link *link = &tree->links[i];
		ASSERT(link->parent == ARTICULATION_NONE || link->parent < i); /* invariant 1 */
		struct spatial a = carried_of(self, link, true);
		for (uint32_t k = link->first;
		     accelerations != NULL && k < link->first + link->count; k++)
			a = spatial_mul_add(a, tree->axes[k], accelerations[k]);
		self->acceleration[i] = a;
		struct spatial inert = { vec3_scale(a.linear, link->mass),
					 sym3_apply(link->inertia, a.angular) };
		self->force[i] = spatial_add(
			inert, resting_force(link, loads == NULL ? NULL : &loads[i], true));
	}
	for (uint32_t i = tree->link_count; i-- > 0;) {
		const struct articulation_link *link = &tree->links[i];
		for (uint32_t k = link->first; k < link->first + link->count; k++)
			forces[k] = spatial_dot(tree->axes[k], self->force[i]);
		if (tree->armature != NULL)
			add_rotor_forces(tree, link, accelerations, forces + link->first);
		if (link->parent != ARTICULATION_NONE)
			self->force[link->parent] = spatial_add(
				self->force[link->parent], spatial_bear(link->arm, self->force[i]));
	}
}

/* ---- mass matrix --------------------------------------------------------------------------------- */

static void fill_column(const struct articulation *tree, uint32_t from, uint32_t column,
			struct spatial force, double *out)
{
	size_t stride = tree->axis_count;
	for (uint32_t at = from; at != ARTICULATION_NONE; at = tree->links[at].parent) {
		const struct articulation_link *link = &tree->links[at];
		uint32_t last = MIN_OF(link->first + link->count, column + 1);
		for (uint32_t k = link->first; k < last; k++) {
			double entry = spatial_dot(tree->axes[k], force);
			out[column * stride + k] = out[k * stride + column] = entry;
		}
		force = spatial_bear(link->arm, force);
	}
}

void tree_mass_matrix(struct tree_dynamics *self, double *out)
{
	const struct articulation *tree = self->tree;
	size_t axes = tree->axis_count;
	ASSERT(out != NULL);
	for (size_t i = 0; i < axes * axes; i++)
		out[i] = 0;
	for (uint32_t i = 0; i < tree->link_count; i++)
		self->inertia[i] = inertia_of(&tree->links[i]);
	for (uint32_t i = tree->link_count; i-- > 0;) {
		const struct articulation_link *link = &tree->links[i];
		for (uint32_t k = link->first; k < link->first + link->count; k++)
			fill_column(tree, i, k,
				    spatial_inertia_apply(&self->inertia[i], tree->axes[k]), out);
		for (uint32_t r = 0; r < link->count && tree->armature != NULL; r++)
			for (uint32_t c = 0; c <= r; c++) {
				size_t row = link->first + r, column = link->first + c;
				out[row * axes + column] += armature_of(tree, link, r, c);
				out[column * axes + row] = out[row * axes + column];
			}
		if (link->parent != ARTICULATION_NONE)
			spatial_inertia_bear(&self->inertia[link->parent], &self->inertia[i],
					     link->arm);
	}
}

/* ---- forward ------------------------------------------------------------------------------------- */

static struct chol factor_at(const struct tree_dynamics *self, const struct articulation_link *link)
{
	struct chol factor;
	ASSERT(link->first + link->count <= self->tree->axis_count);
	chol_init(&factor, self->pivot + (size_t)link->first * ARTICULATION_AXES_MAX, link->count);
	factor.size = link->count;
	return factor;
}

/* Makes A' of a link's A, after U and the factor of D. */
static bool eliminate_link(struct tree_dynamics *self, uint32_t index)
{
	const struct articulation_link *link = &self->tree->links[index];
	struct spatial_inertia *inertia = &self->inertia[index];
	const struct spatial *axes = self->tree->axes + link->first;
	struct spatial *push = self->push + link->first, reduced[ARTICULATION_AXES_MAX];
	double d[ARTICULATION_AXES_MAX * ARTICULATION_AXES_MAX];
	uint32_t count = link->count;
	ASSERT(count <= ARTICULATION_AXES_MAX);
	if (count == 0)
		return true;
	struct chol factor = factor_at(self, link);
	for (uint32_t i = 0; i < count; i++)
		push[i] = spatial_inertia_apply(inertia, axes[i]);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j <= i; j++)
			d[i * count + j] =
				spatial_dot(axes[i], push[j]) + armature_of(self->tree, link, i, j);
	if (!chol_factor(&factor, d, count, count))
		return false;
	/* Columns of U L⁻ᵀ, so that what is taken is symmetric. */
	for (uint32_t i = 0; i < count; i++) {
		reduced[i] = push[i];
		for (uint32_t j = 0; j < i; j++)
			reduced[i] = spatial_mul_add(reduced[i], reduced[j],
						     -factor.lower[i * count + j]);
		reduced[i] = spatial_scale(reduced[i], 1 / factor.lower[i * count + i]);
		spatial_inertia_take(inertia, reduced[i], reduced[i]);
	}
	return true;
}

bool tree_factor(struct tree_dynamics *self)
{
	const struct articulation *tree = self->tree;
	for (uint32_t i = 0; i < tree->link_count; i++)
		self->inertia[i] = inertia_of(&tree->links[i]);
	for (uint32_t i = tree->link_count; i-- > 0;) {
		const struct articulation_link *link = &tree->links[i];
		if (!eliminate_link(self, i))
			return false;
		if (link->parent != ARTICULATION_NONE)
			spatial_inertia_bear(&self->inertia[link->parent], &self->inertia[i],
					     link->arm);
	}
	return true;
}

/* D⁻¹ of a link's numbers. */
static void solve_link(const struct tree_dynamics *self, const struct articulation_link *link,
		       double *values)
{
	struct chol factor = factor_at(self, link);
	if (link->count > 0)
		chol_solve(&factor, values);
}

void tree_forward(struct tree_dynamics *self, const double *forces, const struct spatial *loads,
		  bool moving, double *accelerations)
{
	const struct articulation *tree = self->tree;
	for (uint32_t i = 0; i < tree->link_count; i++)
		self->force[i] =
			resting_force(&tree->links[i], loads == NULL ? NULL : &loads[i], moving);
	for (uint32_t i = tree->link_count; i-- > 0;) {
		const struct articulation_link *link = &tree->links[i];
		double scaled[ARTICULATION_AXES_MAX];
		struct spatial p = self->force[i];
		for (uint32_t k = 0; k < link->count; k++) {
			uint32_t axis = link->first + k;
			double u = -spatial_dot(tree->axes[axis], p);
			if (moving && tree->rotor_bias != NULL)
				u -= tree->rotor_bias[axis];
			scaled[k] = self->drive[axis] = forces == NULL ? u : forces[axis] + u;
		}
		if (link->parent == ARTICULATION_NONE)
			continue;
		solve_link(self, link, scaled);
		if (moving)
			p = spatial_add(p, spatial_inertia_apply(&self->inertia[i], link->bias));
		for (uint32_t k = 0; k < link->count; k++)
			p = spatial_mul_add(p, self->push[link->first + k], scaled[k]);
		self->force[link->parent] =
			spatial_add(self->force[link->parent], spatial_bear(link->arm, p));
	}
	for (uint32_t i = 0; i < tree->link_count; i++) {
		const struct articulation_link *link = &tree->links[i];
		struct spatial a = carried_of(self, link, moving);
		double *own = accelerations + link->first;
		for (uint32_t k = 0; k < link->count; k++)
			own[k] = self->drive[link->first + k] -
				 spatial_dot(self->push[link->first + k], a);
		solve_link(self, link, own);
		for (uint32_t k = 0; k < link->count; k++)
			a = spatial_mul_add(a, tree->axes[link->first + k], own[k]);
		self->acceleration[i] = a;
	}
}

/* ---- Jacobian ------------------------------------------------------------------------------------ */

void tree_jacobian(const struct articulation *tree, uint32_t link, vec3 point, double *out)
{
	size_t stride = tree->axis_count;
	ASSERT(link < tree->link_count);
	for (size_t i = 0; i < 6 * stride; i++)
		out[i] = 0;
	for (uint32_t at = link; at != ARTICULATION_NONE; at = tree->links[at].parent) {
		const struct articulation_link *from = &tree->links[at];
		vec3 arm = vec3_sub(point, from->centre);
		for (uint32_t k = from->first; k < from->first + from->count; k++) {
			struct spatial at_point = spatial_carry(arm, tree->axes[k]);
			for (uint32_t i = 0; i < 3; i++) {
				out[i * stride + k] = vec3_get(at_point.linear, i);
				out[(3 + i) * stride + k] = vec3_get(at_point.angular, i);
			}
		}
	}
}
