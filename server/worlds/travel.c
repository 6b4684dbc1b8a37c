/* travel.c: private views of the past. See travel.h. */
#include "server/worlds/travel.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/session/service.h"
#include "server/worlds/recordings.h"

/* The least time between two looks at the clock of a played view. */
#define TRAVEL_PERIOD (NS_PER_S / TRAVEL_RATE)

struct travel {
	struct session *session;	   /* borrowed */
	struct served_world *world;	   /* borrowed */
	struct subscription *subscription; /* borrowed */
	struct fanout *fanout;		   /* owned */
	bool begun;			   /* a state was shown */
	struct past *recording; /* owned; of a recording, in place of the world's past, or NULL */
	struct past_job *job;	/* under way, or NULL */
	/* The SEEK that is not answered yet. */
	bool seeking;
	uint64_t ref;
	uint64_t serial, asked; /* of the last SEEK, and of the one that `job` is for */
	struct recorded_place wanted;
	double wanted_speed;
	/* What is shown. */
	struct report *shown; /* owned; its list of bodies is whole */
	uint32_t id_max;      /* highest id shown since the last SNAPSHOT */
	struct recorded_place first, last;
	double speed;
	/* The clock of a played view: at instant `clock_at` it was at tick `clock_tick`. */
	uint64_t clock_at;
	double clock_tick;
	ARRAY_OF(struct report *) ahead; /* owned; from `next` on they are still to be shown */
	uint32_t next;
	uint64_t state_bytes; /* of the last state */
};

/* ---- the list ------------------------------------------------------------------------------------ */

static uint32_t travels_count(const struct service *service)
{
	return service->worlds->travels.count;
}

static void drop_ahead(struct travel *self)
{
	for (uint32_t i = self->next; i < self->ahead.count; i++)
		report_destroy(self->ahead.items[i]);
	self->ahead.count = self->next = 0;
}

static void destroy_travel(struct travel *self)
{
	struct worlds *worlds = self->world->service->worlds;
	for (uint32_t i = 0; i < worlds->travels.count; i++)
		if (worlds->travels.items[i] == self)
			worlds->travels.items[i] = worlds->travels.items[--worlds->travels.count];
	if (self->job != NULL)
		past_cancel(self->job);
	past_release(self->recording);
	drop_ahead(self);
	ARRAY_RELEASE(&self->ahead);
	if (self->shown != NULL)
		report_destroy(self->shown);
	if (self->fanout != NULL)
		fanout_destroy(self->fanout);
	heap_free(self);
}

static struct session_subscription *entry_of(const struct travel *self)
{
	return session_subscription(self->session, self->subscription->sub);
}

struct fanout *travel_fanout(const struct session_subscription *entry)
{
	return entry->travel != NULL ? entry->travel->fanout : entry->world->fanout;
}

void travel_end(struct session_subscription *entry)
{
	struct travel *self = entry->travel;
	if (self == NULL)
		return;
	entry->travel = NULL;
	/* Without memory the client could not be told, so its connection ends. */
	if (fanout_move(self->fanout, entry->world->fanout, self->subscription,
			io_now(self->world->service->io)) != STATUS_OK) {
		fanout_unsubscribe(self->fanout, self->subscription);
		self->session->outbox.failed = true;
	}
	worlds_watch(entry->world);
	destroy_travel(self);
}

static enum status create_travel(struct session *session, struct session_subscription *entry,
				 struct reason *why)
{
	struct service *service = session->service;
	struct worlds *worlds = service->worlds;
	if (worlds->travels.count >= service->options->past_views)
		return reason_set(why, STATUS_BUSY, -1, "sub",
				  "%u subscriptions show the past, the limit of the server "
				  "(--past-views): try again later",
				  (unsigned)worlds->travels.count);
	struct travel *self = heap_alloc_zero(sizeof *self);
	if (self == NULL ||
	    ARRAY_RESERVE(&worlds->travels, worlds->travels.count + 1u) != STATUS_OK ||
	    fanout_create(service->frames, &self->fanout) != STATUS_OK) {
		heap_free(self);
		return reason_set(why, STATUS_NO_MEMORY, -1, "sub", "%s",
				  status_text(STATUS_NO_MEMORY));
	}
	uint64_t now = io_now(service->io);
	if (fanout_move(entry->world->fanout, self->fanout, entry->subscription, now) !=
	    STATUS_OK) {
		fanout_destroy(self->fanout);
		heap_free(self);
		return reason_set(why, STATUS_NO_MEMORY, -1, "sub", "%s",
				  status_text(STATUS_NO_MEMORY));
	}
	worlds_watch(entry->world);
	self->session = session;
	self->world = entry->world;
	self->subscription = entry->subscription;
	worlds->travels.items[worlds->travels.count++] = self;
	entry->travel = self;
	return STATUS_OK;
}

/* ---- showing a state ----------------------------------------------------------------------------- */

static bool same_shapes(const struct tick_report *a, const struct report_body *in_a,
			const struct tick_report *b, const struct report_body *in_b)
{
	if (in_a->shape_count != in_b->shape_count)
		return false;
	for (uint32_t i = 0; i < in_a->shape_count; i++) {
		const struct report_shape *x = &a->shapes[in_a->first_shape + i];
		const struct report_shape *y = &b->shapes[in_b->first_shape + i];
		if (memcmp(x, y, sizeof *x) != 0)
			return false;
	}
	return true;
}

/* Turns a whole state into the difference to the one shown. False: there is none, because a body that was
 * removed comes back, or for want of memory; then the report is whole. */
static bool make_difference(struct travel *self, struct tick_report *next)
{
	const struct tick_report *before = &self->shown->ticked;
	uint32_t i = 0, k = 0;
	if (before->epoch != next->epoch || before->contacts != next->contacts ||
	    before->joints != next->joints ||
	    array_reserve(&next->removed, &next->removed_room, before->body_count,
			  sizeof *next->removed) != STATUS_OK)
		return false;
	next->removed_count = 0;
	while (i < before->body_count || k < next->body_count) {
		uint32_t old = i < before->body_count ? before->bodies[i].view.id : UINT32_MAX;
		uint32_t new = k < next->body_count ? next->bodies[k].view.id : UINT32_MAX;
		if (old < new) {
			next->removed[next->removed_count++] = old;
			i++;
			continue;
		}
		struct report_body *body = &next->bodies[k];
		if (new < old) {
			if (new <= self->id_max)
				return false;
			self->id_max = new;
		} else {
			body->why = REPORT_MOVED | (body->why & REPORT_CONTACTS);
			if (!same_shapes(before, &before->bodies[i], next, body))
				body->why |= REPORT_CHANGED;
			i++;
		}
		k++;
	}
	return true;
}

static void make_whole(struct travel *self, struct tick_report *next)
{
	next->whole = true;
	next->removed_count = 0;
	self->id_max = 0;
	for (uint32_t i = 0; i < next->body_count; i++) {
		next->bodies[i].why = REPORT_CREATED | (next->bodies[i].why & REPORT_CONTACTS);
		self->id_max = next->bodies[i].view.id;
	}
}

/* Shows a state, which is taken. */
static void show_state(struct travel *self, struct report *report)
{
	struct tick_report *ticked = &report->ticked;
	struct service *service = self->world->service;
	uint64_t now = io_now(service->io);
	ticked->mode = self->speed != 0 ? WIRE_MODE_RUNNING : WIRE_MODE_PAUSED;
	ticked->step = self->speed != 0;
	ticked->whole = false;
	if (self->shown == NULL || !make_difference(self, ticked))
		make_whole(self, ticked);
	uint64_t before = fanout_work(self->fanout);
	enum status status = fanout_report(self->fanout, ticked, now);
	if (status != STATUS_OK && !ticked->whole) {
		make_whole(self, ticked);
		status = fanout_report(self->fanout, ticked, now);
	}
	self->begun = true;
	service_turn_spend(service, TURN_REPORTS,
			   ticked->body_count + fanout_work(self->fanout) - before);
	self->state_bytes = sizeof *report + ticked->body_count * sizeof *ticked->bodies +
			    ticked->shape_count * sizeof *ticked->shapes +
			    ticked->contacts_packed.count +
			    ticked->joint_count * sizeof *ticked->joint_list;
	if (self->shown != NULL)
		report_destroy(self->shown);
	self->shown = report;
}

static void send_sought(struct travel *self, uint64_t ref, const struct tick_report *state)
{
	struct message message;
	message_init(&message, MESSAGE_SOUGHT);
	message.sought.ref = ref;
	message.sought.sub = self->subscription->sub;
	message.sought.epoch = state->epoch;
	message.sought.tick = state->tick;
	message.sought.speed = self->speed;
	message.sought.first = self->first.tick;
	message.sought.last = self->last.tick;
	session_send(self->session, &message);
}

/* ---- asking for states --------------------------------------------------------------------------- */

static double ticks_per_second(const struct travel *self)
{
	const struct world_info *info = &self->world->info;
	return (double)info->rate_num / info->rate_den;
}

/* Ticks from one state to the next; at least 1. */
static int64_t stride_of(const struct travel *self, double speed)
{
	double ticks = (speed < 0 ? -speed : speed) * ticks_per_second(self) / TRAVEL_RATE;
	int64_t stride = ticks < 1 ? 1 : (int64_t)(ticks + 0.5);
	return speed < 0 ? -stride : stride;
}

/* States in one ask: as many as the travel's share of the memory holds. */
static uint32_t count_of(const struct travel *self)
{
	uint64_t share = TRAVEL_BYTES / MAX_OF(travels_count(self->world->service), 1u);
	uint64_t count = share / 2 / MAX_OF(self->state_bytes, UINT64_C(1024));
	return (uint32_t)MIN_OF(MAX_OF(count, UINT64_C(1)), (uint64_t)TRAVEL_STATES_MAX);
}

static past_answered take_answer;

bool travel_is_present(const struct served_world *world, struct recorded_place place)
{
	return (place.epoch == 0 || place.epoch == world->epoch) && place.tick <= world->tick;
}

static enum status ask_states(struct travel *self, struct recorded_place place, bool nearby)
{
	double speed = self->seeking ? self->wanted_speed : self->speed;
	struct past_ask ask = {
		.kind = PAST_STATES,
		.place = place,
		.nearby = nearby,
		.stride = speed != 0 ? stride_of(self, speed) : 0,
		/* The first state of a SEEK is to come soon. */
		.count = speed == 0 || (self->seeking && speed > 0) ? 1 : count_of(self),
		.choice = { .contacts = (self->subscription->fields & WIRE_COLUMN_CONTACTS) != 0,
			    .joints = self->subscription->joints != 0,
			    .particles = self->subscription->particles != 0 },
		.soon = self->recording == NULL && travel_is_present(self->world, place),
	};
	if (!self->seeking && self->shown != NULL && speed > 0)
		ask.since = self->shown->ticked.tick;
	self->asked = self->serial;
	return past_ask(self->recording != NULL ? self->recording : self->world->past, &ask,
			take_answer, self, &self->job);
}

static void refuse_seek(struct travel *self, const struct reason *why)
{
	struct message about;
	message_init(&about, MESSAGE_SEEK);
	about.seek.ref = self->ref;
	self->seeking = false;
	session_refuse(self->session, &about, why);
}

/* Stops where it is; a view that has shown nothing yet ends. */
static void stop_travel(struct travel *self)
{
	self->speed = 0;
	drop_ahead(self);
	if (!self->begun)
		travel_end(entry_of(self));
}

/* Asks for the SEEK that waits. */
static void ask_wanted(struct travel *self)
{
	struct reason why;
	enum status status = ask_states(self, self->wanted, self->recording != NULL);
	if (status == STATUS_OK)
		return;
	reason_set(&why, status, -1, "tick", "%s", status_text(status));
	refuse_seek(self, &why);
	stop_travel(self);
}

/* Asks for further states, once half of those ahead are shown. */
static void ask_ahead(struct travel *self)
{
	uint32_t left = self->ahead.count - self->next;
	if (self->job != NULL || self->speed == 0 || left > self->ahead.count / 2)
		return;
	const struct tick_report *last =
		left > 0 ? &self->ahead.items[self->ahead.count - 1]->ticked : &self->shown->ticked;
	int64_t stride = stride_of(self, self->speed);
	struct recorded_place place = { last->epoch, last->tick };
	uint64_t step = (uint64_t)(stride < 0 ? -stride : stride);
	bool at_end = stride < 0 ? place.tick <= self->first.tick : place.tick >= self->last.tick;
	if (at_end)
		return;
	place.tick = stride > 0 ? place.tick + step : place.tick - MIN_OF(step, place.tick);
	if (ask_states(self, place, true) != STATUS_OK)
		self->job = NULL; /* the timer tries again */
}

/* ---- the clock ----------------------------------------------------------------------------------- */

static void arm_timer(struct service *service, uint64_t now)
{
	if (service->travel_armed)
		return;
	service->travel_armed = true;
	io_timer_start(service->travel, now + TRAVEL_PERIOD);
}

static void set_clock(struct travel *self, uint64_t now)
{
	self->clock_at = now;
	self->clock_tick = (double)self->shown->ticked.tick;
}

/* Takes the states of an answer behind those ahead. */
static void take_states(struct travel *self, struct past_answer *answer, uint32_t from)
{
	uint32_t left = self->ahead.count - self->next;
	if (self->next > 0 && left > 0)
		memmove(self->ahead.items, self->ahead.items + self->next,
			left * sizeof *self->ahead.items);
	self->ahead.count = left;
	self->next = 0;
	if (ARRAY_RESERVE(&self->ahead, (uint64_t)left + answer->states.count) != STATUS_OK)
		return;
	for (uint32_t i = from; i < answer->states.count; i++) {
		self->ahead.items[self->ahead.count++] = answer->states.items[i];
		answer->states.items[i] = NULL;
	}
}

static void take_sought(struct travel *self, struct past_answer *answer)
{
	uint64_t now = io_now(self->world->service->io);
	self->seeking = false;
	self->speed = self->wanted_speed;
	drop_ahead(self);
	struct report *first = answer->states.items[0];
	answer->states.items[0] = NULL;
	send_sought(self, self->ref, &first->ticked);
	show_state(self, first);
	set_clock(self, now);
	take_states(self, answer, 1);
	if (self->speed == 0)
		return;
	ask_ahead(self);
	arm_timer(self->world->service, now);
}

static void take_answer(void *context, struct past_answer *answer)
{
	struct travel *self = context;
	self->job = NULL;
	/* A later SEEK takes the place of the one that was under way. */
	if (self->seeking && self->asked != self->serial) {
		ask_wanted(self);
		return;
	}
	if (answer->status != STATUS_OK) {
		if (self->seeking)
			refuse_seek(self, &answer->why);
		else
			log_warn("past_stopped", "world=%s text=%s", self->world->name,
				 LOG_TEXT(answer->why.text));
		stop_travel(self);
		return;
	}
	self->first = answer->first;
	self->last = answer->last;
	if (self->seeking)
		take_sought(self, answer);
	else
		take_states(self, answer, 0);
}

/* Shows the latest state whose time has come. */
static void advance(struct travel *self, uint64_t now)
{
	double passed = (double)(now - self->clock_at) / NS_PER_S;
	double tick = self->clock_tick + passed * self->speed * ticks_per_second(self);
	bool forward = self->speed > 0;
	struct report *due = NULL;
	while (self->next < self->ahead.count) {
		struct report *report = self->ahead.items[self->next];
		double at = (double)report->ticked.tick;
		if (forward ? at > tick : at < tick)
			break;
		if (due != NULL)
			report_destroy(due);
		due = report;
		self->next++;
	}
	if (due != NULL)
		show_state(self, due);
	/* A clock that has run out of states waits for the next one. */
	if (self->next == self->ahead.count)
		set_clock(self, now);
	ask_ahead(self);
	bool idle = self->next == self->ahead.count && self->job == NULL;
	uint64_t at = self->shown->ticked.tick;
	if (!idle || (forward ? at < self->last.tick : at > self->first.tick))
		return;
	self->speed = 0;
	send_sought(self, 0, &self->shown->ticked);
}

void travels_play(void *context)
{
	struct service *service = context;
	uint64_t now = io_now(service->io);
	bool playing = false;
	service->travel_armed = false;
	for (uint32_t i = 0; i < service->worlds->travels.count; i++) {
		struct travel *self = service->worlds->travels.items[i];
		if (self->speed == 0 || self->shown == NULL || self->seeking)
			continue;
		advance(self, now);
		playing = playing || self->speed != 0;
	}
	if (playing)
		arm_timer(service, now);
}

void travels_check(struct service *service, uint64_t now)
{
	for (uint32_t i = 0; i < service->worlds->travels.count; i++) {
		struct travel *self = service->worlds->travels.items[i];
		fanout_check(self->fanout, now);
		while (fanout_is_serving(self->fanout) && fanout_continue(self->fanout, now))
			;
	}
}

void travel_show(struct session_subscription *entry, uint64_t now)
{
	const struct travel *self = entry->travel;
	if (self != NULL && self->speed == 0)
		fanout_show(self->fanout, self->subscription, now);
}

/* The view is of the recording (NULL: of the world's past) from now on. What was asked of another source is
 * not wanted any more, and states of two sources have no differences. */
static void set_source(struct travel *self, struct past *recording)
{
	const char *old = self->recording != NULL ? past_path(self->recording) : "";
	const char *new = recording != NULL ? past_path(recording) : "";
	bool same = strcmp(old, new) == 0;
	if (same) {
		past_release(recording);
		return;
	}
	if (self->job != NULL)
		past_cancel(self->job);
	self->job = NULL;
	past_release(self->recording);
	self->recording = recording;
	drop_ahead(self);
	if (self->shown != NULL)
		report_destroy(self->shown);
	self->shown = NULL;
	self->speed = 0;
}

enum status travel_seek(struct session *session, struct session_subscription *entry,
			const struct msg_seek *seek, struct reason *why)
{
	if (entry->world->past == NULL)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "sub",
				  "the world has no file, so it has no past: start cairnd with "
				  "--data DIR");
	struct past *recording = NULL;
	enum status status = STATUS_OK;
	if (seek->recording.bytes > 0)
		status = recordings_past(entry->world, seek->recording, &recording, why);
	if (status == STATUS_OK && entry->travel == NULL)
		status = create_travel(session, entry, why);
	if (status != STATUS_OK) {
		past_release(recording);
		return status;
	}
	struct travel *self = entry->travel;
	set_source(self, recording);
	/* An earlier SEEK without an answer ends with this one. */
	if (self->seeking) {
		struct reason replaced;
		reason_set(&replaced, STATUS_CLOSED, -1, "ref",
			   "a later SEEK has replaced this one");
		refuse_seek(self, &replaced);
	}
	self->seeking = true;
	self->serial++;
	self->ref = seek->ref;
	self->wanted = (struct recorded_place){ (uint32_t)seek->epoch, seek->tick.value };
	self->wanted_speed = seek->speed;
	if (self->job == NULL)
		ask_wanted(self);
	return STATUS_OK;
}
