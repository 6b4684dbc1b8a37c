/* cli.h: the state that every verb of `cairn` receives, its readers of words and its writers of output. */
#ifndef CAIRN_CLIENTS_CLI_CLI_H
#define CAIRN_CLIENTS_CLI_CLI_H

#include "clients/lib/cairn.h"

enum { CLI_OPERANDS_MAX = 32, CLI_OPTIONS_MAX = 32 }; /* `used` has a bit for each option */

struct cli {
	struct cairn *client; /* connected, unless the verb works without */
	const char *address;
	const char *token;	 /* NULL: none */
	const char *tls_trusted; /* NULL: the system's certificates */
	bool json;
	uint32_t timeout_ms;
	/* Words after the verb: operands in order, `--name value` and `--flag` apart. */
	const char *operands[CLI_OPERANDS_MAX];
	uint32_t operand_count;
	struct {
		const char *name, *value; /* value NULL for a flag */
	} options[CLI_OPTIONS_MAX];
	uint32_t option_count;
	uint32_t
		used; /* bits of the options that the verb has read; an unread option is an error */
	struct reason why;
};

/* A verb: returns the exit status. */
typedef int cli_verb(struct cli *cli);

struct cli_verb_info {
	const char *name, *usage, *help;
	cli_verb *run;
	bool connects;
};
const struct cli_verb_info *cli_verbs(uint32_t *count);

/* Prints cli->why (or `text` with it) to standard error; returns a failing exit status. */
int cli_fail(const struct cli *cli);
int cli_usage(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

/* ---- words --------------------------------------------------------------------------------------- */
/* The value of --name, or NULL. A repeated option is returned the index-th time. */
const char *cli_option(struct cli *cli, const char *name, uint32_t index);
bool cli_flag(struct cli *cli, const char *name);
/* Refuses options that the verb has not read. */
MUST_CHECK bool cli_options_known(struct cli *cli);
/* Numbers; false with cli->why set. Vectors are X,Y,Z; rotations W,X,Y,Z. */
MUST_CHECK bool cli_number(struct cli *cli, const char *text, const char *what, double *value);
MUST_CHECK bool cli_count(struct cli *cli, const char *text, const char *what, uint64_t *value);
MUST_CHECK bool cli_numbers(struct cli *cli, const char *text, const char *what, double *values,
			    uint32_t count);
MUST_CHECK bool cli_vec3(struct cli *cli, const char *text, const char *what, vec3 *value);
/* KIND:NUMBERS, e.g. sphere:0.5, box:1,1,1 (full sizes), capsule:HALF,RADIUS, plane:0,1,0,0,
 * hull:x,y,z,x,y,z,…: canonical bytes, to be freed by the caller with bytes_release. */
struct bytes;
MUST_CHECK bool cli_shape(struct cli *cli, const char *text, struct bytes *canonical);
/* Joins the world named by the first operand. */
MUST_CHECK bool cli_join(struct cli *cli, struct cairn_world *world);
/* Applies a batch and waits (apply.c). A world that does not run by itself is stepped once, because
 * commands act at a tick boundary. A refused batch is the call's status, in cli->why. */
MUST_CHECK enum status cli_apply(struct cli *cli, const struct cairn_world *world,
				 const struct command *commands, uint32_t count,
				 struct wire_result *result);
/* The same, and prints the tick and what the last command made; returns an exit status. */
int cli_apply_and_tell(struct cli *cli, const struct cairn_world *world,
		       const struct command *commands, uint32_t count);

/* ---- answers ------------------------------------------------------------------------------------- */
/* One record, for people `key: value` lines, for programs a JSON object. */
void out_begin(const struct cli *cli);
void out_text(const struct cli *cli, const char *key, const char *value);
void out_u64(const struct cli *cli, const char *key, uint64_t value);
void out_real(const struct cli *cli, const char *key, double value);
void out_reals(const struct cli *cli, const char *key, const double *values, uint32_t count);
void out_hash(const struct cli *cli, const char *key, uint64_t value);
void out_end(const struct cli *cli);
/* One world as a record. */
void out_world(const struct cli *cli, const struct cairn_world *world);
/* A MessagePack value as a JSON member; nothing for people. */
void out_raw(const struct cli *cli, const char *key, struct wire_slice value);
/* Any MessagePack value: JSON, or indented lines for people. */
void out_value(const struct cli *cli, struct wire_slice value);
const char *mode_name(enum wire_mode mode);
const char *event_name(uint8_t kind);

#endif
