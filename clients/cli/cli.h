/* cli.h: the state that every verb of `cairn` receives, its readers of words and its writers of
 * output. */
#ifndef CAIRN_CLIENTS_CLI_CLI_H
#define CAIRN_CLIENTS_CLI_CLI_H

#include "clients/lib/cairn.h"

/* At most 32 options, because `used` has a bit for each. */
enum { CLI_OPERANDS_MAX = 32, CLI_OPTIONS_MAX = 32 };

struct cli_verb_info;
struct cli {
	struct cairn *client; /* connected; NULL for a verb that needs no server */
	const char *address;
	const char *token;	 /* NULL: none */
	const char *tls_trusted; /* NULL: the system's certificates */
	bool json;
	uint32_t timeout_ms;
	/* Words after the verb: operands in order; options (`--name value`, `--flag`) separately. */
	const char *operands[CLI_OPERANDS_MAX];
	uint32_t operand_count;
	struct {
		const char *name, *value; /* value NULL for a flag */
	} options[CLI_OPTIONS_MAX];
	uint32_t option_count;
	uint32_t used; /* bits of the options that the verb has read; an unread one is an error */
	struct reason why;
	const struct cli_verb_info *verb;
	const char *no_file; /* what the verb would have read as a file, but there is none; NULL */
};

/* A verb: returns the exit status. */
typedef int cli_verb(struct cli *cli);

/* The usage of the options that every verb takes. */
#define CLI_GLOBALS                                                                                \
	"[--unix PATH | --connect ADDRESS] [--json] [--role NAME] [--timeout MS] "                 \
	"[--token-file FILE] [--tls-ca FILE]"

struct cli_verb_info {
	const char *name, *usage, *help;
	cli_verb *run;
	bool connects;
};
const struct cli_verb_info *cli_verbs(uint32_t *count);

/* Prints cli->why to standard error; returns EXIT_FAILURE. */
int cli_fail(const struct cli *cli);
/* Prints the message and a hint at `cairn help` to standard error; returns 2. */
int cli_usage(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
/* Refuses the words of a verb with its usage, and returns 2. */
int cli_wrong_words(struct cli *cli);

/* ---- words --------------------------------------------------------------------------------------- */
/* The value of --name, "" for a flag, NULL if it is not given. `index` counts repetitions of an option,
 * from 0. */
const char *cli_option(struct cli *cli, const char *name, uint32_t index);
bool cli_flag(struct cli *cli, const char *name);
/* False, with cli->why set, if an option is given that the verb has not read. */
MUST_CHECK bool cli_options_known(struct cli *cli);
/* Parse numbers; false with cli->why set. `what` names the operand or option. Vectors are X,Y,Z;
 * rotations W,X,Y,Z. */
MUST_CHECK bool cli_number(struct cli *cli, const char *text, const char *what, double *value);
MUST_CHECK bool cli_count(struct cli *cli, const char *text, const char *what, uint64_t *value);
MUST_CHECK bool cli_u32(struct cli *cli, const char *text, const char *what, uint32_t *value);
MUST_CHECK bool cli_numbers(struct cli *cli, const char *text, const char *what, double *values,
			    uint32_t count);
/* From 1 to `capacity` numbers. */
MUST_CHECK bool cli_list(struct cli *cli, const char *text, const char *what, double *values,
			 uint32_t capacity, uint32_t *count);
MUST_CHECK bool cli_vec3(struct cli *cli, const char *text, const char *what, vec3 *value);
/* KIND:NUMBERS, e.g. sphere:0.5, box:1,1,1 (full sizes), capsule:HALF,RADIUS, plane:0,1,0,0,
 * hull:x,y,z,x,y,z,…: canonical bytes, to be freed by the caller with bytes_release. */
struct bytes;
MUST_CHECK bool cli_shape(struct cli *cli, const char *text, struct bytes *canonical);
/* Joins the world that the first operand names; false with cli->why set. */
MUST_CHECK bool cli_join(struct cli *cli, struct cairn_world *world);
/* Applies a batch, waits for its result and prints the tick, the edit and the id that the last command
 * created (apply.c); returns an exit status. */
int cli_apply_and_print(struct cli *cli, const struct cairn_world *world,
			const struct command *commands, uint32_t count);

/* ---- output -------------------------------------------------------------------------------------- */
/* Between out_begin and out_end lies one record: lines `key value`, or with --json an object. */
void out_begin(const struct cli *cli);
void out_text(const struct cli *cli, const char *key, const char *value);
void out_u64(const struct cli *cli, const char *key, uint64_t value);
void out_real(const struct cli *cli, const char *key, double value);
void out_reals(const struct cli *cli, const char *key, const double *values, uint32_t count);
void out_hash(const struct cli *cli, const char *key, uint64_t value);
void out_end(const struct cli *cli);
/* One world as a record. */
void out_world(const struct cli *cli, const struct cairn_world *world);
/* With --json only: a member that is a list of objects. Each lies between out_item_begin and
 * out_item_end. */
void out_list_begin(const struct cli *cli, const char *key);
void out_list_end(const struct cli *cli);
void out_item_begin(const struct cli *cli);
void out_item_end(const struct cli *cli);
/* Any MessagePack value: indented lines, or JSON with --json. */
void out_value(const struct cli *cli, struct wire_slice value);
/* A list of ids: a word each, or with --json a record with the list as its one member. */
void out_ids(const struct cli *cli, const char *key, struct wire_slice value);
const char *mode_name(enum wire_mode mode);

#endif
