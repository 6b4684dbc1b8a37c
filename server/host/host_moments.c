/* host_moments.c: moments, that is states to return to within this process.
 *
 * A moment is a rollback image under a name: small, never on disk, gone with the process. The images are
 * differences against a base, a copy of the state when the first one was kept. A world departs from its base
 * as bodies are made and removed, so a new base begins when an image is half as large as the base. Each
 * base lives as long as a moment needs it.
 *
 * Going back begins a new epoch, as RESTORE of a snapshot does: all clients see it, and the journal gets the
 * state, so a replay needs no moments. Drags stay, unless a session has left the world since the moment.
 */
#include <stdio.h>
#include <string.h>

#include "server/host/host_state.h"

static struct moment *find_moment(const struct host *host, const char *name)
{
	for (uint32_t i = 0; i < host->moments.count; i++)
		if (strcmp(host->moments.items[i].name, name) == 0)
			return &host->moments.items[i];
	return NULL;
}

/* ---- bases ------------------------------------------------------------------------------------- */

/* The base of moments that are kept from now on; NULL: there is none. */
static struct moment_base *present_base(const struct host *host)
{
	uint32_t count = host->moment_bases.count;
	return count > 0 ? &host->moment_bases.items[count - 1] : NULL;
}

static enum status begin_base(struct host *host)
{
	struct moment_base begun = { 0 };
	if (ARRAY_RESERVE(&host->moment_bases, host->moment_bases.count + 1u) != STATUS_OK ||
	    rollback_base_create(host->world, &begun.base) != STATUS_OK)
		return STATUS_NO_MEMORY;
	host->moment_bytes += rollback_base_bytes(begun.base);
	host->moment_bases.items[host->moment_bases.count++] = begun;
	return STATUS_OK;
}

static void remove_base(struct host *host, uint32_t index)
{
	struct moment_base *base = &host->moment_bases.items[index];
	ASSERT(base->moments == 0);
	host->moment_bytes -= rollback_base_bytes(base->base);
	rollback_base_destroy(base->base);
	host->moment_bases.count--;
	memmove(base, base + 1, (host->moment_bases.count - index) * sizeof *base);
}

/* The bases that no moment needs, but for the last if `last` is false. */
static void remove_bases(struct host *host, bool last)
{
	for (uint32_t i = host->moment_bases.count; i-- > 0;)
		if (host->moment_bases.items[i].moments == 0 &&
		    (last || i + 1 < host->moment_bases.count))
			remove_base(host, i);
}

static void change_users(struct host *host, const struct rollback_base *base, bool more)
{
	for (uint32_t i = 0; i < host->moment_bases.count; i++) {
		struct moment_base *entry = &host->moment_bases.items[i];
		if (entry->base != base)
			continue;
		ASSERT(more || entry->moments > 0);
		entry->moments += more ? 1u : UINT32_MAX;
	}
}

/* For LOOP's counters. */
static void count_moments(struct host *host)
{
	atomic_store_explicit(&host->moments_kept, host->moments.count, memory_order_relaxed);
	atomic_store_explicit(&host->moments_bytes, host->moment_bytes, memory_order_relaxed);
}

/* ---- keeping ----------------------------------------------------------------------------------- */

static enum status save_image(struct host *host)
{
	bytes_reset(&host->moment_image);
	return world_save_rollback(host->world, present_base(host)->base, &host->moment_image);
}

/* The present state in host->moment_image, against the present base, or a new one if that is too far away and
 * there is memory. */
static enum status make_image(struct host *host)
{
	enum status status = present_base(host) != NULL ? STATUS_OK : begin_base(host);
	if (status == STATUS_OK)
		status = save_image(host);
	if (status != STATUS_OK)
		return status;
	uint64_t base_bytes = rollback_base_bytes(present_base(host)->base);
	if (host->moment_image.count > base_bytes / 2 && begin_base(host) == STATUS_OK)
		status = save_image(host);
	return status;
}

static enum status check_quota(const struct host *host, const struct moment *old,
			       struct reason *why)
{
	uint64_t bytes = host->moment_bytes + host->moment_image.count;
	uint64_t most = host->options.moment_bytes_max;
	if (old == NULL && host->moments.count == host->options.moments_max)
		return reason_set(why, STATUS_LIMIT, -1, "name",
				  "the world has %u moments, which is the limit: save under a name "
				  "in use",
				  (unsigned)host->options.moments_max);
	if (bytes - (old != NULL ? old->image.count : 0) > most)
		return reason_set(
			why, STATUS_LIMIT, -1, "name",
			"the moments of this world would take %llu bytes, the limit is %llu: "
			"save under a name in use",
			(unsigned long long)bytes, (unsigned long long)most);
	return STATUS_OK;
}

enum status host_keep_moment(struct host *host, const char *name, struct reason *why)
{
	enum status status = ARRAY_RESERVE(&host->moments, host->moments.count + 1u);
	struct moment *moment = find_moment(host, name);
	if (status == STATUS_OK)
		status = make_image(host);
	if (status == STATUS_OK)
		status = check_quota(host, moment, why);
	else
		reason_set(why, status, -1, "name", "%s", status_text(status));
	if (status != STATUS_OK) {
		remove_bases(host, true);
		return status;
	}
	if (moment == NULL) {
		moment = &host->moments.items[host->moments.count++];
		memset(moment, 0, sizeof *moment);
		snprintf(moment->name, sizeof moment->name, "%s", name);
	} else {
		change_users(host, moment->base, false);
	}
	/* The image that it had is the memory of the next one. */
	struct bytes old = moment->image;
	host->moment_bytes += host->moment_image.count - old.count;
	moment->image = host->moment_image;
	host->moment_image = old;
	moment->base = present_base(host)->base;
	change_users(host, moment->base, true);
	moment->tick = world_info(host->world).tick;
	moment->departures = host->departures;
	remove_bases(host, false);
	count_moments(host);
	return STATUS_OK;
}

void host_do_keep(struct host *host, struct requester *requester, const char *name)
{
	struct reason why;
	if (host_refuse_in_boundary(host, requester))
		return;
	if (host_keep_moment(host, name, &why) != STATUS_OK) {
		host_refuse(host, requester, &why);
		return;
	}
	struct report *report = host_reply(host, requester);
	report->reply.state_hash =
		(struct wire_hash){ true, world_state_hash(host->world, NULL, NULL) };
	host_send(host, report);
}

/* ---- going back -------------------------------------------------------------------------------- */

static enum status refuse_unknown(const char *name, struct reason *why)
{
	return reason_set(
		why, STATUS_UNKNOWN_SNAPSHOT, -1, "name",
		"the world has no moment named \"%s\": moments are kept in memory and end "
		"with the process",
		name);
}

enum status host_moment_tick(const struct host *host, const char *name, uint64_t *tick,
			     struct reason *why)
{
	const struct moment *moment = find_moment(host, name);
	if (moment == NULL)
		return refuse_unknown(name, why);
	*tick = moment->tick;
	return STATUS_OK;
}

enum status host_go_back(struct host *host, struct requester *requester, const char *name,
			 struct reason *why)
{
	const struct moment *moment = find_moment(host, name);
	enum status status =
		moment != NULL ? host_check_restore(host, why) : refuse_unknown(name, why);
	if (status == STATUS_OK)
		status = world_restore_rollback(host->world, moment->base, moment->image.data,
						moment->image.count, why);
	if (status != STATUS_OK)
		return status;
	atomic_fetch_add_explicit(&host->rollbacks, 1, memory_order_relaxed);
	bool departed = moment->departures != host->departures;
	host_restored(host, requester, "", false, departed);
	return STATUS_OK;
}

void host_do_go_back(struct host *host, struct requester *requester, const char *name)
{
	struct reason why;
	if (!host_refuse_in_boundary(host, requester) &&
	    host_go_back(host, requester, name, &why) != STATUS_OK)
		host_refuse(host, requester, &why);
}

void host_moments_release(struct host *host)
{
	for (uint32_t i = 0; i < host->moments.count; i++)
		bytes_release(&host->moments.items[i].image);
	for (uint32_t i = 0; i < host->moment_bases.count; i++)
		rollback_base_destroy(host->moment_bases.items[i].base);
	ARRAY_RELEASE(&host->moments);
	ARRAY_RELEASE(&host->moment_bases);
	bytes_release(&host->moment_image);
}
