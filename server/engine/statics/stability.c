/* stability.c: see stability.h. */
#include "server/engine/statics/stability.h"

#include "server/base/heap.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/math/scalar.h"

/* 1: errors of the solution must be smaller than the residual by this, or nothing is decided. */
#define CERTAIN 1e-2
/* Cuts and bisections of a margin. */
enum { CUTS_MAX = 60, BISECTIONS_MAX = 60 };

/* ---- the verdict ----------------------------------------------------------------------------- */

static bool is_exact(const struct statics_outcome *out)
{
	double allowed =
		out->residual > STABILITY_FALLING ? CERTAIN * out->residual : STABILITY_FALLING;
	return out->kkt <= allowed;
}

/* The answer of forces that build up. */
static struct stability_answer answer_of_settled(struct equilibrium *self,
						 const struct statics_settling *settling)
{
	struct statics_outcome settled = equilibrium_settled(self, settling);
	ASSERT(settled.found);
	return (struct stability_answer){ .verdict = STABILITY_STANDS,
					  .law = STABILITY_SETTLED,
					  .residual = settled.residual,
					  .kkt = settled.kkt,
					  .gap = settled.gap,
					  .witness = settled.witness,
					  .rounds = settled.rounds };
}

/* Of bodies for which there is a force system, that of `fall`: whether forces build up. */
static struct stability_answer answer_of_balance(struct equilibrium *self,
						 struct statics_settling *settling,
						 struct stability_answer answer)
{
	if (!settling->ended) {
		equilibrium_exchange(self);
		equilibrium_settle_on(self, settling);
		if (settling->out.found)
			return answer_of_settled(self, settling);
		equilibrium_exchange(self);
	}
	/* Without friction every force system builds up, so one to rounding is enough. */
	bool balanced = answer.residual <= STABILITY_BALANCED;
	answer.verdict = self->frictional ? STABILITY_MAY_STAND
			 : balanced	  ? STABILITY_STANDS
					  : STABILITY_UNDECIDED;
	return answer;
}

struct stability_answer stability_of(struct equilibrium *self, const struct spatial *loads)
{
	/* Settling first: its springs make the problem regular, and most questions end here. */
	struct statics_settling settling = equilibrium_settle_begin(self, loads);
	if (settling.out.found)
		return answer_of_settled(self, &settling);
	struct statics_outcome fall = equilibrium_fall_on(self, loads);
	struct stability_answer answer = {
		.verdict = STABILITY_FALLS,
		.law = self->frictional ? STABILITY_ASSOCIATIVE : STABILITY_COULOMB,
		.residual = fall.residual,
		.kkt = fall.kkt,
		.gap = fall.gap,
	};
	if (!is_exact(&fall)) {
		answer.verdict = STABILITY_UNDECIDED;
	} else if (fall.residual <= STABILITY_FALLING) {
		answer = answer_of_balance(self, &settling, answer);
	} else {
		struct statics_outcome slip = equilibrium_slip(self, fall);
		fall.rounds = slip.rounds;
		if (slip.coulomb)
			answer.law = STABILITY_COULOMB;
	}
	answer.rounds = settling.out.rounds + fall.rounds;
	return answer;
}

/* ---- margins --------------------------------------------------------------------------------- */

struct margin_work {
	struct equilibrium *self;
	const struct spatial *loads, *more;
	struct spatial *sum; /* loads + s more */
	uint32_t solves;
};

static double dot_all(const struct margin_work *work, const struct spatial *x,
		      const struct spatial *y)
{
	double sum = 0;
	for (uint32_t i = 0; i < work->self->problem->body_count; i++)
		sum += spatial_dot(x[i], y[i]);
	return sum;
}

static void set_sum(struct margin_work *work, double base, double s)
{
	for (uint32_t i = 0; i < work->self->problem->body_count; i++)
		work->sum[i] =
			spatial_mul_add(spatial_scale(work->loads[i], base), work->more[i], s);
}

/* Whether there is a force system for base loads + s more; else its accelerations prove that there
 * is none. */
static bool balances(struct margin_work *work, double base, double s)
{
	set_sum(work, base, s);
	work->solves++;
	return equilibrium_fall(work->self, work->sum, false).residual <= STABILITY_FALLING;
}

static bool builds_up(struct margin_work *work, double s)
{
	set_sum(work, 1, s);
	work->solves++;
	return equilibrium_settle(work->self, work->sum).found;
}

/* Lowers `upper` by the certificate of the last s that fell; false if it cuts nothing off. */
static bool cut_margin(const struct margin_work *work, double *upper)
{
	const struct spatial *a = work->self->acceleration;
	double loads = dot_all(work, work->loads, a), more = dot_all(work, work->more, a);
	if (!(more > 0))
		return false;
	double bound = scalar_max(-loads / more, 0);
	bool lower = bound < *upper;
	*upper = scalar_min(*upper, bound);
	return lower;
}

/* The largest s that builds up, of 0 … upper, if 0 does. */
static double bisect_standing(struct margin_work *work, double upper)
{
	double low = 0, high = upper;
	ASSERT(upper >= 0);
	double near = upper * (1 - 0.5 * STABILITY_WIDTH);
	if (upper == 0 || !builds_up(work, 0))
		return 0;
	if (builds_up(work, near))
		return near;
	for (uint32_t i = 0; i < BISECTIONS_MAX && high - low > STABILITY_WIDTH * high; i++) {
		double middle = 0.5 * (low + high);
		if (builds_up(work, middle))
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The same if every s balances: infinite if s more builds up where the loads are a millionth of
 * it. */
static double standing_without_end(struct margin_work *work)
{
	const double dominant = 1e6;
	double loads = dot_all(work, work->loads, work->loads);
	double more = dot_all(work, work->more, work->more);
	double most = dominant * scalar_sqrt(loads / more);
	double found = bisect_standing(work, most);
	return found >= most * (1 - STABILITY_WIDTH) ? __builtin_inf() : found;
}

static void find_bounds(struct margin_work *work, struct stability_bounds *out)
{
	double infinite = __builtin_inf();
	*out = (struct stability_bounds){ 0, infinite, 0, 0 };
	if (!balances(work, 1, 0)) {
		out->upper = 0;
		return;
	}
	/* The direction alone: if it balances, no s is too large. */
	if (balances(work, 0, 1)) {
		out->lower = infinite;
		out->stands = work->self->frictional ? standing_without_end(work) : infinite;
		return;
	}
	bool falls = true;
	for (uint32_t i = 0; i < CUTS_MAX && falls && cut_margin(work, &out->upper); i++)
		falls = !balances(work, 1, out->upper);
	double low = 0, high = out->upper;
	if (!falls)
		low = high;
	double near = high * (1 - 0.5 * STABILITY_WIDTH);
	if (falls && balances(work, 1, near))
		low = near;
	for (uint32_t i = 0; i < BISECTIONS_MAX && high - low > STABILITY_WIDTH * high; i++) {
		double middle = 0.5 * (low + high);
		if (balances(work, 1, middle))
			low = middle;
		else
			high = middle;
	}
	out->lower = low;
	out->upper = scalar_max(low, scalar_min(out->upper, high));
	out->stands = work->self->frictional ? bisect_standing(work, low) : low;
}

enum status stability_bounds_of(struct equilibrium *self, const struct spatial *loads,
				const struct spatial *more, struct stability_bounds *out)
{
	uint32_t bodies = self->problem->body_count;
	ASSERT(loads != more);
	struct margin_work work = { .self = self, .loads = loads, .more = more };
	work.sum = heap_alloc((bodies + 1u) * sizeof *work.sum);
	if (work.sum == NULL)
		return STATUS_NO_MEMORY;
	find_bounds(&work, out);
	out->solves = work.solves;
	heap_free(work.sum);
	return STATUS_OK;
}

/* ---- a world --------------------------------------------------------------------------------- */

/* The unit direction of a margin. RANGE. */
static enum status direction_of(const struct stability_options *options, vec3 gravity, vec3 *out,
				struct reason *why)
{
	double size = vec3_length(gravity), length;
	vec3 along = options->direction;
	ASSERT(options->margin != STABILITY_NO_MARGIN);
	if (options->margin != STABILITY_PUSH && !(size > 0))
		return reason_set(why, STATUS_RANGE, -1, "margin",
				  "the world has no gravity: of its margins only push exists");
	if (options->margin == STABILITY_LOAD)
		along = gravity;
	if (options->margin == STABILITY_TILT)
		along = vec3_mul_add(along, gravity, -vec3_dot(along, gravity) / (size * size));
	*out = vec3_normalize_length(along, &length);
	if (!(length > 1e-9 * vec3_length(options->direction)) || !(length > 0))
		return reason_set(
			why, STATUS_RANGE, -1, "direction",
			"direction is [%.4g, %.4g, %.4g]: it must not be 0, and for tilt not "
			"along gravity",
			options->direction.x, options->direction.y, options->direction.z);
	return STATUS_OK;
}

static enum status find_margin(struct stability *self, const struct dynamics *dynamics,
			       const struct stability_options *options, struct reason *why)
{
	struct support_graph *support = &self->support;
	uint32_t count = support->problem.body_count;
	struct stability_bounds bounds;
	vec3 gravity = force_gravity(dynamics->tables), along;
	enum status status = direction_of(options, gravity, &along, why);
	if (status != STATUS_OK)
		return status;
	struct spatial *more = heap_alloc_zero((count + 1u) * sizeof *more);
	if (more == NULL)
		return STATUS_NO_MEMORY;
	if (options->margin == STABILITY_TILT) {
		double size = vec3_length(gravity);
		for (uint32_t i = 0; i < count; i++) {
			double weight = vec3_dot(support->weights[i].linear, gravity) / size;
			more[i].linear = vec3_scale(along, weight);
		}
	} else {
		struct spatial push = { along, vec3_zero() };
		equilibrium_push(&self->equilibrium, support->slots[options->body], push, more);
	}
	status = stability_bounds_of(&self->equilibrium, support->loads, more, &bounds);
	heap_free(more);
	if (status != STATUS_OK)
		return status;
	self->margin_lower = bounds.lower;
	self->margin_upper = bounds.upper;
	self->margin_stands = bounds.stands;
	self->margin_solves = bounds.solves;
	return STATUS_OK;
}

enum status stability_find(struct stability *self, const struct dynamics *dynamics,
			   const struct stability_options *options, struct reason *why)
{
	*self = (struct stability){ 0 };
	ASSERT(options->margin < STABILITY_MARGINS);
	enum status status = support_make(&self->support, dynamics, &options->support, why);
	if (status == STATUS_OK)
		status = equilibrium_init(&self->equilibrium, &self->support.problem);
	if (status == STATUS_OK && options->margin != STABILITY_NO_MARGIN)
		status = equilibrium_ready(&self->equilibrium);
	if (status == STATUS_LIMIT && self->equilibrium.problem != NULL)
		reason_set(why, status, -1, "rows",
			   "the pyramids of friction have more than %u edges: ask with fewer sides",
			   (unsigned)STATICS_ROWS_MAX);
	bool of_body = options->margin == STABILITY_LOAD || options->margin == STABILITY_PUSH;
	if (status == STATUS_OK && of_body && self->support.slots[options->body] == ROW_NO_BODY)
		status = reason_set(why, STATUS_RANGE, -1, "body",
				    "body %u does not move: a load or push needs a dynamic body",
				    dynamics->tables->body.id[options->body]);
	bool too_many = options->margin != STABILITY_NO_MARGIN &&
			self->equilibrium.rows > STABILITY_MARGIN_ROWS_MAX;
	if (status == STATUS_OK && too_many)
		status = reason_set(why, STATUS_LIMIT, -1, "margin",
				    "the problem has %u rows, a margin is found of at most %u: ask "
				    "with fewer sides, or for the verdict alone",
				    self->equilibrium.rows, (unsigned)STABILITY_MARGIN_ROWS_MAX);
	if (status == STATUS_OK && options->margin != STABILITY_NO_MARGIN)
		status = find_margin(self, dynamics, options, why);
	struct stability_answer answer = { 0 };
	if (status == STATUS_OK)
		status = stability_of_parts(&self->equilibrium, self->support.loads, &answer);
	if (status == STATUS_NO_MEMORY)
		reason_set(why, status, -1, "memory", "out of memory");
	if (status != STATUS_OK)
		return status;
	self->verdict = answer.verdict;
	self->law = answer.law;
	self->residual = answer.residual;
	self->kkt = answer.kkt;
	self->gap = answer.gap;
	self->witness = answer.witness;
	self->rounds = answer.rounds;
	return STATUS_OK;
}

void stability_release(struct stability *self)
{
	equilibrium_release(&self->equilibrium);
	support_release(&self->support);
}
