/* main.c: cairnd: reads the options, then serves or runs a command. Serving, in order: drop
 * privileges, io and threads, server, tokens, certificate, signals, listeners, web, watchdog.
 * SIGHUP reads certificate, tokens and options again; SIGTERM and SIGINT drain, a second one ends
 * at once. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "server/commands/check_files.h"
#include "server/commands/command_words.h"
#include "server/commands/compare_command.h"
#include "server/commands/draw_command.h"
#include "server/commands/mesh_command.h"
#include "server/commands/pack_command.h"
#include "server/commands/past_command.h"
#include "server/commands/replay_command.h"
#include "server/commands/run.h"
#include "server/commands/scene_command.h"
#include "server/commands/stability_command.h"
#include "server/commands/store_command.h"
#include "server/io/config_file.h"
#include "server/io/executor_uv.h"
#include "server/io/io_uv.h"
#include "server/io/log.h"
#include "server/io/notify.h"
#include "server/io/privileges.h"
#include "server/io/secret_file.h"
#include "server/options.h"
#include "server/server.h"
#include "server/web/web.h"

extern char **environ;

static int print_failure(const struct reason *why)
{
	command_refused("", "", why->field, why);
	return EXIT_FAILURE;
}

/* Reads the tokens file. A file with a mistake changes nothing. */
static enum status load_tokens(struct server *server, struct reason *why)
{
	struct bytes text = { 0 };
	const char *path = server->service.options->tokens;
	if (path == NULL)
		return STATUS_OK;
	enum status status = secret_file_read(path, KEYRING_FILE_MAX, "tokens", &text, why);
	if (status == STATUS_OK)
		status = keyring_load(&server->service.keyring, (const char *)text.data, text.count,
				      why);
	if (text.count > 0)
		memset(text.data, 0, text.count);
	bytes_release(&text);
	if (status == STATUS_OK)
		server_revoke(server);
	if (status == STATUS_OK)
		log_info("tokens_loaded", "bearers=%u keys=%u",
			 server->service.keyring.bearers.count, server->service.keyring.keys.count);
	return status;
}

/* Reads the certificate and its key, at the start and at SIGHUP. */
static enum status load_certificate(struct server *server, struct reason *why)
{
	const struct options *options = server->service.options;
	if (options->tls.count == 0)
		return STATUS_OK;
	if (server->service.tls != NULL)
		return tls_context_reload(server->service.tls, options->tls_cert, options->tls_key,
					  why);
	return tls_context_create(options->tls_cert, options->tls_key, &server->service.tls, why);
}

/* The parts that signal handlers use. */
struct signal_targets {
	struct server *server;
	struct web *web; /* NULL without --web and --admin */
};

/* The arguments, from which SIGHUP reads the options again. */
static int main_argc;
static char **main_argv;

/* True if the command line gives the option, which then outranks the file's. */
static bool on_command_line(const char *name)
{
	size_t length = strlen(name);
	for (int i = 1; i < main_argc; i++)
		if (strncmp(main_argv[i], "--", 2) == 0 &&
		    strncmp(main_argv[i] + 2, name, length) == 0 &&
		    (main_argv[i][2 + length] == '\0' || main_argv[i][2 + length] == '='))
			return true;
	return false;
}

/* Reads the options anew into `out` (which keeps pointing into `file`). */
static enum status read_options(struct options *out, struct config_file *file, struct reason *why)
{
	const char *const *argv = (const char *const *)main_argv;
	const char *const *environment = (const char *const *)environ;
	const char *path = options_config_path(main_argc, argv, environment);
	if (path != NULL && config_file_read(file, path, why) != STATUS_OK)
		return why->status;
	enum status status = options_parse_with(out, main_argc, argv, environment,
						(const char *const *)file->settings, why);
	if (status != STATUS_OK && path != NULL && !on_command_line(why->field))
		config_file_locate(file, path, why);
	return status;
}

/* Refuses, by name, the first option that differs and needs a restart. */
static enum status check_live(const struct options *now, const struct options *next,
			      struct reason *why)
{
	struct option_view old, new;
	for (uint32_t i = 0; options_view(now, i, &old) && options_view(next, i, &new); i++)
		if (!old.live && strcmp(old.value, new.value) != 0)
			return reason_set(
				why, STATUS_UNSUPPORTED, -1, old.name,
				"%s needs a restart to become \"%.60s\"; nothing was changed",
				old.name, new.value);
	return STATUS_OK;
}

/* Applies the present values of file and environment, all or none. They also replace values set by
 * CONFIG. */
static enum status reload_options(struct server *server, struct reason *why)
{
	static struct options next;
	struct config_file file = { 0 };
	struct option_view view;
	enum status status = read_options(&next, &file, why);
	if (status == STATUS_OK)
		status = check_live(server->service.options, &next, why);
	for (uint32_t i = 0; status == STATUS_OK && options_view(&next, i, &view); i++)
		if (view.live)
			status =
				options_change(server->service.options, view.name, view.value, why);
	config_file_release(&file);
	log_set_level(server->service.options->log_level);
	return status;
}

static void reload(struct signal_targets *parts)
{
	struct reason why = { 0 };
	struct server *server = parts->server;
	if (load_certificate(server, &why) != STATUS_OK ||
	    web_reload(parts->web, &why) != STATUS_OK)
		log_error("reload_refused", "text=%s", LOG_TEXT(why.text));
	if (load_tokens(server, &why) != STATUS_OK)
		log_error("reload_refused", "text=%s", LOG_TEXT(why.text));
	if (reload_options(server, &why) != STATUS_OK)
		log_error("reload_refused", "text=%s", LOG_TEXT(why.text));
	else
		log_info("reloaded", "log=%s", log_level_name(server->service.options->log_level));
}

static void on_signal(void *context, int signal)
{
	struct signal_targets *parts = context;
	if (parts->server == NULL)
		return; /* the server has been destroyed already */
	if (signal == SIGHUP)
		reload(parts);
	if (signal == SIGTERM || signal == SIGINT) {
		notify_send("STOPPING=1");
		server_drain(parts->server);
	}
}

static struct executor_options executor_options_of(const struct options *options)
{
	struct executor_options executor = executor_options_default();
	if (options->workers != 0)
		executor.workers = (uint32_t)options->workers;
	executor.step_workers = (uint32_t)options->step_workers;
	executor.fifo_priority = (int)options->fifo;
	return executor;
}

static struct io_limits io_limits_of(const struct options *options, uint32_t streams_max)
{
	struct io_limits limits = io_limits_default;
	limits.streams_max = streams_max;
	limits.queue_bytes = (uint32_t)options->queue_bytes;
	limits.send_buffer = (uint32_t)options->send_buffer;
	limits.user_timeout_ms = (uint32_t)options->user_timeout_ms;
	return limits;
}

/* Reports to systemd's watchdog that the loop runs. */
struct watchdog {
	struct io *io;
	struct io_timer *timer;
	uint64_t every; /* ns */
};

static void on_watchdog(void *context)
{
	struct watchdog *self = context;
	notify_send("WATCHDOG=1");
	io_timer_start(self->timer, io_now(self->io) + self->every);
}

static enum status watchdog_start(struct watchdog *self, struct io *io)
{
	*self = (struct watchdog){ io, NULL, notify_watchdog_ms() * NS_PER_MS };
	if (self->every == 0)
		return STATUS_OK;
	enum status status = io_timer_create(io, on_watchdog, self, &self->timer);
	if (status == STATUS_OK)
		on_watchdog(self);
	return status;
}

/* File descriptors of the process itself, and of each world with a file: the file, its log, its
 * shared memory, and one while it is made. */
enum { OWN_DESCRIPTORS = 256, WORLD_DESCRIPTORS = 4 };

/* Raises the limit of file descriptors as far as the system allows, up to what all sessions and
 * worlds need, and returns how many sessions fit. Where they do not suffice, worlds get up to two
 * thirds of them, because a connection can be refused, but a write to a journal must not fail. */
static uint32_t raise_descriptors(const struct options *options)
{
	struct rlimit limit;
	rlim_t web = options->web != NULL ? WEB_HEADERS_MAX : 0;
	rlim_t reserved = WORLD_DESCRIPTORS * (rlim_t)options->worlds_max + OWN_DESCRIPTORS + web;
	rlim_t wanted = (rlim_t)options->sessions_max + reserved;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return (uint32_t)options->sessions_max;
	if (limit.rlim_cur < wanted) {
		limit.rlim_cur = MIN_OF(wanted, limit.rlim_max);
		if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
			(void)getrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur >= wanted)
		return (uint32_t)options->sessions_max;
	rlim_t sessions = limit.rlim_cur - MIN_OF(reserved, limit.rlim_cur / 3 * 2);
	sessions = MIN_OF(sessions, (rlim_t)options->sessions_max);
	log_warn("descriptors", "limit=%llu wanted=%llu sessions=%llu",
		 (unsigned long long)limit.rlim_cur, (unsigned long long)wanted,
		 (unsigned long long)sessions);
	return (uint32_t)MAX_OF(sessions, 1u);
}

static int run_server(struct options *options)
{
	log_start();
	struct io_limits limits = io_limits_of(options, raise_descriptors(options));
	struct executor_options threads = executor_options_of(options);
	struct io *io = NULL;
	struct executor *executor = NULL;
	struct server *server = NULL;
	struct signal_targets parts = { NULL, NULL };
	struct watchdog watchdog = { 0 };
	struct reason why = { 0 };
	enum status status =
		options->user != NULL ? privileges_drop(options->user, &why) : STATUS_OK;
	/* After privileges_drop, because changing the user makes the process debuggable again. */
	if (status == STATUS_OK && !options->debuggable)
		status = privileges_seal(&why);
	if (status != STATUS_OK)
		return print_failure(&why);
	status = io_uv_create(&limits, &io);
	if (status == STATUS_OK)
		status = executor_uv_create(io, &threads, &executor);
	if (status != STATUS_OK)
		reason_set(&why, status, -1, "threads", "%s", status_text(status));
	if (status == STATUS_OK)
		status = server_create(io, executor, options, (uint32_t)getuid(), &server, &why);
	parts.server = server;
	if (status == STATUS_OK)
		status = load_tokens(server, &why);
	if (status == STATUS_OK)
		status = load_certificate(server, &why);
	if (status == STATUS_OK)
		status = io_set_signals(io, on_signal, &parts);
	if (status == STATUS_OK)
		status = server_start(server, &why);
	if (status == STATUS_OK)
		status = web_create(&server->service, io_uv_loop(io), &parts.web, &why);
	if (status == STATUS_OK)
		status = watchdog_start(&watchdog, io);
	if (status == STATUS_OK) {
		notify_send("READY=1\nSTATUS=serving");
		io_run(io);
	}
	/* The loop runs no more, and a thread may be in a long job: a second signal ends the process. */
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	if (watchdog.timer != NULL)
		io_timer_destroy(watchdog.timer);
	if (server != NULL)
		server_destroy(server);
	parts.server = NULL;
	if (executor != NULL)
		executor_destroy(executor);
	web_destroy(parts.web);
	if (io != NULL)
		io_uv_destroy(io);
	if (status != STATUS_OK)
		return print_failure(&why);
	log_info("stopped", "status=ok");
	log_flush();
	return EXIT_SUCCESS;
}

static int print_help(enum options_command command)
{
	static char text[16384];
	options_help(command, text, sizeof text);
	fputs(text, stdout);
	return EXIT_SUCCESS;
}

static int print_version(void)
{
	char text[MOTION_TEXT_MAX];
	struct motion_numbers numbers = engine_motion();
	motion_text(&numbers, text);
	printf("cairnd %s (%s)\n", PACKAGE_VERSION, text);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct options options;
	static struct config_file file; /* the options point into it */
	struct reason why;
	main_argc = argc;
	main_argv = argv;
	command_refusals_begin(argc, argv);
	if (read_options(&options, &file, &why) != STATUS_OK)
		return print_failure(&why);
	switch (options.command) {
	case OPTIONS_HELP:
		return print_help(options.help_for);
	case OPTIONS_VERSION:
		return print_version();
	case OPTIONS_RUN:
		log_set_level(options.run_log_level);
		return run_scene(&options);
	case OPTIONS_COMPARE:
		log_set_level(LOG_WARN);
		return compare_command(&options);
	case OPTIONS_REPLAY:
		log_set_level(options.replay_log_level);
		return replay_command(&options);
	case OPTIONS_MESH:
		return mesh_command(&options);
	case OPTIONS_STABILITY:
		log_set_level(LOG_WARN);
		return stability_command(&options);
	case OPTIONS_SCENE:
		return scene_command(&options);
	case OPTIONS_DRAW:
		log_set_level(LOG_WARN);
		return draw_command(&options);
	case OPTIONS_PACK:
		return pack_command(&options);
	case OPTIONS_STORE:
		return store_command(&options);
	case OPTIONS_PAST:
		return past_command(&options);
	case OPTIONS_SERVE:
		break;
	}
	log_set_level(options.log_level);
	if (options.check_config) {
		const char *path = options_config_path(argc, (const char *const *)argv,
						       (const char *const *)environ);
		if (check_files(&options, &why) != STATUS_OK) {
			if (path != NULL && !on_command_line(why.field))
				config_file_locate(&file, path, &why);
			return print_failure(&why);
		}
		puts("cairnd: the options are valid, and the files they name can be used");
		return EXIT_SUCCESS;
	}
	return run_server(&options);
}
