/* See recorder.h. */
#include "tests/lib/recorder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/command_wire.h"
#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

enum { BATCHES = 3, COMMANDS = 3, PACKED = 16384 };

/* ---- files ------------------------------------------------------------------------------------- */

void recorder_directory(char directory[RECORDER_PATH])
{
	/* In memory if possible: hundreds of real fsyncs take seconds and prove nothing here. */
	const char *base = getenv("TMPDIR");
	if (base == NULL)
		base = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
	snprintf(directory, RECORDER_PATH, "%s/cairn-store-XXXXXX", base);
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

void recorder_remove(const char *directory)
{
	DIR *entries = opendir(directory);
	ck_assert_ptr_nonnull(entries);
	for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
		char path[RECORDER_PATH + 300];
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			ck_assert_int_eq(unlink(path), 0);
	}
	closedir(entries);
	ck_assert_int_eq(rmdir(directory), 0);
}

void recorder_path(const struct recorder *self, const char *name, char path[RECORDER_PATH])
{
	int bytes = snprintf(path, RECORDER_PATH, "%s/%s.cairn", self->directory, name);
	ck_assert_int_lt(bytes, RECORDER_PATH);
}

static void copy_file(const char *from, const char *to)
{
	static uint8_t buffer[1 << 16];
	FILE *in = fopen(from, "rb");
	if (in == NULL)
		return;
	FILE *out = fopen(to, "wb");
	ck_assert_ptr_nonnull(out);
	for (size_t got; (got = fread(buffer, 1, sizeof buffer, in)) > 0;)
		ck_assert_uint_eq(fwrite(buffer, 1, got, out), got);
	ck_assert_int_eq(fclose(out), 0);
	fclose(in);
}

void recorder_copy(const struct recorder *self, const char *name, const char *directory)
{
	static const char *const suffixes[] = { "", "-wal" };
	for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
		char from[RECORDER_PATH + 16], to[RECORDER_PATH + 100];
		snprintf(from, sizeof from, "%s/%s.cairn%s", self->directory, name, suffixes[i]);
		snprintf(to, sizeof to, "%s/%s.cairn%s", directory, name, suffixes[i]);
		copy_file(from, to);
	}
}

void recorder_copy_sessions(const struct recorder *self, const char *directory)
{
	static const char *const names[] = { "sessions", "sessions-wal", "tokens" };
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		char from[RECORDER_PATH + 32], to[RECORDER_PATH + 100];
		snprintf(from, sizeof from, "%s/cairnd.%s", self->directory, names[i]);
		snprintf(to, sizeof to, "%s/cairnd.%s", directory, names[i]);
		copy_file(from, to);
	}
}

/* ---- callbacks -------------------------------------------------------------------------------------- */

static void on_durable(void *context, uint32_t epoch, uint64_t tick, uint32_t edit)
{
	struct recorder *self = context;
	/* The durable position never goes back within an epoch, nor to an older epoch. */
	ck_assert_uint_ge(epoch, self->durable_epoch);
	if (epoch == self->durable_epoch)
		ck_assert_uint_ge(tick, self->durable_tick);
	if (epoch == self->durable_epoch && tick == self->durable_tick)
		ck_assert_uint_ge(edit, self->durable_edit);
	self->durable_epoch = epoch;
	self->durable_tick = tick;
	self->durable_edit = edit;
	self->durables++;
}

static void on_stored(void *context, uint64_t records)
{
	struct recorder *self = context;
	ck_assert_uint_gt(records, self->stored);
	ck_assert_uint_le(records, journal_records(self->journal));
	self->stored = records;
}

static void on_failed(void *context, enum status status, const char *text)
{
	struct recorder *self = context;
	ck_assert_ptr_nonnull(text);
	self->failed = status;
	self->failures++;
}

static void on_ready(void *context)
{
	((struct recorder *)context)->wakes++;
}

static void listen(struct recorder *self)
{
	struct journal_events events = {
		.durable = on_durable, .stored = on_stored, .failed = on_failed, .context = self
	};
	journal_set_events(self->journal, &events);
	journal_on_ready(self->journal, on_ready, self);
}

/* ---- life -------------------------------------------------------------------------------------- */

void recorder_open(struct recorder *self, const char *directory, uint64_t seed)
{
	struct reason why;
	memset(self, 0, sizeof *self);
	snprintf(self->directory, sizeof self->directory, "%s", directory);
	struct io_sim_options options = io_sim_options_default(seed);
	options.quiet = true;
	ck_assert_int_eq(io_sim_create(&options, &self->sim), STATUS_OK);
	struct executor *executor = io_sim_executor(self->sim);
	enum status status = store_create(directory, executor, &self->store, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	ck_assert_int_eq(executor_start(executor, &why), STATUS_OK);
}

void recorder_beginning(struct recorder *self)
{
	struct world_info info = world_info(self->world);
	self->epoch = info.epoch;
	for (int i = 0; i < TEST_SHAPES; i++)
		ck_assert_int_eq(journal_shape(self->journal, info.epoch, info.tick,
					       test_shape((enum test_shape)i)),
				 STATUS_OK);
	recorder_checkpoint(self, NULL);
}

void recorder_make(struct recorder *self, const char *name, const char *method, bool planar,
		   uint64_t seed)
{
	struct reason why;
	enum status status = store_create_world(self->store, name, NULL, &self->journal, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	listen(self);
	self->durable_epoch = 0;
	self->durable_tick = self->durable_edit = 0;
	self->world = test_world(planar, method);
	gen_commands_init(&self->gen, self->world, seed);
	for (int shape = 0; shape < (planar ? 2 : 4); shape++)
		test_use(self->world, (enum test_shape)(shape + (planar ? TEST_POLYGON : 0)));
}

void recorder_begin(struct recorder *self, const char *name, const char *method, bool planar,
		    uint64_t seed)
{
	recorder_make(self, name, method, planar, seed);
	recorder_beginning(self);
}

void recorder_recover(struct recorder *self, const char *name, struct recovered *recovered)
{
	struct reason why;
	enum status status = store_recover(self->store, name, NULL, recovered, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
	self->world = recovered->world;
	self->journal = recovered->journal;
	recovered->world = NULL;
	recovered->journal = NULL;
	world_set_shape_source(self->world, test_shape_source());
	shape_library_release(&recovered->shapes);
	for (uint32_t i = 0; i < recovered->snapshots.count; i++)
		bytes_release(&recovered->snapshots.items[i].image);
	ARRAY_RELEASE(&recovered->snapshots);
	listen(self);
	self->durable_epoch = 0;
	gen_commands_init(&self->gen, self->world, world_info(self->world).tick + 1);
	self->batch = 1000000 * world_info(self->world).epoch;
	recorder_beginning(self);
}

void recorder_end(struct recorder *self)
{
	if (self->journal != NULL)
		journal_close(self->journal);
	self->journal = NULL;
	if (self->world != NULL)
		world_destroy(self->world);
	self->world = NULL;
	for (uint32_t i = 0; i < self->save_count; i++)
		bytes_release(&self->saves[i].image);
	self->save_count = 0;
}

void recorder_close(struct recorder *self)
{
	recorder_end(self);
	executor_stop(io_sim_executor(self->sim));
	store_destroy(self->store);
	io_sim_destroy(self->sim);
}

void recorder_settle(struct recorder *self)
{
	io_sim_run_until(self->sim, io_sim_now(self->sim) + 100 * NS_PER_MS);
}

/* ---- doing ------------------------------------------------------------------------------------- */

/* The commands of one boundary, with storage for the lists that they borrow. */
struct boundary {
	struct batch batches[BATCHES];
	struct journal_batch packed[BATCHES];
	struct command commands[BATCHES][COMMANDS];
	struct attachment items[BATCHES][COMMANDS][4];
	struct joint_target targets[BATCHES][COMMANDS][6];
	struct joint_point points[BATCHES][COMMANDS][5];
	uint8_t bytes[BATCHES][PACKED];
};

static void fill_batch(struct recorder *self, struct boundary *boundary, uint32_t at)
{
	struct gen_commands *gen = &self->gen;
	struct command *commands = boundary->commands[at];
	uint32_t count = 1 + rng_below(&gen->rng, COMMANDS);
	struct wire_packer packer = wire_packer_over(boundary->bytes[at], PACKED);
	/* A batch may release the drags of a session, or of all sessions. */
	bool lets_go = rng_below(&gen->rng, 20) == 0;
	count = lets_go ? 0 : count;
	for (uint32_t i = 0; i < count; i++) {
		gen_any_command(gen, &commands[i]);
		if (rng_below(&gen->rng, 40) == 0) {
			command_defaults(&commands[i], COMMAND_METHOD);
			commands[i].method.name = gen_method_name(&gen->rng);
		}
		if (commands[i].op == COMMAND_SPAWN) {
			memcpy(boundary->items[at][i], gen->items, sizeof gen->items);
			commands[i].spawn.shapes.items = boundary->items[at][i];
		} else if (commands[i].op == COMMAND_JOINT_TARGETS) {
			memcpy(boundary->targets[at][i], gen->targets, sizeof gen->targets);
			commands[i].joint_targets.targets.items = boundary->targets[at][i];
		} else if (commands[i].op == COMMAND_JOINT_TABLE) {
			memcpy(boundary->points[at][i], gen->points, sizeof gen->points);
			commands[i].joint_table.points.items = boundary->points[at][i];
		}
		command_pack(&packer, &commands[i]);
	}
	ck_assert_int_eq(wire_packer_status(&packer), STATUS_OK);
	struct batch *batch = &boundary->batches[at];
	*batch = (struct batch){ .number = ++self->batch, .commands = commands, .count = count };
	batch->session = 1 + rng_below(&gen->rng, 3);
	batch->restricted = rng_below(&gen->rng, 8) == 0;
	batch->late = lets_go ? LATE_REMOVE_DRAGS : (uint8_t)rng_below(&gen->rng, 2);
	uint32_t ahead = rng_below(&gen->rng, 20);
	if (ahead < 5 && !lets_go)
		batch->at = world_info(self->world).tick + ahead;
	struct wire_slice slice = wire_packer_slice(&packer);
	boundary->packed[at] = (struct journal_batch){
		.session = batch->session,
		.batch = batch->number,
		.at = batch->at,
		.late = batch->late,
		.restricted = batch->restricted,
		.commands = slice.at,
		.bytes = slice.bytes,
		.count = count,
	};
}

void recorder_disturb(struct recorder *self)
{
	static struct boundary boundary;
	struct batch_result results[BATCHES];
	struct world_info info = world_info(self->world);
	self->gen.world = self->world;
	uint32_t count = rng_below(&self->gen.rng, BATCHES + 1);
	for (uint32_t i = 0; i < count; i++)
		fill_batch(self, &boundary, i);
	ck_assert_int_eq(world_apply(self->world, boundary.batches, count, results), STATUS_OK);
	for (uint32_t i = 0; i < count; i++)
		boundary.packed[i].result = (uint8_t)results[i].status;
	if (count > 0)
		ck_assert_int_eq(journal_apply(self->journal, info.epoch, info.tick,
					       world_info(self->world).edit, boundary.packed,
					       count),
				 STATUS_OK);
}

void recorder_step(struct recorder *self)
{
	test_step(self->world, 1);
	struct world_info info = world_info(self->world);
	ck_assert_int_eq(
		journal_tick(self->journal, info.epoch, info.tick, world_tick_hash(self->world)),
		STATUS_OK);
}

void recorder_run(struct recorder *self, uint32_t ticks)
{
	for (uint32_t i = 0; i < ticks; i++) {
		recorder_disturb(self);
		recorder_step(self);
	}
}

static struct bytes *saved_image(struct recorder *self, const char *name)
{
	for (uint32_t i = 0; i < self->save_count; i++)
		if (strcmp(self->saves[i].name, name) == 0)
			return &self->saves[i].image;
	ck_assert_uint_lt(self->save_count, RECORDER_SAVES);
	snprintf(self->saves[self->save_count].name, sizeof self->saves[0].name, "%s", name);
	memset(&self->saves[self->save_count].image, 0, sizeof self->saves[0].image);
	return &self->saves[self->save_count++].image;
}

void recorder_checkpoint(struct recorder *self, const char *name)
{
	uint64_t tables[WORLD_TABLES_MAX];
	uint32_t count;
	struct bytes image = test_save(self->world);
	struct world_info info = world_info(self->world);
	uint64_t hash = world_state_hash(self->world, tables, &count);
	ck_assert_int_eq(journal_checkpoint(self->journal, info.epoch, info.tick, info.edit, name,
					    &image, hash, tables, count),
			 STATUS_OK);
	if (name != NULL) {
		struct bytes *kept = saved_image(self, name);
		bytes_release(kept);
		*kept = image;
	} else {
		bytes_release(&image);
	}
}

void recorder_restore(struct recorder *self, const char *name)
{
	struct reason why;
	struct bytes *image = saved_image(self, name);
	ck_assert_int_eq(world_restore(self->world, image->data, image->count, &why), STATUS_OK);
	world_new_epoch(self->world, world_info(self->world).epoch + 1);
	struct world_info info = world_info(self->world);
	self->epoch = info.epoch;
	ck_assert_int_eq(journal_restore(self->journal, info.epoch, info.tick, info.edit, name),
			 STATUS_OK);
}
