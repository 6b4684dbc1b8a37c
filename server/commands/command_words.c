/* See command_words.h. */
#include "server/commands/command_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/json_text.h"

static bool refuse_in_json;

void command_refusals_begin(int argc, char **argv)
{
	refuse_in_json = false;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--report=json") == 0 ||
		    (strcmp(argv[i], "--report") == 0 && i + 1 < argc &&
		     strcmp(argv[i + 1], "json") == 0))
			refuse_in_json = true;
}

void command_refused(const char *command, const char *file, const char *kind,
		     const struct reason *why)
{
	if (refuse_in_json) {
		json_reason_print(stderr, why);
		return;
	}
	fprintf(stderr, "cairnd%s%s: %s%s%s%s%s\n", command[0] != '\0' ? " " : "", command, file,
		file[0] != '\0' ? ": " : "", kind, kind[0] != '\0' ? ": " : "", why->text);
}

enum status real_read(const char *text, const char *option, double least, double most,
		      const char *unit, double *value, struct reason *why)
{
	char *end;
	*value = strtod(text, &end);
	bool number = end != text && *end == '\0';
	if (number && *value >= least && *value <= most)
		return STATUS_OK;
	return reason_set(why, number ? STATUS_RANGE : STATUS_TYPE, -1, option,
			  "--%s: \"%.40s\" must be a number from %g to %g%s%s", option, text, least,
			  most, unit[0] != '\0' ? " " : "", unit);
}

enum status vector_read(const char *text, const char *option, vec3 *value, struct reason *why)
{
	double v[3];
	int used = 0;
	bool good = sscanf(text, "%lf,%lf,%lf%n", &v[0], &v[1], &v[2], &used) == 3 &&
		    text[used] == '\0';
	for (uint32_t k = 0; good && k < 3; k++)
		good = v[k] - v[k] == 0;
	if (good)
		*value = (vec3){ v[0], v[1], v[2] };
	return good ? STATUS_OK
		    : reason_set(why, STATUS_TYPE, -1, option,
				 "--%s: \"%.40s\" must be three finite numbers X,Y,Z", option,
				 text);
}

enum status tick_read(const char *text, const char *option, uint64_t *tick, struct reason *why)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || number > (UINT64_C(1) << 53))
		return reason_set(why, STATUS_RANGE, -1, option,
				  "--%s: \"%.40s\" must be a whole number within 0 and 2^53",
				  option, text);
	*tick = number;
	return STATUS_OK;
}

enum status tick_range_read(const char *from, const char *to, struct past_range *out,
			    struct reason *why)
{
	enum status status = STATUS_OK;
	out->has_from = from != NULL;
	out->has_to = to != NULL;
	if (from != NULL)
		status = tick_read(from, "from", &out->from, why);
	if (status == STATUS_OK && to != NULL)
		status = tick_read(to, "to", &out->to, why);
	if (status == STATUS_OK && from != NULL && to != NULL && out->from > out->to)
		return reason_set(why, STATUS_RANGE, -1, "from",
				  "--from %" PRIu64 " comes after --to %" PRIu64
				  ", so the range is empty: give a --from of at most --to",
				  out->from, out->to);
	return status;
}
