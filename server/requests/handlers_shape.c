/* handlers_shape.c: geometry comes in parts, is checked and cooked on the helper thread, and made known
 * to the world; only then is the client told.
 *
 *	parts ──► whole? ──► HELPER: SHA-256 is the name? cook ──► LOOP ──► host_shape ──► SHAPE_INFO
 *
 * A shape this process has cooked before is not cooked again. Its name alone is no licence: whoever
 * uploads it brings its bytes, and they are held against the name, or somebody who has only heard of a
 * shape of another world could have it named here and ask for its geometry. The library forgets what no
 * world holds any more, the oldest first, once it is large: visitors with shapes of their own come and go
 * for months. A shape on its way to a world is held by the letter, then by the world's own book, so that its
 * SHAPE_INFO finds it here.
 */
#include <string.h>

#include "protocol/unpack.h"
#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/requests/requests.h"
#include "server/session/service.h"
#include "server/worlds/worlds.h"

#define LIBRARY_BYTES_MAX ((uint64_t)4 << 30)
/* What it may hold of shapes that nobody uses. */
#define LIBRARY_IDLE_BYTES ((uint64_t)64 << 20)

/* Of a known shape so many bytes are looked at on LOOP: some ten microseconds. */
enum { AT_ONCE_BYTES = 4096 };

/* A shape on its way through the helper. */
struct cooking {
	struct service *service;
	uint32_t session, world;
	uint64_t ref;
	struct wire_name name;
	struct bytes data;
	struct shape *shape; /* as the library knew it, or NULL; then as cooked */
	enum status status;
	struct reason why;
	struct wakeup done; /* rung for LOOP: it cannot be refused, so no answer is lost */
};

static struct upload *find_upload(struct session *self, uint64_t ref)
{
	for (uint32_t i = 0; i < self->uploads.count; i++)
		if (self->uploads.items[i].ref == ref)
			return &self->uploads.items[i];
	return NULL;
}

static void drop_upload(struct session *self, struct upload *upload)
{
	bytes_release(&upload->data);
	*upload = self->uploads.items[--self->uploads.count];
}

static uint64_t upload_bytes(const struct session *self)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < self->uploads.count; i++)
		bytes += self->uploads.items[i].data.count;
	return bytes;
}

/* Hands a cooked shape to its world, or says why not. */
static void offer_shape(struct session *self, uint32_t world, uint64_t ref,
			const struct shape *shape, const struct message *about)
{
	struct membership *membership = session_membership(self, world);
	enum status status =
		membership == NULL ? STATUS_NOT_JOINED
				   : host_shape(membership->world->host, self->number, ref, shape);
	if (status != STATUS_OK)
		session_refuse_status(self, about, status == STATUS_FULL ? STATUS_BUSY : status);
}

/* Looks through the library when it has doubled, or grown beyond what it may hold of idle shapes: half of
 * that is left, so that the walk costs each new shape a share only. */
static void library_trim(struct service *service)
{
	struct shape_library *library = &service->library;
	if (library->bytes < MAX_OF(service->library_trim_at, LIBRARY_IDLE_BYTES))
		return;
	shape_library_trim(library, LIBRARY_IDLE_BYTES / 2);
	service->library_trim_at = 2 * library->bytes;
}

/* The library knows what was cooked here; what it may hold is bounded. */
static enum status library_add(struct service *service, const struct shape *shape)
{
	struct shape_library *library = &service->library;
	library_trim(service);
	if (library->bytes + shape->memory_bytes > LIBRARY_BYTES_MAX)
		return shape_library_find(library, shape->name) != NULL ? STATUS_EXISTS
									: STATUS_LIMIT;
	return shape_library_add(library, shape);
}

/* LOOP: what the helper made of it. The session, or its world, may be gone. */
static void cooked(void *context)
{
	struct cooking *job = context;
	struct session *session = registry_find(&job->service->sessions, job->session);
	if (job->status == STATUS_OK) {
		enum status status = library_add(job->service, job->shape);
		if (status != STATUS_OK && status != STATUS_EXISTS)
			job->status = reason_set(&job->why, status, -1, "shape", "%s",
						 status_text(status));
	}
	if (session != NULL && session->state == SESSION_OPEN) {
		struct message about;
		message_init(&about, MESSAGE_SHAPE_UPLOAD);
		about.shape_upload.ref = job->ref;
		struct upload *upload = find_upload(session, job->ref);
		if (upload != NULL)
			drop_upload(session, upload);
		if (job->status != STATUS_OK)
			session_refuse(session, &about, &job->why);
		else
			offer_shape(session, job->world, job->ref, job->shape, &about);
	}
	if (job->shape != NULL)
		shape_release(job->shape);
	bytes_release(&job->data);
	heap_free(job);
}

/* Whether that is the name of those bytes. */
static enum status check_name(const struct wire_name *name, const uint8_t *data, size_t bytes,
			      struct reason *why)
{
	uint8_t digest[SHA256_BYTES];
	hash_sha256(data, bytes, digest);
	if (memcmp(digest, name->bytes, sizeof digest) == 0)
		return STATUS_OK;
	return reason_set(why, STATUS_CORRUPT, -1, "shape",
			  "the name is not the SHA-256 of the bytes");
}

/* HELPER: the costly part. */
static void cook(void *context)
{
	struct cooking *job = context;
	job->status = check_name(&job->name, job->data.data, job->data.count, &job->why);
	if (job->status == STATUS_OK && job->shape == NULL)
		job->status = shape_library_cook(
			(struct wire_slice){ job->data.data, (uint32_t)job->data.count },
			job->name.bytes, &job->shape, &job->why);
	executor_wake(job->service->executor, EXECUTOR_LOOP, &job->done);
}

static enum status start_cooking(struct session *self, struct upload *upload)
{
	struct cooking *job = heap_alloc_zero(sizeof *job);
	if (job == NULL)
		return STATUS_NO_MEMORY;
	job->service = self->service;
	job->session = self->number;
	job->world = upload->world;
	job->ref = upload->ref;
	job->name = upload->name;
	job->data = upload->data;
	job->shape = (struct shape *)shape_library_find(&self->service->library, job->name.bytes);
	if (job->shape != NULL)
		shape_retain(job->shape);
	wakeup_init(&job->done, cooked, job);
	enum status status = executor_post(self->service->executor, EXECUTOR_HELPER, cook, job);
	if (status != STATUS_OK) {
		if (job->shape != NULL)
			shape_release(job->shape);
		heap_free(job);
		return status == STATUS_FULL ? STATUS_BUSY : status;
	}
	bytes_init(&upload->data);
	return STATUS_OK;
}

/* The upload a part belongs to: a new one for part 0. NULL: refused, `why` says why. */
static struct upload *upload_for(struct session *self, const struct msg_shape_upload *part,
				 struct reason *why)
{
	struct upload *upload = find_upload(self, part->ref);
	if (upload != NULL) {
		bool fits = part->part == upload->next && part->of == upload->of &&
			    memcmp(part->shape.bytes, upload->name.bytes,
				   sizeof part->shape.bytes) == 0;
		if (fits)
			return upload;
		reason_set(why, STATUS_SEQUENCE, -1, "part", "part %u of %u is awaited",
			   (unsigned)upload->next, (unsigned)upload->of);
		return NULL;
	}
	if (part->part != 0 || part->of == 0) {
		reason_set(why, STATUS_SEQUENCE, -1, "part", "an upload begins with part 0");
		return NULL;
	}
	if (self->uploads.count == SESSION_UPLOADS_MAX) {
		reason_set(why, STATUS_BUSY, -1, "ref", "at most %d uploads at once",
			   SESSION_UPLOADS_MAX);
		return NULL;
	}
	if (ARRAY_RESERVE(&self->uploads, self->uploads.count + 1u) != STATUS_OK) {
		reason_set(why, STATUS_NO_MEMORY, -1, "ref", "%s", status_text(STATUS_NO_MEMORY));
		return NULL;
	}
	upload = &self->uploads.items[self->uploads.count++];
	*upload = (struct upload){
		.ref = part->ref,
		.world = (uint32_t)part->world,
		.name = part->shape,
		.of = (uint32_t)part->of,
	};
	return upload;
}

void handle_shape_upload(struct session *self, const struct message *message)
{
	const struct msg_shape_upload *part = &message->shape_upload;
	struct reason why;
	if (session_membership(self, (uint32_t)part->world) == NULL) {
		session_refuse_status(self, message, STATUS_NOT_JOINED);
		return;
	}
	const struct shape *known = shape_library_find(&self->service->library, part->shape.bytes);
	if (known != NULL && part->part == 0 && part->of == 1 &&
	    part->data.bytes <= AT_ONCE_BYTES) {
		if (check_name(&part->shape, part->data.at, part->data.bytes, &why) == STATUS_OK)
			offer_shape(self, (uint32_t)part->world, part->ref, known, message);
		else
			session_refuse(self, message, &why);
		return;
	}
	struct upload *upload = upload_for(self, part, &why);
	if (upload == NULL) {
		session_refuse(self, message, &why);
		return;
	}
	enum status status = upload_bytes(self) + part->data.bytes > SESSION_UPLOAD_BYTES_MAX
				     ? STATUS_LIMIT
				     : bytes_append(&upload->data, part->data.at, part->data.bytes);
	if (status == STATUS_OK && ++upload->next == upload->of)
		status = start_cooking(self, upload);
	if (status != STATUS_OK) {
		drop_upload(self, upload);
		session_refuse_status(self, message, status);
	}
}
