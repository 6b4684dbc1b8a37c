/* handlers_shape.c: SHAPE_UPLOAD: geometry arrives in parts, is checked and cooked on the helper
 * thread, and added to the world; only then is the client answered.
 *
 *	parts ──► complete? ──► HELPER: SHA-256 is the name? cook ──► LOOP ──► host_shape ──► SHAPE_INFO
 *
 * A shape that this process has cooked before is not cooked again. Its name alone is not enough:
 * every client uploads the bytes, and they are checked against the name. Otherwise a client that
 * knows only the name of another world's shape could add it to its own world and query its
 * geometry. The library drops shapes that no world holds, the oldest first, when it is large,
 * because visitors with shapes of their own come and go for months. A shape on its way to a world
 * is retained by the host's request, then by the world's shape library, so its SHAPE_INFO finds it
 * here.
 */
#include <string.h>

#include "protocol/unpack.h"
#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/requests/requests.h"
#include "server/session/service.h"
#include "server/worlds/worlds.h"

/* Memory of the library, bytes: above it a new shape is refused (LIMIT). */
#define LIBRARY_BYTES_MAX ((uint64_t)4 << 30)
/* Memory that unused shapes may take before they are dropped, bytes. */
#define LIBRARY_IDLE_BYTES ((uint64_t)64 << 20)

/* The bytes of a known shape are checked on LOOP up to this size: some ten microseconds. */
enum { AT_ONCE_BYTES = 4096 };

/* A shape that is being checked and cooked on the helper thread. */
struct cook_job {
	struct service *service;
	uint32_t session, world;
	uint64_t ref;
	struct wire_name name;
	struct bytes data;
	struct shape *shape; /* retained; the library's, or NULL until it is cooked */
	enum status status;
	struct reason why;
	struct wakeup done; /* of LOOP: a wakeup cannot be refused, so no answer is lost */
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

/* Adds a cooked shape to its world, or refuses the upload. */
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

/* Drops unused shapes when the library has doubled since the last time and holds at least
 * LIBRARY_IDLE_BYTES. Half of the idle bytes stay, so that the cost of the walk is spread over many
 * new shapes. */
static void library_trim(struct service *service)
{
	struct shape_library *library = &service->library;
	if (library->bytes < MAX_OF(service->library_trim_at, LIBRARY_IDLE_BYTES))
		return;
	shape_library_trim(library, LIBRARY_IDLE_BYTES / 2);
	service->library_trim_at = 2 * library->bytes;
}

/* Adds a shape to the library. EXISTS, LIMIT, NO_MEMORY. */
static enum status library_add(struct service *service, const struct shape *shape)
{
	struct shape_library *library = &service->library;
	library_trim(service);
	if (library->bytes + shape->memory_bytes > LIBRARY_BYTES_MAX)
		return shape_library_find(library, shape->name) != NULL ? STATUS_EXISTS
									: STATUS_LIMIT;
	return shape_library_add(library, shape);
}

/* LOOP: the helper has finished. The session, or its world, may be gone. */
static void on_cooked(void *context)
{
	struct cook_job *job = context;
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

/* CORRUPT unless the name is the SHA-256 of the bytes. */
static enum status check_name(const struct wire_name *name, const uint8_t *data, size_t bytes,
			      struct reason *why)
{
	uint8_t digest[SHA256_BYTES];
	hash_sha256(data, bytes, digest);
	if (memcmp(digest, name->bytes, sizeof digest) == 0)
		return STATUS_OK;
	return reason_set(why, STATUS_CORRUPT, -1, "shape",
			  "the shape's name must be the SHA-256 of its bytes");
}

/* HELPER: checks the name and cooks the shape, the costly part. */
static void run_cook_job(void *context)
{
	struct cook_job *job = context;
	job->status = check_name(&job->name, job->data.data, job->data.count, &job->why);
	if (job->status == STATUS_OK && job->shape == NULL)
		job->status = shape_library_cook(
			(struct wire_slice){ job->data.data, (uint32_t)job->data.count },
			job->name.bytes, &job->shape, &job->why);
	executor_wake(job->service->executor, EXECUTOR_LOOP, &job->done);
}

static enum status start_cooking(struct session *self, struct upload *upload)
{
	struct cook_job *job = heap_alloc_zero(sizeof *job);
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
	wakeup_init(&job->done, on_cooked, job);
	enum status status =
		executor_post(self->service->executor, EXECUTOR_HELPER, run_cook_job, job);
	if (status != STATUS_OK) {
		if (job->shape != NULL)
			shape_release(job->shape);
		heap_free(job);
		return status == STATUS_FULL ? STATUS_BUSY : status;
	}
	bytes_init(&upload->data);
	return STATUS_OK;
}

/* The upload that a part belongs to, a new one for part 0. NULL: refused with `why`. */
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
		reason_set(why, STATUS_SEQUENCE, -1, "part",
			   "part %u of %u with the same name is expected next",
			   (unsigned)upload->next, (unsigned)upload->of);
		return NULL;
	}
	if (part->part != 0 || part->of == 0) {
		reason_set(why, STATUS_SEQUENCE, -1, "part",
			   "part %u of %u cannot begin an upload: begin with part 0 of 1 or more",
			   (unsigned)part->part, (unsigned)part->of);
		return NULL;
	}
	if (self->uploads.count == SESSION_UPLOADS_MAX) {
		reason_set(why, STATUS_BUSY, -1, "ref",
			   "the session has %d uploads at once, the limit; finish one first",
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
