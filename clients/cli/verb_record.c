/* verb_record.c: the verb record: recordings of a world on the server, and their files. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clients/cli/verbs.h"
#include "protocol/unpack.h"
#include "server/base/output_file.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	UNUSED(number);
	interrupted = 1;
}

static int print_recorded(const struct cli *cli, const struct msg_recorded *recorded)
{
	char name[WIRE_NAME_MAX + 1];
	snprintf(name, sizeof name, "%.*s", (int)recorded->name.bytes,
		 (const char *)recorded->name.at);
	out_begin(cli);
	if (name[0] != '\0')
		out_text(cli, "name", name);
	out_u64(cli, "first_epoch", recorded->first_epoch);
	out_u64(cli, "first", recorded->first);
	out_u64(cli, "last_epoch", recorded->last_epoch);
	out_u64(cli, "last", recorded->last);
	out_u64(cli, "bytes", recorded->bytes);
	out_end(cli);
	return EXIT_SUCCESS;
}

static bool ask_record(struct cli *cli, struct cairn_recording *recording, struct message *out)
{
	return cairn_record(cli->client, recording, out, &cli->why) == STATUS_OK;
}

/* The options of start and save. */
static bool take_options(struct cli *cli, struct cairn_recording *recording)
{
	const char *last = cli_option(cli, "last", 0), *bytes = cli_option(cli, "bytes", 0);
	bool given;
	recording->title = cli_option(cli, "title", 0);
	if (!cli_tick(cli, "from", &recording->from, &given) ||
	    (last != NULL && !cli_count(cli, last, "last", &recording->seconds)) ||
	    (bytes != NULL && !cli_count(cli, bytes, "bytes", &recording->bytes)))
		return false;
	recording->has_from = given;
	return cli_options_known(cli);
}

/* ---- files --------------------------------------------------------------------------------------- */

static bool fail_file(struct cli *cli, const char *path)
{
	reason_set(&cli->why, STATUS_IO, -1, "file", "%s: %s", path, strerror(errno));
	return false;
}

/* Copies the recording to a new file here. */
bool cli_recording_get(struct cli *cli, struct cairn_recording *recording, const char *path)
{
	const struct output_file out = { .path = path, .field = "file", .fresh = true };
	struct message part;
	struct reason ignored;
	FILE *file;
	if (output_file_open(&out, &file, &cli->why) != STATUS_OK)
		return false;
	recording->action = WIRE_RECORD_READ;
	recording->offset = 0;
	bool good, more = true;
	do {
		good = ask_record(cli, recording, &part);
		const struct wire_slice data = part.recorded.data;
		more = good && data.bytes > 0 && fwrite(data.at, 1, data.bytes, file) == data.bytes;
		recording->offset += more ? data.bytes : 0;
	} while (more);
	good &= output_file_close(&out, file, good ? &cli->why : &ignored) == STATUS_OK;
	if (!good)
		(void)remove(path);
	return good;
}

/* Sends a file as a new recording of the world. */
static bool put_file(struct cli *cli, struct cairn_recording *recording, const char *path,
		     struct message *out)
{
	uint8_t part[WIRE_SHAPE_PART];
	FILE *file = fopen(path, "rb");
	if (file == NULL)
		return fail_file(cli, path);
	recording->action = WIRE_RECORD_WRITE;
	size_t bytes;
	bool good;
	do {
		bytes = fread(part, 1, sizeof part, file);
		recording->data = (struct wire_slice){ part, (uint32_t)bytes };
		good = ferror(file) != 0 ? fail_file(cli, path) : ask_record(cli, recording, out);
		recording->offset += bytes;
	} while (good && bytes > 0);
	fclose(file);
	return good;
}

/* ---- a recording as long as this command runs ---------------------------------------------------- */

/* The name on the server: that of the file, without folder and ending. */
static void name_of_file(const char *path, char name[WIRE_NAME_MAX + 1])
{
	const char *slash = strrchr(path, '/'), *from = slash != NULL ? slash + 1 : path;
	const char *end = strrchr(from, '.');
	int bytes = end != NULL && end > from ? (int)(end - from) : (int)strlen(from);
	snprintf(name, WIRE_NAME_MAX + 1, "%.*s", bytes, from);
}

static double now(void)
{
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Until the time is over, or Ctrl-C. False: the connection has ended. */
static bool wait_for_end(struct cli *cli, uint64_t seconds)
{
	struct sigaction action = { .sa_handler = on_interrupt };
	double until = now() + (double)seconds;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	while (!interrupted && (seconds == 0 || now() < until)) {
		enum status status = cairn_poll(cli->client, 50, &cli->why);
		if (status != STATUS_OK && status != STATUS_AGAIN)
			return false;
	}
	return true;
}

static int record_to_file(struct cli *cli, struct cairn_recording *recording)
{
	const char *path = cli->operands[1], *limit = cli_option(cli, "for", 0);
	char name[WIRE_NAME_MAX + 1];
	struct message stopped, removed;
	uint64_t seconds = 0;
	if ((limit != NULL && !cli_count(cli, limit, "for", &seconds)) ||
	    !take_options(cli, recording))
		return cli_fail(cli);
	/* Before the time of --for has passed. */
	const struct output_file out = { .path = path, .field = "file", .fresh = true };
	if (output_files_check(&out, 1, NULL, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	name_of_file(path, name);
	recording->name = name;
	recording->action = WIRE_RECORD_START;
	if (!ask_record(cli, recording, &stopped))
		return cli_fail(cli);
	if (seconds == 0)
		fprintf(stderr, "cairn: recording; Ctrl-C ends it\n");
	if (!wait_for_end(cli, seconds))
		return cli_fail(cli);
	recording->action = WIRE_RECORD_STOP;
	if (!ask_record(cli, recording, &stopped))
		return cli_fail(cli);
	struct msg_recorded made = stopped.recorded;
	made.name = wire_text(name);
	if (!cli_recording_get(cli, recording, path))
		return cli_fail(cli);
	/* The file is here; the one on the server has served. */
	recording->action = WIRE_RECORD_REMOVE;
	if (!ask_record(cli, recording, &removed))
		return cli_fail(cli);
	return print_recorded(cli, &made);
}

/* ---- list ---------------------------------------------------------------------------------------- */

static bool take_text(struct wire_cursor *in, char *text, size_t bytes)
{
	struct wire_token token;
	if (wire_next(in, &token) != STATUS_OK || token.type != WIRE_TOKEN_TEXT)
		return false;
	snprintf(text, bytes, "%.*s", (int)token.count, (const char *)token.at);
	return true;
}

static bool print_entry(const struct cli *cli, struct wire_cursor *in)
{
	struct wire_list item;
	char name[WIRE_NAME_MAX + 1], title[WIRE_TITLE_MAX + 1], since[40];
	double first[2], last[2];
	uint64_t bytes, running;
	if (wire_take_list(in, &item) != STATUS_OK)
		return false;
	struct wire_cursor fields = wire_cursor_list(&item);
	if (!take_text(&fields, name, sizeof name) || !take_text(&fields, title, sizeof title) ||
	    !take_text(&fields, since, sizeof since) ||
	    wire_take_uint(&fields, WIRE_INTEGER_MAX, &bytes) != STATUS_OK ||
	    wire_take_tuple(&fields, first, 2) != STATUS_OK ||
	    wire_take_tuple(&fields, last, 2) != STATUS_OK ||
	    wire_take_uint(&fields, 1, &running) != STATUS_OK)
		return false;
	if (!cli->json) {
		printf("%-24s epoch %.0f tick %.0f to epoch %.0f tick %.0f, ", name, first[0],
		       first[1], last[0], last[1]);
		if (running != 0)
			printf("running since %s  %s\n", since, title);
		else
			printf("%llu bytes, %s  %s\n", (unsigned long long)bytes, since, title);
		return true;
	}
	out_item_begin(cli);
	out_text(cli, "name", name);
	out_text(cli, "title", title);
	out_text(cli, "since", since);
	out_u64(cli, "bytes", bytes);
	out_reals(cli, "first", first, 2);
	out_reals(cli, "last", last, 2);
	out_u64(cli, "running", running);
	out_item_end(cli);
	return true;
}

static int list_recordings(struct cli *cli, uint32_t world)
{
	struct wire_query query;
	struct message answer;
	struct wire_list list;
	query_init(&query, WIRE_QUERY_RECORDINGS);
	query.limit = WIRE_QUERY_LIMIT_MAX;
	if (!cli_options_known(cli) ||
	    cairn_ask(cli->client, world, &query, &answer, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	struct wire_cursor in = wire_cursor_of(answer.answer.answer);
	bool good = wire_take_list(&in, &list) == STATUS_OK;
	struct wire_cursor items = wire_cursor_list(&list);
	if (cli->json) {
		out_begin(cli);
		out_list_begin(cli, "recordings");
	}
	for (uint32_t i = 0; good && i < list.count; i++)
		good = print_entry(cli, &items);
	if (cli->json) {
		out_list_end(cli);
		out_end(cli);
	}
	if (good)
		return EXIT_SUCCESS;
	reason_set(&cli->why, STATUS_MALFORMED, -1, "answer", "the answer is malformed");
	return cli_fail(cli);
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static const struct {
	const char *word;
	enum wire_record action;
	uint32_t least, most; /* operands */
} ACTIONS[] = {
	{ "start", WIRE_RECORD_START, 3, 3 }, { "stop", WIRE_RECORD_STOP, 2, 3 },
	{ "save", WIRE_RECORD_SAVE, 3, 3 },   { "remove", WIRE_RECORD_REMOVE, 3, 3 },
	{ "get", WIRE_RECORD_READ, 4, 4 },    { "put", WIRE_RECORD_WRITE, 4, 4 },
};

static int run_action(struct cli *cli, struct cairn_recording *recording)
{
	struct message done;
	bool good = take_options(cli, recording);
	if (good && recording->action == WIRE_RECORD_READ)
		return cli_recording_get(cli, recording, cli->operands[3]) ? EXIT_SUCCESS
									   : cli_fail(cli);
	if (good && recording->action == WIRE_RECORD_WRITE)
		good = put_file(cli, recording, cli->operands[3], &done);
	else if (good)
		good = ask_record(cli, recording, &done);
	if (!good)
		return cli_fail(cli);
	return recording->action == WIRE_RECORD_REMOVE ? EXIT_SUCCESS
						       : print_recorded(cli, &done.recorded);
}

int verb_record(struct cli *cli)
{
	struct cairn_world world;
	struct cairn_recording recording = { .name = cli->operand_count > 2 ? cli->operands[2]
									    : "" };
	if (cli->operand_count < 2)
		return cli_wrong_words(cli);
	if (!cli_join(cli, &world))
		return cli_fail(cli);
	recording.world = world.number;
	if (strcmp(cli->operands[1], "list") == 0 && cli->operand_count == 2)
		return list_recordings(cli, world.number);
	for (size_t i = 0; i < COUNT_OF(ACTIONS); i++) {
		if (strcmp(cli->operands[1], ACTIONS[i].word) != 0)
			continue;
		if (cli->operand_count < ACTIONS[i].least || cli->operand_count > ACTIONS[i].most)
			return cli_wrong_words(cli);
		recording.action = ACTIONS[i].action;
		return run_action(cli, &recording);
	}
	/* A file is told from a mistyped word by its ending. */
	const char *ending = strrchr(cli->operands[1], '.');
	if (cli->operand_count != 2 || ending == NULL || strcmp(ending, ".cairn") != 0)
		return cli_wrong_words(cli);
	return record_to_file(cli, &recording);
}
