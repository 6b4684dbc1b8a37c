/* stability_parts.c: the verdict on a problem from those on its parts (parts.h).
 *
 * The problem falls if one of its parts does, and stands if all do. Errors are the worst of all parts, in
 * units of the whole; a part of one body that nothing touches falls freely. */
#include "server/engine/statics/parts.h"
#include "server/engine/statics/stability.h"
#include "server/engine/statics/uniqueness.h"

#include "server/base/heap.h"
#include "server/engine/math/scalar.h"

/* The worse of two verdicts: one part that falls decides, then one that the numbers do not tell. */
static enum stability_verdict worse_verdict(enum stability_verdict a, enum stability_verdict b)
{
	static const uint8_t rank[STABILITY_VERDICTS] = { [STABILITY_STANDS] = 0,
							  [STABILITY_MAY_STAND] = 1,
							  [STABILITY_UNDECIDED] = 2,
							  [STABILITY_FALLS] = 3 };
	ASSERT(a < STABILITY_VERDICTS && b < STABILITY_VERDICTS);
	return rank[b] > rank[a] ? b : a;
}

/* Adds a part's answer, `share`: its scale over that of the whole. The law is that of the parts with the
 * worst verdict; where these differ, the associative one. */
static void add_answer(struct stability_answer *sum, const struct stability_answer *part,
		       double share)
{
	enum stability_verdict verdict = worse_verdict(sum->verdict, part->verdict);
	bool decides = part->verdict == verdict, decided = sum->verdict == verdict;
	if (decides && (!decided || part->law == STABILITY_ASSOCIATIVE))
		sum->law = part->law;
	sum->verdict = verdict;
	sum->residual = scalar_max(sum->residual, part->residual * share);
	sum->kkt = scalar_max(sum->kkt, part->kkt * share);
	sum->gap = scalar_max(sum->gap, part->gap);
	sum->witness = scalar_max(sum->witness, part->witness);
	sum->rounds += part->rounds;
}

/* Copies a part's forces and accelerations into the whole. */
static void take_result(struct equilibrium *whole, const struct statics_parts *parts, uint32_t part,
			const struct equilibrium *from)
{
	const uint32_t *bodies = parts->body + parts->body_first[part];
	const uint32_t *points = parts->point + parts->point_first[part];
	const uint32_t *rows = parts->row + parts->row_first[part];
	uint32_t joints = whole->first[whole->problem->point_count];
	for (uint32_t i = 0; i < from->problem->body_count; i++)
		whole->acceleration[bodies[i]] = from->acceleration[i];
	for (uint32_t i = 0; i < from->problem->point_count; i++) {
		uint32_t at = whole->first[points[i]];
		VALIDATE(whole->first[points[i] + 1] - at == from->first[i + 1] - from->first[i]);
		for (uint32_t k = from->first[i]; k < from->first[i + 1]; k++)
			whole->lambda[at++] = from->lambda[k];
	}
	for (uint32_t i = 0; i < from->problem->row_count; i++)
		whole->lambda[joints + rows[i]] =
			from->lambda[from->first[from->problem->point_count] + i];
	for (uint32_t i = 0; i < from->problem->point_count; i++)
		whole->known[points[i]] = from->known[i];
	for (uint32_t i = 0; i < from->problem->row_count; i++)
		whole->known[whole->problem->point_count + rows[i]] =
			from->known[from->problem->point_count + i];
	whole->fallbacks += from->fallbacks;
}

static enum status solve_part(struct equilibrium *whole, const struct statics_parts *parts,
			      uint32_t part, const struct spatial *loads, struct spatial *own,
			      struct stability_answer *out)
{
	struct statics_problem problem = statics_part(parts, whole->problem, part);
	struct equilibrium equilibrium;
	for (uint32_t i = 0; i < problem.body_count; i++)
		own[i] = loads[parts->body[parts->body_first[part] + i]];
	enum status status = equilibrium_init(&equilibrium, &problem);
	ASSERT(status != STATUS_LIMIT); /* the whole has more rows */
	if (status == STATUS_OK)
		status = equilibrium_ready(&equilibrium);
	if (status == STATUS_OK) {
		struct stability_answer answer = stability_of(&equilibrium, own);
		double share = whole->scale > 0 ? equilibrium.scale / whole->scale : 0;
		if (part == 0)
			*out = (struct stability_answer){ .verdict = STABILITY_STANDS,
							  .law = answer.law };
		add_answer(out, &answer, share);
		status = uniqueness_find(&equilibrium, answer.law);
		take_result(whole, parts, part, &equilibrium);
	}
	equilibrium_release(&equilibrium);
	return status;
}

enum status stability_of_parts(struct equilibrium *self, const struct spatial *loads,
			       struct stability_answer *out)
{
	struct statics_parts parts;
	struct spatial *own = heap_alloc((self->problem->body_count + 1u) * sizeof *own);
	enum status status = statics_parts_init(&parts, self->problem);
	if (own == NULL)
		status = STATUS_NO_MEMORY;
	self->fallbacks = 0;
	*out = (struct stability_answer){ .verdict = STABILITY_STANDS, .law = STABILITY_SETTLED };
	if (status == STATUS_OK && parts.count == 1) {
		status = equilibrium_ready(self);
		if (status == STATUS_OK)
			*out = stability_of(self, loads);
		if (status == STATUS_OK)
			status = uniqueness_find(self, out->law);
	} else if (status == STATUS_OK) {
		equilibrium_load(self, loads);
		for (uint32_t i = 0; i < parts.count && status == STATUS_OK; i++)
			status = solve_part(self, &parts, i, loads, own, out);
	}
	statics_parts_release(&parts);
	heap_free(own);
	return status;
}
