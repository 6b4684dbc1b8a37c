/* See gen_reports.h. */
#include "tests/lib/gen_reports.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/body_hash.h"
#include "server/base/heap.h"

void gen_reports_init(struct gen_reports *gen, uint64_t seed)
{
	memset(gen, 0, sizeof *gen);
	gen->rng = rng_seeded(seed);
	gen->epoch = 1;
	gen->next_id = 1;
	gen->changes = 30;
	gen->births = 3;
	gen->deaths = 3;
}

static void *memory(size_t bytes)
{
	void *block = heap_alloc_zero(bytes);
	if (block == NULL)
		abort();
	return block;
}

uint64_t gen_reports_hash(const struct gen_reports *gen)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < gen->count; i++)
		sum += wire_tick_hash(&gen->bodies[i]);
	return body_hash_finish(gen->tick, sum, gen->count);
}

static struct report *begin_report(const struct gen_reports *gen)
{
	struct report *report = memory(sizeof *report);
	report->kind = REPORT_TICK;
	report->ticked.bodies = memory(2 * GEN_BODIES_MAX * sizeof *report->ticked.bodies);
	report->ticked.removed = memory(GEN_BODIES_MAX * sizeof *report->ticked.removed);
	UNUSED(gen);
	return report;
}

static struct report *end_report(const struct gen_reports *gen, struct report *report)
{
	report->ticked.tick = gen->tick;
	report->ticked.contacts = gen->contacts;
	report->ticked.contacts_all = gen->contacts && report->ticked.whole;
	report->ticked.epoch = gen->epoch;
	report->ticked.tick_hash = gen_reports_hash(gen);
	return report;
}

enum { CHOICES = 6 };

/* Contacts to choose from: none, one to three points, and two that differ by less than a step of
 * `view`. */
static struct wire_slice some_contacts(struct gen_reports *gen)
{
	static uint8_t values[CHOICES][1 + 3 * WIRE_TOUCH_BYTES];
	static struct wire_slice slices[CHOICES];
	for (uint32_t k = 1; k < CHOICES && slices[k].bytes == 0; k++) {
		uint32_t count = MIN_OF(k, 3u);
		struct wire_touches_writer writer;
		wire_touches_begin(&writer, WIRE_PROFILE_EXACT, values[k], count);
		for (uint32_t i = 0; i < count; i++) {
			struct wire_touch touch = { .other = 1 + i, .point = { k, i, 0 } };
			touch.normal[i] = 1;
			touch.point[0] = k > 3 ? 3 + (double)k * 1e-5 : k;
			wire_touches_put(&writer, &touch);
		}
		slices[k] = (struct wire_slice){ values[k], (uint32_t)(writer.at - values[k]) };
	}
	return slices[rng_below(&gen->rng, CHOICES)];
}

static void touch_something(struct gen_reports *gen, struct wire_body *body)
{
	struct wire_slice contacts = some_contacts(gen);
	body->contacts = contacts.at;
	body->contact_bytes = contacts.bytes;
}

static void report_contacts(struct report *report, const struct wire_body *body)
{
	struct bytes *packed = &report->ticked.contacts_packed;
	struct report_body *to = &report->ticked.bodies[report->ticked.body_count - 1];
	to->why |= REPORT_CONTACTS;
	to->first_contact = packed->count;
	to->contact_bytes = body->contact_bytes;
	if (body->contact_bytes > 0 &&
	    bytes_append(packed, body->contacts, body->contact_bytes) != STATUS_OK)
		abort();
}

static void report_body(const struct gen_reports *gen, struct report *report,
			const struct wire_body *body, uint8_t why)
{
	struct report_body *to = &report->ticked.bodies[report->ticked.body_count++];
	to->why = why;
	to->view.id = body->id;
	to->view.status = body->status;
	to->view.asleep = body->flags & WIRE_BODY_ASLEEP;
	to->view.quarantined = body->flags & WIRE_BODY_QUARANTINED;
	to->view.fast = body->flags & WIRE_BODY_FAST;
	to->view.sensor = body->flags & WIRE_BODY_SENSOR;
	to->view.owner = body->owner;
	to->view.tag = body->tag;
	memcpy(&to->view.position, body->position, sizeof body->position);
	memcpy(&to->view.rotation, body->rotation, sizeof body->rotation);
	memcpy(&to->view.velocity, body->velocity, sizeof body->velocity);
	memcpy(&to->view.angular_velocity, body->spin, sizeof body->spin);
	if (gen->contacts)
		report_contacts(report, body);
}

static double number(struct gen_reports *gen)
{
	return (double)rng_below(&gen->rng, 1000) * 0.125 - 60;
}

/* Changes a part of a body; returns the reason for its report. */
static uint8_t change_body(struct gen_reports *gen, struct wire_body *body)
{
	switch (rng_below(&gen->rng, 6)) {
	case 0:
		body->position[0] = number(gen);
		return REPORT_MOVED;
	case 1:
		body->velocity[1] = number(gen);
		body->spin[2] = number(gen);
		return REPORT_MOVED;
	case 2:
		body->flags ^= WIRE_BODY_ASLEEP;
		return REPORT_CHANGED;
	case 3:
		body->tag = rng_below(&gen->rng, 9);
		return REPORT_CHANGED;
	case 4:
		body->rotation[1] = number(gen);
		body->owner = rng_below(&gen->rng, 3);
		return REPORT_MOVED | REPORT_CHANGED;
	default:
		return REPORT_MOVED; /* reported although the bits are equal */
	}
}

static void remove_some(struct gen_reports *gen, struct report *report)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < gen->count; i++) {
		bool goes = rng_below(&gen->rng, 100) < gen->deaths;
		if (goes)
			report->ticked.removed[report->ticked.removed_count++] = gen->bodies[i].id;
		else
			gen->bodies[kept++] = gen->bodies[i];
	}
	gen->count = kept;
}

static void make_some(struct gen_reports *gen, struct report *report)
{
	uint32_t births = rng_below(&gen->rng, gen->births * (gen->count + 100) / 100 + 1);
	for (uint32_t i = 0; i < births && gen->count < GEN_BODIES_MAX; i++) {
		struct wire_body *body = &gen->bodies[gen->count++];
		memset(body, 0, sizeof *body);
		gen->next_id += 1 + rng_below(&gen->rng, 3);
		body->id = gen->next_id;
		body->status = (uint8_t)rng_below(&gen->rng, 4);
		body->rotation[0] = 1;
		body->position[1] = number(gen);
		if (gen->contacts)
			touch_something(gen, body);
		report_body(gen, report, body, REPORT_CREATED);
	}
}

struct report *gen_reports_next(struct gen_reports *gen)
{
	struct report *report = begin_report(gen);
	gen->tick++;
	remove_some(gen, report);
	for (uint32_t i = 0; i < gen->count; i++) {
		if (rng_below(&gen->rng, 100) >= gen->changes)
			continue;
		uint8_t why = change_body(gen, &gen->bodies[i]);
		if (gen->contacts && rng_below(&gen->rng, 2) == 0)
			touch_something(gen, &gen->bodies[i]);
		report_body(gen, report, &gen->bodies[i], why);
	}
	make_some(gen, report);
	report->ticked.step = true;
	return end_report(gen, report);
}

struct report *gen_reports_whole(struct gen_reports *gen, bool new_epoch)
{
	struct report *report = begin_report(gen);
	if (new_epoch) {
		gen->epoch++;
		gen->tick -= MIN_OF(gen->tick, (uint64_t)20);
	}
	for (uint32_t i = 0; i < gen->count; i++)
		report_body(gen, report, &gen->bodies[i], REPORT_CREATED);
	report->ticked.whole = true;
	return end_report(gen, report);
}

struct report *gen_reports_control(struct gen_reports *gen)
{
	return end_report(gen, begin_report(gen));
}
