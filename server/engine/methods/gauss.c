/* gauss.c: `gauss`: the new places of all bodies as the nearest permitted ones to where forces
 * alone would bring them (papers; Gauss's principle of least restraint).
 *
 * With d the displacement of a body in a step of h seconds, D the one of the step before (h v, the
 * velocity of the tables) and G = h² M⁻¹ f that of forces, the step solves
 *
 *   min ½ (d − D − G)ᵀ M (d − D − G)    subject to    gap + J d + c ≥ 0 at every contact point
 *
 * and v' = d / h. No collision is looked for: a body that arrives within the step stops at the
 * surface, which is a perfectly inelastic impact with any number of contacts (papers R-11). As d =
 * 0 is permitted, the optimum has ½ |d|² − G·d ≤ ½ |D|² − ½ |d − D|²: energy never grows while
 * forces are constant.
 *
 * c stands for the bend of the gap, which is not linear in d because surfaces turn. q = J'v is its
 * second derivative at the velocity of the beginning, exact for bodies that turn, as are lengths
 * within a body:
 *
 *   gauss.separation 0   c = ½ h² q: the gap at the end to second order            (S″)
 *                    1   c = h² q: the place that the accelerations of (S2) lead to (S′), theorem 5.1
 *                    2   J and gap at d = D + G, c = 0: the form of the slides
 *
 * Where bodies meet or part, d is not near D. Then the gap after the motion differs from gap + J d
 * + c, and the difference becomes part of c for another round (gauss.rounds), until no point
 * overlaps and none is pushed too far by more than gauss.overlap. Problems of later rounds start
 * from the multipliers of the one before, those of a step from the last step's, which are in the
 * contact table.
 *
 * Contact points are the corners of the overlap of two faces, each as the pair of features that it
 * is (contact_corners): a vertex over a face, or two edges (papers ). So a brick may tip
 * over the end of another, which constraints of the whole edge would forbid, and no piece of a pair
 * is preferred. The rows are those of `lcp` without friction, and so are islands and solvers
 * (velocity_island.c). Pivoting goes on to larger islands than there (DENSE_ROWS): the rows of
 * bricks are so dependent that active sets which change many rows at once cycle, and later rounds
 * are solved from their predecessor's set with hardly a pivot.
 *
 * Joints are rows of the same problem. Locked axes, limits and position motors leave a gap at the
 * end; springs, dry friction and other motors act as in the velocity methods (velocity_joint.c). A
 * rod is a bar of the source, and a body without shapes a point of its frameworks (papers R-01,
 * The rules of length:
 *
 *   gauss.separation 0   gap + J d = 0 (L″), and the true length in later rounds; forces act along the
 *                        bar as it was, as in SHAKE, so energy oscillates and does not drift
 *                    1   J d + h² q = 0 (L′), theorem 5.1: lengths drift
 *                    2   J and gap at d = D + G: the slides' form, which takes speed from what turns
 *
 * The source's bars of penalty M (…)² for frameworks with more bars than they need (papers R-09)
 * are springs of stiffness 2 M l² / h²; bars that are redundant need none, because the solver finds
 * dependent rows.
 * Taut lines have compliant rows across themselves (velocity_taut.c), without which short ones under
 * tension run away.
 *
 * What goes wrong, and what then happens. Where surfaces bend towards each other, d = 0 is not
 * permitted, and energy may grow by O(h²): velocities of islands at rest on something are then
 * shortened until it does not (limit_energy). Bodies that overlap as the step begins part by no
 * more than contact.push_speed, and get no more velocity from it than energy permits. If rounds
 * diverge, all bodies must be permitted to rest (permit_rest), and joints hold as in the first
 * round (improve_gaps). If rounds end before all gaps are good, the last solution stays; this
 * counts as a fallback, as does a problem without solution, whose rows become compliant. Friction
 * and restitution have no place in the principle and are refused. Bodies near others lose ½ m |G|²
 * / h² a step as they fall, as the source's do; without contacts a body takes the exact free path.
 * */
#include "server/engine/methods/gauss.h"

#include "server/engine/methods/method.h"
#include "server/engine/methods/velocity.h"
#include "server/engine/world/parameters.h"

#include <string.h>

/* 1, of the solvers, which leaves a residual of less than 1e-10 m/s at speeds of some m/s. */
#define TOLERANCE 1e-11
/* m/s: a larger residual of a solution counts as none. */
#define GOOD 1e-10

/* Islands of at most this many rows are solved by pivoting, larger ones sparse. Walls that stand
 * take the same time both ways at about 700 rows. Where towers fall, sparse active sets cycle: 300
 * steps of a diamond of 100 bricks (700 rows) take 1.2 s by pivoting and 17 s without; of 25 boxes
 * in space (300 rows) 84 of 1000 steps fell back, by pivoting one. */
enum { DENSE_ROWS = 1000 };

/* As in statics/equilibrium.c: of a solution in steps, where a factor loses too many digits. */
enum { PROXIMAL_ROUNDS = 12 };
/* 1: joints that make bodies faster by more than the inverse of this run away. */
#define RUNAWAY 0.5
/* Solutions of a step in which taut lines follow their tension (as in velocity_joint.c). */
enum { TAUT_ROUNDS = 2 };

/* 1. Rounds of an island with joints that leave gaps larger by this factor lead nowhere.
 * Smaller: rounds in which contacts change end too soon. */
#define DIVERGENCE 2

enum gauss_separation { SEPARATION_SECOND, SEPARATION_ACCELERATION, SEPARATION_SLIDES };

struct gauss {
	struct velocity_step solve;
	struct collide_options options; /* of this step's contacts */
	struct gauss_carriers carriers;
	enum gauss_separation separation;
	uint32_t rounds;     /* 1: no gap is looked at after the motion */
	double overlap;	     /* m */
	double push;	     /* m: largest removal of an overlap in a step */
	uint8_t *unfinished; /* by island: its last round left a gap beyond `overlap` */
	bool *diverged;	     /* by island: its solution is that of the first round (improve_gaps) */
};

/* An island in its rounds. By row: */
struct gauss_island {
	struct velocity_island island;
	double *speed;	 /* m/s: J v* */
	double *b;	 /* m/s: as the solver has it */
	double *x;	 /* N s */
	double *offset;	 /* m: gap + c */
	double *floor;	 /* m: the gap that the step must leave; of a contact or limit ≤ 0 */
	bool *selected;	 /* with joints: rows that act; else NULL */
	bool cautious;	 /* no contact asks for more than rest (permit_rest) */
	uint32_t solved; /* solutions so far */
};

#define ALLOCATE(type, count) ARENA_ARRAY(&self->solve.step->dynamics->scratch, type, count)

/* ---- contacts
 * ---------------------------------------------------------------------------------- */

static uint32_t slot_of(const struct step *step, uint32_t body)
{
	return step_takes_part(step, body) ? step->dynamics->bodies.items[body].slot : ROW_NO_BODY;
}

static bool is_fixed(const struct gauss *self, uint32_t slot)
{
	return slot == ROW_NO_BODY || !mass_moves(&self->solve.mass, slot);
}

/* Corners of one contact, in scratch. */
struct gauss_corners {
	struct contact_corner *items;
	uint32_t count;
};

static enum status find_corners(struct gauss *self, uint32_t index, struct contact_corner *room,
				struct gauss_corners *out)
{
	const struct step *step = self->solve.step;
	const struct contact_state *contact = &step->contacts.items[index];
	uint32_t a = slot_of(step, contact->body_a), b = slot_of(step, contact->body_b);
	*out = (struct gauss_corners){ NULL, 0 };
	if (contact->point_count == 0 || (is_fixed(self, a) && is_fixed(self, b)))
		return STATUS_OK;
	uint32_t count = step_corners(step, contact, &self->options, room);
	ASSERT(count <= CONTACT_CORNERS_MAX);
	out->items = ALLOCATE(struct contact_corner, count);
	if (out->items == NULL)
		return STATUS_NO_MEMORY;
	memcpy(out->items, room, count * sizeof *room);
	out->count = count;
	return STATUS_OK;
}

/* Appends a constraint of one point for each corner. */
static void add_contact(struct gauss *self, uint32_t index, const struct gauss_corners *corners,
			struct contact_found *found, struct contact_found_point *points,
			struct gauss_carried_contact *carried)
{
	struct velocity_step *v = &self->solve;
	const struct step *step = v->step;
	const struct contact_state *contact = &step->contacts.items[index];
	uint32_t a = slot_of(step, contact->body_a), b = slot_of(step, contact->body_b);
	struct contact_found_point near[MANIFOLD_POINTS_MAX];
	struct contact_found all;
	const struct gauss_carried *sides[2] = { gauss_carried_at(&self->carriers, a),
						 gauss_carried_at(&self->carriers, b) };
	struct body_motion motion_a =
		sides[0] != NULL ? v->start[a] : dynamics_motion(step->dynamics, contact->body_a);
	struct body_motion motion_b =
		sides[1] != NULL ? v->start[b] : dynamics_motion(step->dynamics, contact->body_b);
	velocity_find_contact(v, contact, motion_a, motion_b, &all, near);
	for (uint32_t k = 0; k < corners->count; k++) {
		const struct contact_corner *from = &corners->items[k];
		ASSERT(from->normal_of <= CONTACT_NORMAL_OF_CENTRES);
		found[k] = all;
		found[k].normal = from->normal;
		found[k].points = &points[k];
		found[k].point_count = 1;
		velocity_find_turning(v, contact, is_fixed(self, a), is_fixed(self, b), from,
				      &found[k]);
		points[k] = (struct contact_found_point){ vec3_sub(from->point, all.a.centre),
							  vec3_sub(from->point, all.b.centre),
							  from->separation, from->feature };
		velocity_add_contact(v, index, &found[k], a, b);
		if (sides[0] == NULL && sides[1] == NULL)
			continue;
		carried[k] = (struct gauss_carried_contact){ found[k], { sides[0], sides[1] } };
		v->constraints[v->constraint_count - 1].kind = &gauss_contact_carried;
		v->constraints[v->constraint_count - 1].data = &carried[k];
	}
}

/* Constraints and rows of all contacts. */
static enum status make_rows(struct gauss *self)
{
	struct velocity_step *v = &self->solve;
	struct contact_list *list = &v->step->contacts;
	struct contact_corner *room = ALLOCATE(struct contact_corner, CONTACT_CORNERS_MAX);
	struct gauss_corners *corners = ALLOCATE(struct gauss_corners, list->count);
	uint32_t count = 0;
	if (room == NULL || corners == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < list->count; i++) {
		enum status status = find_corners(self, i, room, &corners[i]);
		if (status != STATUS_OK)
			return status;
		count += corners[i].count;
	}
	struct contact_found *found = ALLOCATE(struct contact_found, count);
	struct contact_found_point *points = ALLOCATE(struct contact_found_point, count);
	struct gauss_carried_contact *carried =
		ALLOCATE(struct gauss_carried_contact, self->carriers.count > 0 ? count : 0);
	v->list = list;
	v->constraints = ALLOCATE(struct constraint, (size_t)count + v->joints.count);
	v->contact_of = ALLOCATE(uint32_t, count);
	if (found == NULL || points == NULL || v->constraints == NULL || v->contact_of == NULL ||
	    carried == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < list->count; i++) {
		if (corners[i].count > 0)
			add_contact(self, i, &corners[i], found, points, carried);
		found += corners[i].count;
		points += corners[i].count;
		carried += self->carriers.count > 0 ? corners[i].count : 0;
	}
	v->contact_count = v->constraint_count;
	ASSERT(v->constraint_count == count);
	for (uint32_t j = 0; j < v->joints.count; j++)
		v->constraints[v->constraint_count++] = v->joints.constraints[j];
	bool slides = self->separation == SEPARATION_SLIDES;
	return velocity_rows(v, slides ? v->motions : v->start, slides, CONSTRAINT_ACCELERATION);
}

/* The point of the manifold that is nearest to a corner; its multiplier is that of the corners
 * near it. */
static uint32_t point_of(const struct contact_state *contact, vec3 arm_a)
{
	uint32_t best = 0;
	ASSERT(contact->point_count > 0);
	for (uint32_t p = 1; p < contact->point_count; p++)
		if (vec3_distance(contact->points[p].arm_a, arm_a) <
		    vec3_distance(contact->points[best].arm_a, arm_a))
			best = p;
	return best;
}

/* The last multiplier of a row's constraint. */
static double last_multiplier(const struct gauss *self, uint32_t block)
{
	const struct velocity_step *v = &self->solve;
	uint32_t constraint = v->rows.blocks[block].constraint, index = v->contact_of[constraint];
	const struct contact_found *found = v->constraints[constraint].data;
	uint32_t p = point_of(&v->list->items[index], found->points[0].arm_a);
	ASSERT(p < MANIFOLD_POINTS_MAX);
	return scalar_max(step_multipliers(v->step, v->list, index)[(size_t)3 * p], 0);
}

/* ---- an island
 * --------------------------------------------------------------------------------- */

/* Whether the step leaves a given gap of row i: of a contact, limit, lock or position motor. The
 * other rows of joints, and those of taut lines, are forces and speeds. */
static bool has_gap(const struct gauss_island *at, uint32_t i)
{
	if (i < at->island.contact_rows)
		return true;
	if (i >= at->island.taut_from)
		return false;
	const struct velocity_joint_row *joint = &at->island.joints[i - at->island.contact_rows];
	return joint->role == VELOCITY_LOCK || joint->role == VELOCITY_LIMIT ||
	       joint->role == VELOCITY_POSITION;
}

/* Whether the gap of row i may be larger than its floor. */
static bool may_open(const struct gauss_island *at, uint32_t i)
{
	return at->island.rows[i].set == ROW_POSITIVE;
}

/* Whether the solution keeps the gap of row i at its floor: not where it opens, nor where a
 * motor has not the force. */
static bool is_held(const struct gauss_island *at, uint32_t i)
{
	if (may_open(at, i))
		return at->x[i] > 0;
	const struct velocity_joint_row *joint = &at->island.joints[i - at->island.contact_rows];
	return joint->lower < at->x[i] && at->x[i] < joint->upper;
}

/* c of a row: what its gap bends by in the step. The source has the whole of h² q for contacts and
 * bars in (S′) and (L′), half of it in (S″), nothing in (L″) and in the slides. */
static double bend_of(const struct gauss *self, const struct gauss_island *at, uint32_t i)
{
	double h = self->solve.step->dt, whole = h * h * at->island.rows[i].bias;
	bool equality = !may_open(at, i);
	switch (self->separation) {
	case SEPARATION_SECOND:
		return equality ? 0 : 0.5 * whole;
	case SEPARATION_ACCELERATION:
		return whole;
	default:
		return 0;
	}
}

/* Whether row i is of a gear, whose two axes are to meet, whatever the separation. */
static bool is_gear(const struct gauss *self, const struct gauss_island *at, uint32_t i)
{
	const struct velocity_island *island = &at->island;
	if (i < island->contact_rows || i >= island->taut_from)
		return false;
	return self->solve.joints.joints[island->joints[i - island->contact_rows].joint].gear !=
	       NULL;
}

/* Sets offset and floor of row i. */
static void set_gap(const struct gauss *self, struct gauss_island *at, uint32_t i)
{
	double h = self->solve.step->dt, gap = at->island.rows[i].gap;
	bool drifts = self->separation == SEPARATION_ACCELERATION && !may_open(at, i) &&
		      !is_gear(self, at, i);
	/* (L′) is about lengths as they are. */
	at->offset[i] = (drifts ? 0 : gap) + bend_of(self, at, i);
	if (self->separation == SEPARATION_SLIDES) /* the gap is that of the end without contacts */
		at->offset[i] -= h * at->speed[i];
	at->floor[i] = scalar_min(0, gap + self->push);
	double rate = self->solve.settings.joint_push_speed;
	double by = rate > 0 && !is_gear(self, at, i) ? h * rate : self->push;
	if (!may_open(at, i))
		at->floor[i] = drifts ? 0 : gap - scalar_clamp(gap, -by, by);
}

static enum status make_island(const struct gauss *self, uint32_t index, struct arena *arena,
			       struct gauss_island *out)
{
	const struct velocity_step *v = &self->solve;
	enum status status = velocity_island_make(&out->island, v, index, arena);
	if (status != STATUS_OK)
		return status;
	uint32_t count = out->island.count;
	out->cautious = false;
	out->solved = 0;
	out->speed = ARENA_ARRAY(arena, double, count);
	out->b = ARENA_ARRAY(arena, double, count);
	out->x = ARENA_ARRAY(arena, double, count);
	out->offset = ARENA_ARRAY(arena, double, count);
	out->floor = ARENA_ARRAY(arena, double, count);
	out->selected = out->island.joints != NULL ? ARENA_ARRAY(arena, bool, count) : NULL;
	if (out->speed == NULL || out->b == NULL || out->x == NULL || out->offset == NULL ||
	    out->floor == NULL || (out->selected == NULL && out->island.joints != NULL))
		return STATUS_NO_MEMORY;
	row_system_speeds(&out->island.system, v->forced, out->speed);
	for (uint32_t i = 0; i < count; i++) {
		set_gap(self, out, i);
		if (i < out->island.contact_rows)
			out->x[i] = last_multiplier(self, out->island.block[i]);
	}
	if (out->island.joints != NULL)
		velocity_joints_warm_start(&out->island, out->x);
	return STATUS_OK;
}

/* Where rows nearly contradict each other, as around a wedge, a bend of a micrometre asks for a
 * motion of decimetres, which bends more. Then all bodies must be permitted to stay where they
 * are, so that energy bounds their motion; overlaps by the bend are left for the next step. */
static void permit_rest(struct gauss_island *at)
{
	for (uint32_t i = 0; i < at->island.contact_rows && at->cautious; i++)
		at->offset[i] = scalar_max(at->offset[i], at->floor[i]);
}

/* b of all rows. */
static void set_targets(const struct gauss *self, struct gauss_island *at)
{
	const struct velocity_island *island = &at->island;
	double h = self->solve.step->dt;
	ASSERT(h > 0);
	for (uint32_t i = 0; i < island->contact_rows; i++)
		at->b[i] = at->speed[i] + (at->offset[i] - at->floor[i]) / h;
	for (uint32_t i = island->contact_rows; i < island->count; i++) {
		struct velocity_joint_row *joint = &island->joints[i - island->contact_rows];
		double gap = island->rows[i].gap, plain = 0;
		/* What velocity_joints_targets has without curvature. */
		if (joint->role == VELOCITY_LIMIT)
			plain = scalar_max(gap, 0);
		else if (joint->role == VELOCITY_POSITION)
			plain = gap;
		joint->curvature = has_gap(at, i) ? (at->offset[i] - at->floor[i] - plain) / h : 0;
		at->b[i] = at->speed[i];
		if (joint->role ==
		    VELOCITY_ROTOR) /* its speed at the end is that of the axis there */
			at->b[i] += h * island->rows[i].bias;
	}
	if (island->joints != NULL)
		velocity_joints_targets(island, at->selected, at->b);
}

/* Sets `moving` by the multipliers. */
static void move_island(const struct gauss *self, const struct gauss_island *at)
{
	const struct velocity_step *v = &self->solve;
	const struct island *members = at->island.island;
	for (uint32_t i = 0; i < members->slot_count; i++)
		v->moving[members->slots[i]] = v->forced[members->slots[i]];
	row_system_apply(&at->island.system, at->x, v->moving);
}

static enum status solve_rows_once(const struct gauss *self, struct gauss_island *at)
{
	set_targets(self, at);
	if (at->island.joints != NULL && at->solved++ < TAUT_ROUNDS)
		velocity_taut_soften(&at->island, at->x, at->selected);
	struct velocity_problem problem = { at->selected, at->b, at->x };
	enum status status = velocity_island_solve(&at->island, &problem);
	if (status != STATUS_OK)
		return status;
	move_island(self, at);
	return STATUS_OK;
}

/* Solves the rows; if they have no good solution, those that permit rest, which have one. The
 * residual is that of the last solution. */
static enum status solve_round(const struct gauss *self, struct gauss_island *at)
{
	ASSERT(at->island.count > 0);
	at->island.outcome->residual = 0;
	permit_rest(at);
	enum status status = solve_rows_once(self, at);
	if (status != STATUS_OK || at->cautious || at->island.outcome->residual <= GOOD)
		return status;
	at->cautious = true;
	at->island.outcome->fallbacks++;
	at->island.outcome->residual = 0;
	permit_rest(at);
	return solve_rows_once(self, at);
}

/* Moves the island's bodies and measures the gaps that the motion leaves. Sets `offset` so that
 * the linear gap is the true one. *off: the worst overlap, or distance of a point that presses. */
static enum status follow_gaps(const struct gauss *self, struct gauss_island *at, double *off)
{
	const struct velocity_step *v = &self->solve;
	const struct step *step = v->step;
	const struct island *members = at->island.island;
	uint32_t count = at->island.taut_from, place = 0;
	bool wide = self->carriers.count > 0 || v->joints.gears > 0;
	uint32_t parts = (wide ? ROW_PARTS_MAX : 2) * count;
	struct arena *arena = at->island.arena;
	struct row_list rows = { .rows = ARENA_ARRAY(arena, struct constraint_row, count),
				 .blocks = ARENA_ARRAY(arena, struct row_block, count),
				 .parts = ARENA_ARRAY(arena, struct row_part, parts),
				 .row_capacity = count,
				 .block_capacity = count,
				 .part_capacity = parts };
	*off = 0;
	if (rows.rows == NULL || rows.blocks == NULL || rows.parts == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < members->slot_count; i++) {
		uint32_t slot = members->slots[i];
		v->motions[slot] =
			integrate_motion(step->dynamics, step->bodies[slot], &v->start[slot],
					 v->moving[slot], v->moving[slot], step->dt);
	}
	gauss_carriers_place(&self->carriers, v, (uint32_t)(members - v->islands.items),
			     v->motions);
	for (uint32_t i = 0; i < members->constraint_count; i++)
		velocity_constraint_gaps(v, members->constraints[i], v->motions, &rows);
	ASSERT(rows.row_count == count);
	for (place = 0; place < count; place++) {
		if (!has_gap(at, place))
			continue;
		double gap = rows.rows[place].gap - at->floor[place];
		double speed = jacobian_speed(at->island.rows[place].j, v->moving);
		at->offset[place] = rows.rows[place].gap - step->dt * speed;
		if (is_held(at, place))
			*off = scalar_max(*off, scalar_abs(gap));
		else if (may_open(at, place))
			*off = scalar_max(*off, -gap);
	}
	return STATUS_OK;
}

/* Whether the island rests on something, and nothing that it touches moves of itself. */
static bool is_passive(const struct gauss *self, const struct island *members)
{
	const struct velocity_step *v = &self->solve;
	bool rests = false;
	ASSERT(members->slot_count > 0);
	for (uint32_t i = 0; i < members->constraint_count; i++) {
		const struct constraint *of = &v->constraints[members->constraints[i]];
		const uint32_t slots[2] = { of->body_a, of->body_b };
		for (uint32_t k = 0; k < 2; k++) {
			if (!is_fixed(self, slots[k]))
				continue;
			rests = true;
			struct spatial by =
				slots[k] != ROW_NO_BODY ? v->forced[slots[k]] : spatial_zero();
			if (vec3_length_squared(by.linear) + vec3_length_squared(by.angular) > 0)
				return false;
		}
	}
	return rests;
}

/* J: the work of forces in the step, and of what joints do beside holding. With joints, of the
 * mean of both velocities, to which a bar does no work; a pendulum's kinetic energy then changes
 * by its work to the third order. */
static double work_of(const struct gauss *self, const struct gauss_island *at)
{
	const struct velocity_step *v = &self->solve;
	const struct velocity_island *island = &at->island;
	const struct island *members = island->island;
	bool jointed = island->joints != NULL;
	double work = 0;
	for (uint32_t i = 0; i < members->slot_count; i++) {
		uint32_t slot = members->slots[i];
		double speed = spatial_dot(v->force[slot], v->moving[slot]);
		if (jointed)
			speed = 0.5 * (speed + spatial_dot(v->force[slot], v->before[slot]));
		work += v->step->dt * speed;
	}
	for (uint32_t i = island->contact_rows; i < island->taut_from; i++) {
		const struct velocity_joint_row *joint = &island->joints[i - island->contact_rows];
		if (joint->role == VELOCITY_LOCK || joint->role == VELOCITY_LIMIT)
			continue;
		work += 0.5 * at->x[i] *
			(jacobian_speed(island->rows[i].j, v->moving) +
			 jacobian_speed(island->rows[i].j, v->before));
	}
	return work;
}

/* Whether a gear of the island was violated as the step began: closing it takes no energy. */
static bool gear_closes(const struct gauss *self, const struct gauss_island *at)
{
	bool closes = false;
	for (uint32_t i = at->island.contact_rows; i < at->island.taut_from; i++)
		closes |=
			is_gear(self, at, i) && scalar_abs(at->island.rows[i].gap) > self->overlap;
	return closes;
}

/* Whether a locked or limited axis of the island was violated as the step began. */
static bool joint_opens(const struct gauss *self, const struct gauss_island *at)
{
	bool opens = false;
	ASSERT(at->island.contact_rows <= at->island.taut_from);
	for (uint32_t i = at->island.contact_rows; i < at->island.taut_from; i++) {
		double gap = at->island.rows[i].gap;
		opens |= (may_open(at, i) ? -gap : scalar_abs(gap)) > self->overlap;
	}
	return opens;
}

/* Takes from the velocities, in equal parts, what kinetic energy they have beyond that of the
 * beginning and the work. Bodies move as far as the rows asked, unless joints run away: then the
 * step is shortened as well, and joints that are off are closed by displacements. */
static void limit_energy(const struct gauss *self, const struct gauss_island *at, uint32_t index)
{
	const struct velocity_step *v = &self->solve;
	const struct island *members = at->island.island;
	double before = velocity_energy(v->masses, v->before, members);
	double after = velocity_energy(v->masses, v->moving, members), work = work_of(self, at);
	double most = scalar_max(before + work, 0);
	if (!(after > most))
		return;
	/* Rows lifted bodies by more than their kinetic energy: the removal of overlaps did that. */
	at->island.outcome->push_work += scalar_max(-(before + work), 0);
	double part = scalar_sqrt(most / after);
	bool closes = self->solve.joints.gears > 0 && gear_closes(self, at);
	ASSERT(part <= 1);
	bool all = at->island.joints == NULL || part > RUNAWAY || closes;
	if (!all && joint_opens(self, at))
		self->diverged[index] = true;
	for (uint32_t i = 0; i < members->slot_count; i++) {
		struct spatial *by = &v->moving[members->slots[i]];
		if (all)
			v->push[members->slots[i]] = spatial_scale(*by, 1 - part);
		*by = spatial_scale(*by, part);
	}
}

/* Rounds until the gaps are good. Bars that turn far in a step, or have no direction, lead rounds
 * ever farther away; then `first`, the multipliers of the first round, are the solution, and
 * displacements that give no velocity close the joints (velocity_joints_project). */
static enum status improve_gaps(const struct gauss *self, struct gauss_island *at, uint32_t index,
				const double *first)
{
	double last = __builtin_inf();
	struct arena *arena = at->island.arena;
	for (uint32_t round = 1; self->rounds > 1; round++) {
		double off;
		struct arena_mark mark = arena_mark(arena);
		enum status status = follow_gaps(self, at, &off);
		self->unfinished[index] = !(off <= self->overlap);
		if (status != STATUS_OK || off <= self->overlap)
			return status;
		if (first != NULL && !(off <= DIVERGENCE * last)) {
			memcpy(at->x, first, at->island.count * sizeof *first);
			move_island(self, at);
			self->diverged[index] = true;
			return STATUS_OK;
		}
		if (round == self->rounds)
			return STATUS_OK;
		if (off > last)
			at->cautious = true;
		last = off;
		status = solve_round(self, at);
		if (status != STATUS_OK)
			return status;
		arena_rewind(arena, mark);
	}
	return STATUS_OK;
}

static enum status solve_island(const struct island *members, uint32_t index, struct arena *arena,
				void *context)
{
	const struct gauss *self = context;
	struct gauss_island at;
	if (members->constraint_count == 0) /* points that nothing holds together or touches */
		return STATUS_OK;
	enum status status = make_island(self, index, arena, &at);
	if (status == STATUS_OK)
		status = solve_round(self, &at);
	double *first = NULL;
	if (status == STATUS_OK && at.island.joints != NULL) {
		first = ARENA_ARRAY(arena, double, at.island.count);
		if (first == NULL)
			return STATUS_NO_MEMORY;
		memcpy(first, at.x, at.island.count * sizeof *first);
	}
	if (status == STATUS_OK)
		status = improve_gaps(self, &at, index, first);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < at.island.contact_rows; i++)
		self->solve.impulses[at.island.block[i]].normal = at.x[i];
	if (at.island.joints != NULL)
		velocity_joints_add_results(&at.island, at.x);
	if (self->separation != SEPARATION_ACCELERATION && is_passive(self, members))
		limit_energy(self, &at, index);
	return STATUS_OK;
}

/* ---- the step
 * ---------------------------------------------------------------------------------- */

/* Bodies that no contact moves are where they will be, for the gaps of the others. */
static void move_freely(struct gauss *self)
{
	struct velocity_step *v = &self->solve;
	for (uint32_t slot = 0; slot < v->step->body_count; slot++)
		v->motions[slot] =
			integrate_motion(v->step->dynamics, v->step->bodies[slot], &v->start[slot],
					 v->forced[slot], v->forced[slot], v->step->dt);
	gauss_carriers_place(&self->carriers, v, UINT32_MAX, v->motions);
}

static enum status solve_all(struct gauss *self)
{
	struct velocity_step *v = &self->solve;
	struct step *step = v->step;
	struct body_motion *start = ALLOCATE(struct body_motion, step->body_count);
	v->joint_results = ALLOCATE(struct joint_result, v->joints.count);
	if (start == NULL || v->joint_results == NULL)
		return STATUS_NO_MEMORY;
	memset(v->joint_results, 0, v->joints.count * sizeof *v->joint_results);
	profile_enter(step->dynamics->profile, PROFILE_PREPARE);
	enum status status = velocity_prepare_bodies(v, start);
	if (status == STATUS_OK)
		status = gauss_carriers_find(&self->carriers, v, start);
	if (status != STATUS_OK)
		return status;
	move_freely(self);
	status = make_rows(self);
	if (status == STATUS_OK)
		status = gauss_carriers_islands(&self->carriers, v);
	if (status != STATUS_OK)
		return status;
	v->outcomes = ALLOCATE(struct velocity_outcome, v->islands.count);
	self->unfinished = ALLOCATE(uint8_t, v->islands.count);
	self->diverged = ALLOCATE(bool, v->islands.count);
	if (v->outcomes == NULL || self->unfinished == NULL || self->diverged == NULL)
		return STATUS_NO_MEMORY;
	memset(v->outcomes, 0, v->islands.count * sizeof *v->outcomes);
	memset(self->unfinished, 0, v->islands.count);
	memset(self->diverged, 0, v->islands.count * sizeof *self->diverged);
	profile_enter(step->dynamics->profile, PROFILE_SOLVE);
	status = islands_solve(step, &v->islands, solve_island, self);
	if (status != STATUS_OK)
		return status;
	velocity_mark_constrained(v);
	for (uint32_t i = 0; i < self->carriers.count; i++)
		for (uint32_t k = 0; k < self->carriers.items[i].frame.count; k++)
			v->constrained[self->carriers.items[i].points[k]] = true;
	profile_enter(step->dynamics->profile, PROFILE_INTEGRATE);
	velocity_move_bodies(v, start);
	bool diverged = false;
	for (uint32_t i = 0; i < v->islands.count; i++)
		diverged |= self->diverged[i];
	status = diverged ? velocity_joints_project(v) : STATUS_OK;
	if (status != STATUS_OK)
		return status;
	gauss_carriers_place(&self->carriers, v, UINT32_MAX, v->motions);
	struct gauss_mirror mirror;
	status = gauss_mirror_find(&mirror, v);
	if (status == STATUS_OK)
		gauss_mirror_apply(&mirror, v->motions, self->overlap / step->dt + GOOD);
	return status;
}

static void store_impulses(const struct gauss *self)
{
	const struct velocity_step *v = &self->solve;
	struct contact_table *table = &v->step->dynamics->tables->contact;
	for (uint32_t i = 0; i < v->list->count; i++) {
		uint32_t row = v->list->items[i].row;
		memset(table->normal_impulse[row], 0, sizeof table->normal_impulse[row]);
		memset(table->friction_impulse[row], 0, sizeof table->friction_impulse[row]);
		memset(table->multiplier[row], 0, sizeof table->multiplier[row]);
	}
	for (uint32_t c = 0; c < v->contact_count; c++) {
		const struct contact_state *contact = &v->list->items[v->contact_of[c]];
		const struct contact_found *found = v->constraints[c].data;
		uint32_t p = point_of(contact, found->points[0].arm_a);
		double impulse = v->impulses[v->first_block[c]].normal;
		ASSERT(v->first_block[c + 1] == v->first_block[c] + 1);
		table->normal_impulse[contact->row][p] += impulse;
		table->multiplier[contact->row][3 * p] += impulse;
	}
}

static uint32_t to_count(double value)
{
	uint32_t count = 0;
	return scalar_to_u32(value, &count) ? count : 0;
}

static struct gauss gauss_of(struct step *step)
{
	const double *parameter = step->dynamics->tables->parameter.value;
	struct gauss self = {
		.solve = { .step = step,
			   .settings = velocity_settings_of(
				   step->dynamics,
				   (struct velocity_method){ .core = VELOCITY_LCP }) },
		.options = collide_options_default(step->dt),
		.separation = to_count(parameter[PARAMETER_GAUSS_SEPARATION]),
		.rounds = MAX_OF(to_count(parameter[PARAMETER_GAUSS_ROUNDS]), 1u),
		.overlap = parameter[PARAMETER_GAUSS_OVERLAP],
		.push = parameter[PARAMETER_PUSH_SPEED] * step->dt,
	};
	self.solve.settings.accelerations = true;
	self.solve.settings.printed = false;
	self.solve.settings.tolerance = TOLERANCE;
	self.solve.settings.joint_tolerance = VELOCITY_DEPTH;
	self.solve.settings.dense_rows = DENSE_ROWS;
	self.solve.settings.proximal_rounds = PROXIMAL_ROUNDS;
	self.options.anew = true;
	self.options.carry = CARRY_POINTS;
	/* Theorem 5.1 is about the first solution. */
	if (self.separation == SEPARATION_ACCELERATION)
		self.rounds = 1;
	return self;
}

static enum status step_gauss(void *state, struct dynamics *dynamics, double dt, struct reason *why)
{
	UNUSED(state);
	ASSERT(dt > 0);
	struct step step;
	enum status status = step_begin(&step, dynamics, dt, true, NULL, why);
	if (status != STATUS_OK)
		return status;
	struct gauss self = gauss_of(&step);
	step_collide(&step, &step.contacts, 0, &self.options);
	step_wake_reached(&step, &self.options);
	step_number(&step);
	step_report_contacts(&step, &step.contacts);
	status = step_joints_make(&step, dt, &self.solve.joints, why);
	if (status == STATUS_OK)
		status = solve_all(&self);
	if (status == STATUS_NO_MEMORY)
		return reason_set(why, status, -1, "memory",
				  "no memory to solve %u contacts and %u joints",
				  step.contacts.count, self.solve.joints.count);
	if (status == STATUS_OK)
		status = step_commit(&step, &step.contacts, why);
	if (status != STATUS_OK)
		return status;
	store_impulses(&self);
	step_contacts_solved(&step, &step.contacts, NULL);
	step_store_all(&step, self.solve.motions);
	velocity_joints_finish_results(&self.solve);
	step_joints_store(&step, &self.solve.joints, self.solve.joint_results);
	step_sleep(&step);
	velocity_merge_outcomes(&dynamics->report, self.solve.outcomes, self.solve.islands.count);
	for (uint32_t i = 0; i < self.solve.islands.count; i++)
		dynamics->report.fallbacks += self.unfinished[i];
	step_finish(&step);
	return STATUS_OK;
}

const struct method method_gauss = {
	.name = "gauss",
	.summary = "places nearest to those without contact, frictionless and inelastic: towers",
	.number = 8,
	.motion = 3,
	.attach = velocity_attach,
	.detach = velocity_detach,
	.step = step_gauss,
	.shapes = VELOCITY_SHAPES,
	.sleep = true,
	.planar = true,
	.three_d = true,
	.joints = true,
	.carriers = true,
	.refuses = MATERIAL_FRICTION | MATERIAL_RESTITUTION | MATERIAL_ROLLING | MATERIAL_SPINNING |
		   MATERIAL_AXIS,
};
