/* options.h: the options of cairnd from command line, environment and file. Everything is derived
 * from options.def: the struct, the parser, the help, the names in the environment. Pure: it reads
 * only its arguments.
 */
#ifndef CAIRN_OPTIONS_H
#define CAIRN_OPTIONS_H

#include "server/base/base.h"
#include "server/base/status.h"
#include "server/io/address.h"
#include "server/io/log.h"

enum { OPTION_LIST_MAX = 64, OPTION_TEXT_BYTES = 8192, OPTION_ADDRESSES_MAX = OPTION_LIST_MAX + 1 };

struct option_list {
	uint32_t count;
	const char *items[OPTION_LIST_MAX];
};

enum options_command {
	OPTIONS_SERVE,
	OPTIONS_RUN,
	OPTIONS_COMPARE,
	OPTIONS_REPLAY,
	OPTIONS_MESH,
	OPTIONS_STABILITY,
	OPTIONS_SCENE,
	OPTIONS_DRAW,
	OPTIONS_PACK,
	OPTIONS_STORE,
	OPTIONS_PAST,
	OPTIONS_HELP,	/* print options_help(help_for) and succeed */
	OPTIONS_VERSION /* print the version and succeed */
};

/* draw_ticks where --ticks is not given. */
#define DRAW_TICKS_OPEN UINT64_MAX

struct options {
	enum options_command command;
	enum options_command help_for; /* OPTIONS_SERVE to OPTIONS_PAST */
	struct option_list
		operands; /* scene; words of `store` and `scene`; files of `pack`; else a file */
	bool run_ticks_given, run_seed_given;
#define OPTION_FIELD_FLAG(field) bool field;
#define OPTION_FIELD_COUNT(field) uint64_t field;
#define OPTION_FIELD_BYTES(field) uint64_t field;
#define OPTION_FIELD_TEXT(field) const char *field;
#define OPTION_FIELD_LIST(field) struct option_list field;
#define OPTION_FIELD_LEVEL(field) enum log_level field;
#define OPTION(command, KIND, field, name, argument, initial, min, max, help)                      \
	OPTION_FIELD_##KIND(field)
#include "server/options.def"
#undef OPTION_FIELD_FLAG
#undef OPTION_FIELD_COUNT
#undef OPTION_FIELD_BYTES
#undef OPTION_FIELD_TEXT
#undef OPTION_FIELD_LIST
#undef OPTION_FIELD_LEVEL
	char texts[OPTION_TEXT_BYTES]; /* lists from the environment, split */
	uint32_t texts_used;
};

/* Reads argv[1…] and `environment` ("NAME=value", terminated by NULL; may be NULL). Texts in `out`
 * are borrowed from them and from `out` itself, which therefore must not be copied. On refusal
 * `why` names the option in `field` (TYPE, RANGE, MISSING a value, EXISTS given twice, LIMIT too
 * many). */
MUST_CHECK enum status options_parse(struct options *out, int argc, const char *const argv[],
				     const char *const environment[], struct reason *why);

/* The same with `settings` ("name=value", terminated by NULL; may be NULL), the options of a
 * configuration file, which rank between the defaults and the environment. They are borrowed, too.
 * A refused setting's index is why->index; it is −1 for other refusals. */
MUST_CHECK enum status options_parse_with(struct options *out, int argc, const char *const argv[],
					  const char *const environment[],
					  const char *const settings[], struct reason *why);
/* The file of --config, else of CAIRN_CONFIG, else NULL. Borrowed from the arguments. */
const char *options_config_path(int argc, const char *const argv[],
				const char *const environment[]);

/* ---- while it runs --------------------------------------------------------------------------- */

enum { OPTION_VALUE_BYTES = 256 };

/* An option of SERVE, as shown to people. */
struct option_view {
	const char *name;
	bool live; /* may be changed while the daemon runs */
	char value
		[OPTION_VALUE_BYTES]; /* as on the command line; lists with commas; truncated if too long */
};
/* The i-th; false: there are no more. */
bool options_view(const struct options *options, uint32_t index, struct option_view *out);
/* Sets a live option. MISSING: no such option; UNSUPPORTED: it needs a restart; TYPE, RANGE. */
MUST_CHECK enum status options_change(struct options *options, const char *name, const char *value,
				      struct reason *why);

/* Writes the help for SERVE to PAST; returns its length, like snprintf. */
size_t options_help(enum options_command command, char *text, size_t bytes);

/* Where to listen: --listen (a bare HOST:PORT means TCP), --unix, or the default when neither was
 * given. `out` has room for OPTION_ADDRESSES_MAX. */
MUST_CHECK enum status options_addresses(const struct options *options, struct address *out,
					 uint32_t *count, struct reason *why);
/* The same for --tls; none if it was not given. */
MUST_CHECK enum status options_tls_addresses(const struct options *options, struct address *out,
					     uint32_t *count, struct reason *why);

/* True: the peer's PROXY header is trusted: it is on the list of --proxy-from; without a list, `local`. */
bool options_proxy_from(const struct options *options, enum address_kind kind,
			const uint8_t octets[16], bool local);

/* The address of --web or --admin: HOST:PORT, with or without "tcp:" in front. */
MUST_CHECK enum status options_web_address(const char *text, const char *option,
					   struct address *out, struct reason *why);

#endif
