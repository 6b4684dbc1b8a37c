/* See past_command.h. */
#include "server/commands/past_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/condition.h"
#include "protocol/unpack.h"
#include "server/base/json_text.h"
#include "server/commands/command_words.h"
#include "server/commands/export.h"
#include "server/past/past.h"

static int fail(const char *file, const struct reason *why)
{
	command_refused("", file, status_name(why->status), why);
	return PAST_EXIT_FAILED;
}

/* ---- printing an answer as JSON ------------------------------------------------------------------ */

static void print_value(struct wire_cursor *in);

static void print_items(struct wire_cursor *in, uint32_t count)
{
	printf("[");
	for (uint32_t i = 0; i < count; i++) {
		if (i > 0)
			printf(", ");
		print_value(in);
	}
	printf("]");
}

static void print_value(struct wire_cursor *in)
{
	struct wire_token token;
	if (wire_next(in, &token) != STATUS_OK)
		return;
	switch (token.type) {
	case WIRE_TOKEN_ARRAY:
		print_items(in, token.count);
		break;
	case WIRE_TOKEN_INTEGER:
		printf("%lld", (long long)token.integer);
		break;
	case WIRE_TOKEN_REAL:
		printf("%.17g", token.real);
		break;
	case WIRE_TOKEN_TEXT:
		json_text_print(stdout, (const char *)token.at, token.count);
		break;
	default:
		printf("null");
	}
}

static void print_answer(const struct past_answer *answer)
{
	struct wire_cursor in = wire_cursor_of(
		(struct wire_slice){ answer->raw.data, (uint32_t)answer->raw.count });
	print_value(&in);
	printf("\n");
}

/* An answer without items is `[]`. */
static bool is_empty(const struct past_answer *answer)
{
	return answer->raw.count == 1;
}

/* ---- questions ----------------------------------------------------------------------------------- */

static int ask_when(const char *file, const char *condition, bool latest, bool json)
{
	struct wire_query query;
	struct past_answer answer;
	struct reason why;
	if (condition_parse(condition, &query, &why) != STATUS_OK)
		return fail(file, &why);
	struct past_ask ask = { .kind = PAST_WHEN, .latest = latest };
	ask.condition = (struct keyframe_condition){ query.body, query.quantity, query.above != 0,
						     query.value };
	enum status status = past_answer_file(file, &ask, &answer);
	int code = PAST_EXIT_NO;
	if (status != STATUS_OK) {
		code = fail(file, &answer.why);
	} else if (!is_empty(&answer)) {
		code = PAST_EXIT_YES;
		if (!json)
			printf("%s tick %" PRIu64 " of epoch %u; %" PRIu64 " ticks computed\n",
			       latest ? "last at" : "first at", answer.place.tick,
			       (unsigned)answer.place.epoch, answer.ticks);
	} else if (!json) {
		printf("never; %" PRIu64 " ticks computed\n", answer.ticks);
	}
	if (status == STATUS_OK)
		print_answer(&answer);
	past_answer_release(&answer);
	return code;
}

/* A tick, or the name of a snapshot: what is no number. */
static enum status read_state(const char *text, const char *option, struct recorded_place *place,
			      const char **snapshot, struct reason *why)
{
	bool number = text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
	*snapshot = number ? NULL : text;
	return number ? tick_read(text, option, &place->tick, why) : STATUS_OK;
}

static int ask_difference(const char *file, const struct options *options, bool json)
{
	struct past_ask ask = { .kind = PAST_DIFFERENCE };
	struct past_answer answer;
	struct reason why;
	ask.place.epoch = (uint32_t)options->past_epoch;
	ask.other.epoch = (uint32_t)options->past_other_epoch;
	if (read_state(options->past_from, "from", &ask.place, &ask.snapshots[0], &why) !=
		    STATUS_OK ||
	    read_state(options->past_to, "to", &ask.other, &ask.snapshots[1], &why) != STATUS_OK)
		return fail(file, &why);
	enum status status = past_answer_file(file, &ask, &answer);
	int code = status != STATUS_OK ? fail(file, &answer.why) : PAST_EXIT_YES;
	if (status == STATUS_OK) {
		code = is_empty(&answer) ? PAST_EXIT_YES : PAST_EXIT_NO;
		if (!json)
			printf("%s\n", is_empty(&answer) ? "equal" : "different");
		print_answer(&answer);
	}
	past_answer_release(&answer);
	return code;
}

static int write_export(const char *file, const struct options *options, bool json)
{
	struct past_range range = { .epoch = (uint32_t)options->past_epoch,
				    .every = MAX_OF(options->past_every, 1u) };
	struct reason why;
	uint64_t states, rows;
	if (tick_range_read(options->past_from, options->past_to, &range, &why) != STATUS_OK)
		return fail(file, &why);
	if (export_file(file, options->past_export, options->past_names, &range, &states, &rows,
			&why) != STATUS_OK)
		return fail(file, &why);
	if (!json) {
		printf("%s: %" PRIu64 " states, %" PRIu64 " rows of bodies\n", options->past_export,
		       states, rows);
		return PAST_EXIT_YES;
	}
	printf("{\"file\": ");
	json_text_print(stdout, options->past_export, strlen(options->past_export));
	printf(", \"states\": %" PRIu64 ", \"rows\": %" PRIu64 "}\n", states, rows);
	return PAST_EXIT_YES;
}

int past_command(const struct options *options)
{
	const char *file = options->operands.items[0];
	bool json = strcmp(options->past_report, "json") == 0;
	if (options->past_when != NULL)
		return ask_when(file, options->past_when, false, json);
	if (options->past_when_last != NULL)
		return ask_when(file, options->past_when_last, true, json);
	if (options->past_diff)
		return ask_difference(file, options, json);
	return write_export(file, options, json);
}
