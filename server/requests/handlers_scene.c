/* handlers_scene.c: SCENE_LIST and SCENE_OPEN: scenes of the folder that the operator names
 * (--scene-folder), and scene files that a controller sends.
 *
 *	request ──► HELPER: read, compile, cook, make the world ──► LOOP ──► worlds_open ──► WORLD_INFO
 *
 * Without a folder both are refused, so no scene text from the network is parsed unless the operator
 * has allowed it. A scene reaches files of the folder and of those below it, and the meshes that
 * every scene finds; never a path that leaves it: no part of a name begins with '.', and scene files check
 * the names in them (protocol/scene/include.c, mesh.c, robot/).
 */
#include <stdio.h>
#include <string.h>

#include "protocol/packer.h"
#include "protocol/scene/folder.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/requests/requests.h"
#include "server/session/service.h"
#include "server/worlds/scene_world.h"
#include "server/worlds/world_reports.h"
#include "server/worlds/worlds.h"

enum {
	SCENE_JOBS_MAX = 4, /* that wait for HELPER, of all sessions: each may hold a large file */
	SCENE_PAGE = 200,   /* scenes of one answer of SCENE_LIST */
	SCENE_PATH_BYTES = 4096,
	/* Of heightfields by formulas: some seconds of HELPER, which others wait for. */
	SCENE_FORMULA_SAMPLES = 1 << 20,
};

struct scene_job {
	struct service *service;
	struct wakeup done; /* of LOOP: a wakeup cannot be refused, so no answer is lost */
	uint32_t session;
	uint64_t ref;
	enum message_type about;
	enum status status;
	struct reason why;
	char scene[WIRE_NAME_MAX + 1]; /* file of the folder; SCENE_LIST: those after it */
	/* SCENE_LIST */
	struct scene_file *files; /* owned */
	uint32_t file_count;
	/* SCENE_OPEN */
	char world[WIRE_NAME_MAX + 1];
	struct bytes text; /* the scene; empty: it is in the folder */
	enum scene_base base;
	bool balance, running;
	double joint_link_share;
	char *lets[WIRE_SCENE_LETS]; /* owned */
	uint32_t let_count;
	struct made_scene made;
};

static void free_job(struct scene_job *job)
{
	scene_world_release(&job->made);
	bytes_release(&job->text);
	for (uint32_t i = 0; i < job->let_count; i++)
		heap_free(job->lets[i]);
	heap_free(job->files);
	heap_free(job);
}

/* ---- on HELPER ------------------------------------------------------------------------------------ */

static void run_list(void *context)
{
	struct scene_job *job = context;
	job->files = heap_alloc(SCENE_PAGE * sizeof *job->files);
	if (job->files == NULL)
		job->status = reason_set(&job->why, STATUS_NO_MEMORY, -1, "ref", "%s",
					 status_text(STATUS_NO_MEMORY));
	else if (scene_folder_list(job->service->options->scene_folder, job->scene, job->files,
				   SCENE_PAGE, &job->file_count) != STATUS_OK)
		job->status = reason_set(&job->why, STATUS_IO, -1, "",
					 "the folder of scenes cannot be read");
	executor_wake(job->service->executor, EXECUTOR_LOOP, &job->done);
}

/* Where the folder is, is the operator's business: texts name its files as the list does. */
static enum status load_scene(struct scene_job *job, struct scene **scene)
{
	const char *folder = job->service->options->scene_folder;
	const struct scene_options given = { .base = job->base,
					     .balance = job->balance,
					     .joint_link_share = job->joint_link_share,
					     .lets = (const char *const *)job->lets,
					     .let_count = job->let_count,
					     .hidden = folder,
					     .formula_samples_max = SCENE_FORMULA_SAMPLES };
	char path[SCENE_PATH_BYTES];
	if (job->text.count > 0)
		return scene_parse_with((const char *)job->text.data, job->text.count,
					job->scene[0] != '\0' ? job->scene : "scene", folder,
					&given, scene, &job->why);
	if (snprintf(path, sizeof path, "%s/%s", folder, job->scene) >= (int)sizeof path)
		return reason_set(&job->why, STATUS_RANGE, -1, "scene", "the name is too long");
	return scene_load_with(path, &given, scene, &job->why);
}

static void run_open(void *context)
{
	struct scene_job *job = context;
	struct scene *scene;
	job->status = load_scene(job, &scene);
	if (job->status == STATUS_OK)
		job->status = scene_world_take(scene, &job->made, &job->why);
	executor_wake(job->service->executor, EXECUTOR_LOOP, &job->done);
}

/* ---- on LOOP --------------------------------------------------------------------------------------- */

static void answer_list(struct session *session, const struct scene_job *job,
			const struct message *about)
{
	uint32_t room = 16 + job->file_count * (uint32_t)(sizeof(struct scene_file) + 16);
	uint8_t *packed = heap_alloc(room);
	if (packed == NULL) {
		session_refuse_status(session, about, STATUS_NO_MEMORY);
		return;
	}
	struct wire_packer out = wire_packer_over(packed, room);
	wire_pack_array(&out, job->file_count);
	for (uint32_t i = 0; i < job->file_count; i++) {
		wire_pack_array(&out, 3);
		wire_pack_string(&out, job->files[i].name);
		wire_pack_uint(&out, job->files[i].bytes);
		wire_pack_string(&out, job->files[i].title);
	}
	requests_reply(session, about, &out);
	heap_free(packed);
}

/* Whole lines of the notes, WIRE_NOTES_MAX bytes at most; taken. */
static char *cut_notes(struct made_scene *made)
{
	char *notes = made->notes;
	made->notes = NULL;
	if (notes == NULL || strlen(notes) <= WIRE_NOTES_MAX)
		return notes;
	size_t bytes = WIRE_NOTES_MAX;
	while (bytes > 0 && notes[bytes - 1] != '\n')
		bytes--;
	notes[bytes] = '\0';
	return notes;
}

/* Puts the made world into service. Also if the session is lost at this moment: its client learns of
 * the world when it resumes. */
static void open_world(struct session *session, struct scene_job *job, const struct message *about)
{
	struct service *service = job->service;
	struct world_start start = { .running = job->running,
				     .own_durability = job->made.own_durability,
				     .durability = job->made.durability };
	struct served_world *served;
	struct reason why;
	struct world *world = job->made.world;
	job->made.world = NULL;
	enum status status =
		worlds_open(service, job->world, world, &job->made.shapes, &start, &served, &why);
	if (status != STATUS_OK) {
		session_refuse(session, about, &why);
		return;
	}
	scene_world_log_notes(&job->made, job->world);
	served->notes = cut_notes(&job->made);
	LOG_FROM(session_log(session), LOG_INFO, "scene_opened",
		 "world=%u name=%s scene=%s session=%u", (unsigned)served->number, job->world,
		 LOG_TEXT(job->scene), (unsigned)session->number);
	world_reports_created(served, session, about, NULL);
}

static void on_done(void *context)
{
	struct scene_job *job = context;
	struct session *session = registry_find(&job->service->sessions, job->session);
	struct message about;
	message_init(&about, job->about);
	if (job->about == MESSAGE_SCENE_LIST)
		about.scene_list.ref = job->ref;
	else
		about.scene_open.ref = job->ref;
	job->service->scene_jobs--;
	if (session == NULL || session->state == SESSION_LEAVING)
		; /* nobody asks any more */
	else if (job->status != STATUS_OK)
		session_refuse(session, &about, &job->why);
	else if (job->about == MESSAGE_SCENE_LIST)
		answer_list(session, job, &about);
	else
		open_world(session, job, &about);
	free_job(job);
}

/* ---- requests -------------------------------------------------------------------------------------- */

/* NULL: the message has been refused. */
static struct scene_job *make_job(struct session *self, const struct message *message)
{
	struct service *service = self->service;
	struct reason why;
	if (service->options->scene_folder == NULL) {
		reason_set(&why, STATUS_UNSUPPORTED, -1, "",
			   "the server has no folder of scenes; start it with --scene-folder DIR");
		session_refuse(self, message, &why);
		return NULL;
	}
	if (service->scene_jobs >= SCENE_JOBS_MAX) {
		reason_set(&why, STATUS_BUSY, -1, "",
			   "%d requests for scenes are under way, the limit; try again later",
			   SCENE_JOBS_MAX);
		session_refuse(self, message, &why);
		return NULL;
	}
	struct scene_job *job = heap_alloc_zero(sizeof *job);
	if (job == NULL) {
		session_refuse_status(self, message, STATUS_NO_MEMORY);
		return NULL;
	}
	job->service = service;
	job->session = self->number;
	job->ref = message_ref(message);
	job->about = message->type;
	bytes_init(&job->text);
	wakeup_init(&job->done, on_done, job);
	return job;
}

/* Takes the job. */
static void post_job(struct session *self, const struct message *message, struct scene_job *job,
		     executor_work *work)
{
	enum status status = executor_post(self->service->executor, EXECUTOR_HELPER, work, job);
	if (status == STATUS_OK) {
		self->service->scene_jobs++;
		return;
	}
	free_job(job);
	session_refuse_status(self, message, status == STATUS_FULL ? STATUS_BUSY : status);
}

void handle_scene_list(struct session *self, const struct message *message)
{
	struct scene_job *job = make_job(self, message);
	if (job == NULL)
		return;
	(void)requests_copy_name(message->scene_list.after, job->scene);
	post_job(self, message, job, run_list);
}

static enum status take_lets(const struct wire_list *list, struct scene_job *job,
			     struct reason *why)
{
	struct wire_cursor in = wire_cursor_list(list);
	for (uint32_t i = 0; i < list->count; i++) {
		struct wire_token token;
		if (wire_next(&in, &token) != STATUS_OK || token.type != WIRE_TOKEN_TEXT)
			return reason_set(why, STATUS_TYPE, i, "lets",
					  "each must be a str, NAME=FORMULA");
		char *let = heap_alloc((size_t)token.count + 1);
		if (let == NULL)
			return reason_set(why, STATUS_NO_MEMORY, i, "lets", "%s",
					  status_text(STATUS_NO_MEMORY));
		memcpy(let, token.at, token.count);
		let[token.count] = '\0';
		job->lets[job->let_count++] = let;
	}
	return STATUS_OK;
}

/* What can be refused before any work is done. */
static enum status check_open(const struct msg_scene_open *from, struct scene_job *job,
			      struct reason *why)
{
	if (!requests_copy_name(from->name, job->world) || !worlds_name_valid(job->world))
		return reason_set(
			why, STATUS_RANGE, -1, "name",
			"a name must be 1 to %d letters, digits, '-', '_' or '.', and must not "
			"begin with '.'",
			WIRE_NAME_MAX);
	bool named =
		requests_copy_name(from->scene, job->scene) && scene_folder_may_have(job->scene);
	if (!named && (from->text.bytes == 0 || from->scene.bytes > 0))
		return reason_set(
			why, STATUS_RANGE, -1, "scene",
			"it must be a file of the folder of scenes, as listed: names of letters, "
			"digits, '-', '_' or '.', with '/' between; with `text`, it is only for "
			"messages");
	return take_lets(&from->lets, job, why);
}

void handle_scene_open(struct session *self, const struct message *message)
{
	const struct msg_scene_open *from = &message->scene_open;
	struct reason why;
	struct scene_job *job = make_job(self, message);
	if (job == NULL)
		return;
	enum status status = check_open(from, job, &why);
	if (status == STATUS_OK && session_refuses_world(self, message, job->world)) {
		free_job(job);
		return;
	}
	/* Afterwards, because the answer must not reveal whether a world exists. */
	if (status == STATUS_OK && worlds_find_name(self->service->worlds, job->world) != NULL)
		status = reason_set(&why, STATUS_EXISTS, -1, "name",
				    "there is a world %s already; choose another name", job->world);
	if (status == STATUS_OK && from->text.bytes > 0 &&
	    bytes_append(&job->text, from->text.at, from->text.bytes) != STATUS_OK)
		status = reason_set(&why, STATUS_NO_MEMORY, -1, "text", "%s",
				    status_text(STATUS_NO_MEMORY));
	if (status != STATUS_OK) {
		free_job(job);
		session_refuse(self, message, &why);
		return;
	}
	job->base = (enum scene_base)from->base;
	job->balance = from->balance == 1;
	job->joint_link_share = from->joint_link_share;
	job->running = from->running == 1;
	post_job(self, message, job, run_open);
}
