/* verbs.h: the functions of verbs.def. */
#ifndef CAIRN_CLIENTS_CLI_VERBS_H
#define CAIRN_CLIENTS_CLI_VERBS_H

#include "clients/cli/cli.h"

#define VERB(connects, name, usage, help) int verb_##name(struct cli *cli);
#include "clients/cli/verbs.def"

/* Prints totals as members of a record (verb_state.c). */
void print_totals(const struct cli *cli, const struct wire_totals *totals);

/* The number of MONITOR lines printed so far, and the callback that prints them
 * (verb_operations.c). */
uint64_t cli_monitored(void);
void cli_monitor_line(void *context, const struct msg_monitor_line *line);

/* Joints (joints.c): the head of the table; one item of the answer to JOINTS, with its id (false if
 * it is malformed); the answer to JOINT; the joints of a mirror, one line each. */
void cli_joints_head(void);
bool cli_joints_item(const struct cli *cli, struct wire_cursor *in, uint32_t *id);
/* particles.c */
bool cli_system(const struct cli *cli, struct wire_cursor *in);
bool cli_fluid(const struct cli *cli, struct wire_cursor *in);
/* Print the answers of ROBOT; of DYNAMICS; of INERTIA or JACOBIAN. False: they are malformed. */
bool cli_robot(const struct cli *cli, struct wire_cursor *in);
bool cli_dynamics(const struct cli *cli, struct wire_cursor *in);
bool cli_matrix(const struct cli *cli, struct wire_cursor *in);
/* One page of PARTICLES; sets the page's last serial number and its count. */
bool cli_particles(const struct cli *cli, struct wire_cursor *in, uint64_t *last, uint32_t *count);
/* One page of LINKS; sets its count. */
bool cli_links(const struct cli *cli, struct wire_cursor *in, uint32_t *count);
/* One page of PIECES; sets its count. */
bool cli_pieces(const struct cli *cli, struct wire_cursor *in, uint32_t *count);
void cli_joint(const struct cli *cli, struct wire_cursor *in);
void cli_watched_joints(const struct cli *cli, const struct mirror *mirror);
/* particles.c: a line for each particle system of a mirror. */
void cli_watched_particles(const struct cli *cli, const struct mirror *mirror);

/* Reads --OPTION TICK and --epoch N; *given: the option is there (verb_state.c). False with
 * cli->why set. */
MUST_CHECK bool cli_tick(struct cli *cli, const char *option, struct cairn_tick *tick, bool *given);

/* True if the first operand is a file: the verb then needs no server. */
bool cli_names_file(const struct cli *cli);

/* Copies a recording of the server to a new file here (verb_record.c). */
MUST_CHECK bool cli_recording_get(struct cli *cli, struct cairn_recording *recording,
				  const char *path);

/* The callbacks of the connection while a verb runs (verb_watch.c). */
struct cairn_callbacks verb_callbacks(struct cli *cli);

#endif
