/* See options_check.h. */
#include "server/options_check.h"

#include <string.h>

static enum status check_report(const char *format, struct reason *why)
{
	if (strcmp(format, "json") != 0 && strcmp(format, "text") != 0)
		return reason_set(why, STATUS_TYPE, -1, "report",
				  "--report: \"%.40s\" is not a format; use text or json", format);
	return STATUS_OK;
}

static enum status check_json(const char *format, struct reason *why)
{
	if (strcmp(format, "json") != 0)
		return reason_set(why, STATUS_TYPE, -1, "report",
				  "--report: \"%.40s\" is not a format; use json", format);
	return STATUS_OK;
}

static enum status check_run(const struct options *options, struct reason *why)
{
	if (options->operands.count == 0)
		return reason_set(why, STATUS_MISSING, -1, "scene", "cairnd run needs a SCENE");
	if (!options->run_ticks_given)
		return reason_set(why, STATUS_MISSING, -1, "ticks", "cairnd run needs --ticks N");
	return check_json(options->run_report, why);
}

static enum status check_compare(const struct options *options, struct reason *why)
{
	if (options->operands.count == 0)
		return reason_set(why, STATUS_MISSING, -1, "scene", "cairnd compare needs a SCENE");
	return check_report(options->compare_report, why);
}

static enum status check_replay(const struct options *options, struct reason *why)
{
	if (options->operands.count == 0)
		return reason_set(why, STATUS_MISSING, -1, "file", "cairnd replay needs a FILE");
	return check_json(options->replay_report, why);
}

static enum status check_stability(const struct options *options, struct reason *why)
{
	if (options->operands.count == 0)
		return reason_set(why, STATUS_MISSING, -1, "scene",
				  "cairnd stability needs a SCENE");
	return check_report(options->stability_report, why);
}

static enum status check_draw(const struct options *options, struct reason *why)
{
	if (options->operands.count == 0)
		return reason_set(why, STATUS_MISSING, -1, "scene",
				  "cairnd draw needs a SCENE or a recording");
	return check_report(options->draw_report, why);
}

static enum status check_scene(const struct options *options, struct reason *why)
{
	if (options->operands.count == 0)
		return reason_set(why, STATUS_MISSING, -1, "scene",
				  "cairnd scene needs to know what: give `tower`");
	return check_report(options->scene_report, why);
}

static enum status check_pack(const struct options *options, struct reason *why)
{
	if (options->operands.count < 2)
		return reason_set(
			why, STATUS_MISSING, -1, "file",
			"cairnd pack needs two files: IN.svg OUT.svg, or IN.yaml OUT.yaml");
	return check_report(options->pack_report, why);
}

static enum status check_mesh(const struct options *options, struct reason *why)
{
	if (options->operands.count == 0)
		return reason_set(why, STATUS_MISSING, -1, "file", "cairnd mesh needs a FILE");
	return check_report(options->mesh_report, why);
}

static enum status check_past(const struct options *options, struct reason *why)
{
	int asked = (options->past_when != NULL) + (options->past_when_last != NULL) +
		    options->past_diff + (options->past_export != NULL);
	if (options->operands.count == 0)
		return reason_set(why, STATUS_MISSING, -1, "file", "cairnd past needs a FILE");
	if (asked != 1)
		return reason_set(why, STATUS_MISSING, -1, "when",
				  "give one of --when, --when-last, --diff and --export");
	if (options->past_diff && (options->past_from == NULL || options->past_to == NULL))
		return reason_set(why, STATUS_MISSING, -1, "from",
				  "--diff needs --from TICK and --to TICK");
	return check_report(options->past_report, why);
}

/* An address that is not loopback is reachable from other machines: it needs tokens, and TLS because
 * tokens in clear text can be read on the network. */
static enum status check_exposure(const struct options *options, const struct address *address,
				  bool encrypted, const char *option, struct reason *why)
{
	char text[ADDRESS_TEXT_MAX];
	if (address_is_loopback(address))
		return STATUS_OK;
	address_print(address, text);
	if (options->tokens == NULL)
		return reason_set(why, STATUS_AUTH, -1, option,
				  "%.60s is not loopback, so clients need a token: "
				  "give --tokens FILE",
				  text);
	if (!encrypted && !options->insecure_plaintext)
		return reason_set(why, STATUS_AUTH, -1, option,
				  "%.60s is not loopback and has no TLS: tokens are readable "
				  "on the network (--insecure-plaintext allows it)",
				  text);
	return STATUS_OK;
}

static enum status check_web(const struct options *options, const char *text, const char *option,
			     bool encrypted, struct reason *why)
{
	struct address address;
	if (text == NULL)
		return STATUS_OK;
	enum status status = options_web_address(text, option, &address, why);
	if (status != STATUS_OK)
		return status;
	return check_exposure(options, &address, encrypted, option, why);
}

static enum status check_tls(const struct options *options, struct reason *why)
{
	struct address addresses[OPTION_ADDRESSES_MAX];
	uint32_t count;
	bool tls = options->tls.count > 0 || options->web_tls;
	if (tls && (options->tls_cert == NULL || options->tls_key == NULL))
		return reason_set(why, STATUS_MISSING, -1, "tls-cert",
				  "TLS needs --tls-cert FILE and --tls-key FILE");
	enum status status = options_tls_addresses(options, addresses, &count, why);
	for (uint32_t i = 0; status == STATUS_OK && i < count; i++)
		status = check_exposure(options, &addresses[i], true, "tls", why);
	return status;
}

static enum status check_proxy(const struct options *options, struct reason *why)
{
	struct address_network network;
	if (options->proxy_from.count > 0 && !options->proxy_protocol)
		return reason_set(why, STATUS_MISSING, -1, "proxy-from",
				  "--proxy-from has no effect without --proxy-protocol; give "
				  "both");
	for (uint32_t i = 0; i < options->proxy_from.count; i++) {
		struct reason what;
		if (network_parse(options->proxy_from.items[i], &network, &what) != STATUS_OK)
			return reason_set(why, what.status, -1, "proxy-from", "--proxy-from: %s",
					  what.text);
	}
	return STATUS_OK;
}

static enum status check_durability(const struct options *options, struct reason *why)
{
	const char *level = options->durability, *what = options->disk_failure;
	if (strcmp(level, "off") != 0 && strcmp(level, "tick") != 0 &&
	    strcmp(level, "command") != 0)
		return reason_set(why, STATUS_RANGE, -1, "durability",
				  "--durability: \"%.40s\" is unknown; use off, tick or command",
				  level);
	if (strcmp(what, "stop") != 0 && strcmp(what, "continue") != 0)
		return reason_set(why, STATUS_RANGE, -1, "disk-failure",
				  "--disk-failure: \"%.40s\" is unknown; use stop or continue",
				  what);
	if (strcmp(level, "command") == 0 && options->data == NULL)
		return reason_set(why, STATUS_RANGE, -1, "durability",
				  "--durability command needs a directory: add --data");
	return STATUS_OK;
}

static enum status check_serve(const struct options *options, struct reason *why)
{
	static const char *const ROLES[] = { "controller", "player", "observer", "none" };
	struct address addresses[OPTION_ADDRESSES_MAX];
	uint32_t count;
	bool known = false;
	for (size_t i = 0; i < COUNT_OF(ROLES); i++)
		known = known || strcmp(options->loopback_role, ROLES[i]) == 0;
	if (!known)
		return reason_set(
			why, STATUS_RANGE, -1, "loopback-role",
			"--loopback-role: \"%.40s\" is not a role; use controller, player, observer or none",
			options->loopback_role);
	static const char *const SEERS[] = { "observer", "player", "controller", "admin" };
	known = false;
	for (size_t i = 0; i < COUNT_OF(SEERS); i++)
		known = known || strcmp(options->past_role, SEERS[i]) == 0;
	if (!known)
		return reason_set(
			why, STATUS_RANGE, -1, "past-role",
			"--past-role: \"%.40s\" is not a role; use observer, player, controller or admin",
			options->past_role);
	if (strcmp(options->upgrade, "refuse") != 0 && strcmp(options->upgrade, "redo") != 0)
		return reason_set(why, STATUS_RANGE, -1, "upgrade",
				  "--upgrade: \"%.40s\" is unknown; use refuse or redo",
				  options->upgrade);
	enum status status = check_durability(options, why);
	if (status == STATUS_OK && options->drain_redirect != NULL)
		status = address_check_target(options->drain_redirect, "drain-redirect", why);
	if (status == STATUS_OK)
		status = options_addresses(options, addresses, &count, why);
	for (uint32_t i = 0; status == STATUS_OK && i < count; i++)
		status = check_exposure(options, &addresses[i], false, "listen", why);
	if (status == STATUS_OK)
		status = check_tls(options, why);
	if (status == STATUS_OK)
		status = check_proxy(options, why);
	if (status == STATUS_OK)
		status = check_web(options, options->web, "web", options->web_tls, why);
	if (status == STATUS_OK)
		status = check_web(options, options->admin, "admin", false, why);
	return status;
}

enum status options_check(const struct options *options, struct reason *why)
{
	switch (options->command) {
	case OPTIONS_SERVE:
		return check_serve(options, why);
	case OPTIONS_RUN:
		return check_run(options, why);
	case OPTIONS_COMPARE:
		return check_compare(options, why);
	case OPTIONS_REPLAY:
		return check_replay(options, why);
	case OPTIONS_MESH:
		return check_mesh(options, why);
	case OPTIONS_STABILITY:
		return check_stability(options, why);
	case OPTIONS_SCENE:
		return check_scene(options, why);
	case OPTIONS_DRAW:
		return check_draw(options, why);
	case OPTIONS_PACK:
		return check_pack(options, why);
	case OPTIONS_STORE:
		return check_report(options->store_report, why);
	case OPTIONS_PAST:
		return check_past(options, why);
	case OPTIONS_HELP:
	case OPTIONS_VERSION:
		break;
	}
	return STATUS_OK;
}
