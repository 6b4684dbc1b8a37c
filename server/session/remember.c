/* See remember.h. A session is packed, little-endian, as
 *
 *	u8 version (1), u8[32] SHA-256 of its resume token, u8 there is a token before, u8[32] of that one,
 *	u8 there is one of a resume in progress, u8[32] of that one,
 *	u32 caps, minor, largest frames up and down, u8 role, u8[64] client's name, u8 it has a grant,
 *	the grant: u8 role, u8[65] name, u8 once, u64 expiry, u32 key, u8[16] nonce, u8[32] hash of its line,
 *	           u8 worlds, u8[65] of each,
 *	u8 worlds joined, u32 number of each
 */
#include "server/session/remember.h"

#include <string.h>

#include "protocol/capabilities.h"
#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/session/resume.h"
#include "server/session/service.h"
#include "server/store/session_file.h"

enum { PACKED_VERSION = 1 };
/* Between two signs of life. */
#define ALIVE_EVERY (60 * NS_PER_S)

/* ---- packing ----------------------------------------------------------------------------------- */

static void write_grant(struct writer *out, const struct grant *grant)
{
	write_u8(out, (uint8_t)grant->role);
	write_raw(out, grant->name, sizeof grant->name);
	write_u8(out, grant->once);
	write_u64(out, grant->use.expires_s);
	write_u32(out, grant->use.key);
	write_raw(out, grant->use.nonce, sizeof grant->use.nonce);
	write_raw(out, grant->hash, sizeof grant->hash);
	write_u8(out, (uint8_t)grant->world_count);
	for (uint32_t i = 0; i < grant->world_count; i++)
		write_raw(out, grant->worlds[i], sizeof grant->worlds[i]);
}

static void write_session(struct writer *out, const struct session *self)
{
	const struct handshake *handshake = &self->handshake;
	uint8_t joined = 0;
	for (uint32_t i = 0; i < self->memberships.count; i++)
		joined += self->memberships.items[i].world != NULL;
	write_u8(out, PACKED_VERSION);
	write_raw(out, self->token_hash, sizeof self->token_hash);
	write_u8(out, self->has_token_before);
	write_raw(out, self->token_before_hash, sizeof self->token_before_hash);
	write_u8(out, self->has_token_next);
	write_raw(out, self->token_next_hash, sizeof self->token_next_hash);
	write_u32(out, handshake->caps);
	write_u32(out, handshake->minor);
	write_u32(out, handshake->limits.frame_up);
	write_u32(out, handshake->limits.frame_down);
	write_u8(out, (uint8_t)handshake->role);
	write_raw(out, self->client, sizeof self->client);
	write_u8(out, self->grant != NULL);
	if (self->grant != NULL)
		write_grant(out, self->grant);
	write_u8(out, joined);
	for (uint32_t i = 0; i < self->memberships.count; i++)
		if (self->memberships.items[i].world != NULL)
			write_u32(out, self->memberships.items[i].number);
}

static bool may_be_remembered(const struct session *self)
{
	return self->service->store != NULL && resume_is_possible(self);
}

void remember_session(struct session *self)
{
	uint8_t packed[SESSION_FILE_BYTES];
	struct writer out = writer_over(packed, sizeof packed);
	if (!may_be_remembered(self))
		return;
	write_session(&out, self);
	ASSERT(writer_status(&out) == STATUS_OK);
	session_file_put(self->service->store, self->number, packed, (uint32_t)out.count);
	self->remembered = true;
}

void remember_no_more(struct session *self)
{
	if (self->remembered)
		session_file_remove(self->service->store, self->number);
	self->remembered = false;
}

/* ---- unpacking --------------------------------------------------------------------------------- */

static void read_name(struct reader *in, char *name, size_t bytes)
{
	read_raw(in, name, bytes);
	name[bytes - 1] = '\0';
}

/* A role that does not exist is none. */
static enum wire_role read_role(struct reader *in)
{
	uint8_t role = read_u8(in);
	return role < WIRE_ROLES ? (enum wire_role)role : WIRE_ROLE_NOBODY;
}

static uint32_t read_count(struct reader *in, uint32_t most)
{
	uint32_t count = read_u8(in);
	in->failed |= count > most;
	return MIN_OF(count, most);
}

static enum status read_grant(struct reader *in, struct session *self)
{
	struct grant *grant = self->grant = heap_alloc_zero(sizeof *grant);
	if (grant == NULL)
		return STATUS_NO_MEMORY;
	grant->role = read_role(in);
	read_name(in, grant->name, sizeof grant->name);
	grant->once = read_u8(in) != 0;
	grant->use.expires_s = read_u64(in);
	grant->use.key = read_u32(in);
	read_raw(in, grant->use.nonce, sizeof grant->use.nonce);
	read_raw(in, grant->hash, sizeof grant->hash);
	grant->world_count = read_count(in, TOKEN_WORLDS_MAX);
	for (uint32_t i = 0; i < grant->world_count; i++)
		read_name(in, grant->worlds[i], sizeof grant->worlds[i]);
	return STATUS_OK;
}

static enum status read_memberships(struct reader *in, struct session *self)
{
	uint32_t joined = read_count(in, SESSION_WORLDS_MAX);
	enum status status = ARRAY_RESERVE(&self->memberships, joined);
	for (uint32_t i = 0; status == STATUS_OK && i < joined; i++)
		self->memberships.items[self->memberships.count++] =
			(struct membership){ .number = read_u32(in) };
	return status;
}

static enum status read_session(struct reader *in, struct session *self)
{
	struct handshake *handshake = &self->handshake;
	uint8_t version = read_u8(in);
	read_raw(in, self->token_hash, sizeof self->token_hash);
	self->has_token_before = read_u8(in) != 0;
	read_raw(in, self->token_before_hash, sizeof self->token_before_hash);
	self->has_token_next = read_u8(in) != 0;
	read_raw(in, self->token_next_hash, sizeof self->token_next_hash);
	handshake->caps = read_u32(in);
	handshake->minor = read_u32(in);
	handshake->limits.frame_up = read_u32(in);
	handshake->limits.frame_down = read_u32(in);
	handshake->role = read_role(in);
	read_name(in, self->client, sizeof self->client);
	enum status status = read_u8(in) != 0 ? read_grant(in, self) : STATUS_OK;
	if (status == STATUS_OK)
		status = read_memberships(in, self);
	if (status == STATUS_OK && (in->failed || version != PACKED_VERSION))
		status = STATUS_CORRUPT;
	return status;
}

static void release_session(struct session *self)
{
	heap_free(self->grant);
	ARRAY_RELEASE(&self->memberships);
	heap_free(self);
}

/* A LOST session from its packed form. It has no connection, so no address counts it. */
static enum status restore_session(void *context, uint32_t number, const uint8_t *packed,
				   uint32_t bytes)
{
	struct service *service = context;
	struct session *self = heap_alloc_zero(sizeof *self);
	struct reader in = reader_over(packed, bytes);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	enum status status = read_session(&in, self);
	if (status == STATUS_OK)
		status = registry_restore(&service->sessions, self, number);
	if (status != STATUS_OK) {
		release_session(self);
		if (status != STATUS_NO_MEMORY)
			log_warn("session_unreadable", "session=%u", (unsigned)number);
		return status == STATUS_NO_MEMORY ? status : STATUS_OK;
	}
	uint64_t now = io_now(service->io);
	self->service = service;
	self->number = self->handshake.session = number;
	self->state = SESSION_LOST;
	self->handshake.state = HANDSHAKE_OPEN;
	self->peer.kind = ADDRESS_UNIX;
	self->has_token = self->heard_anew = self->remembered = true;
	self->opened_at = self->heard_at = now;
	self->lost_at = 0; /* its time begins when the daemon serves clients (resume_expire) */
	self->frame_since = INSTANT_NEVER;
	service->sessions.lost++;
	session_prepare(self);
	for (uint32_t i = 0; i < self->memberships.count; i++)
		ledger_accept_gaps(&self->memberships.items[i].ledger);
	return STATUS_OK;
}

/* Tokens are on disk: the HELLOs that waited for them are looked at again. Backwards, because a session may
 * end. */
static void continue_resumes(void *context)
{
	struct service *service = context;
	for (uint32_t i = service->sessions.items.count; i-- > 0;) {
		if (i >= service->sessions.items.count)
			continue;
		struct session *session = service->sessions.items.items[i];
		if (!session->resume_waits)
			continue;
		session->resume_waits = false;
		session_resume_reading(session);
	}
}

enum status remember_open(struct service *service, struct reason *why)
{
	struct session_file_events events = { restore_session, continue_resumes, service };
	service->alive_at = io_now(service->io) + ALIVE_EVERY;
	return session_file_open(service->store, io_wall_s(service->io), &events, why);
}

struct membership *remember_membership(struct service *service, uint32_t session, uint32_t number)
{
	struct session *found = registry_find(&service->sessions, session);
	return found != NULL ? session_membership_or_past(found, number) : NULL;
}

void remember_check(struct service *service, uint64_t now)
{
	if (service->store == NULL || now < service->alive_at)
		return;
	service->alive_at = now + ALIVE_EVERY;
	session_file_alive(service->store, io_wall_s(service->io));
}
