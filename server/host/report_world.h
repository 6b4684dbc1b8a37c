/* report_world.h: fills a TICK report (report.h) with bodies, joints and particles of a world; used
 * by a host for its world, and for states of the past that were computed again. */
#ifndef CAIRN_HOST_REPORT_WORLD_H
#define CAIRN_HOST_REPORT_WORLD_H

#include "server/host/report.h"

/* Appends one body, for which `ticked->bodies` has room; with its shapes if clients may not know
 * them yet, and its contacts if these are watched. `views` has room for WIRE_BODY_CONTACTS then.
 * NO_MEMORY. */
MUST_CHECK enum status report_add_body(const struct world *world, struct tick_report *ticked,
				       struct contact_view *views, body_id id, uint8_t why);
/* Every body, as created. NO_MEMORY. */
MUST_CHECK enum status report_add_bodies(const struct world *world, struct tick_report *ticked,
					 struct contact_view *views);
/* Appends one joint, for which `ticked->joint_list` has room. */
MUST_CHECK enum status report_add_joint(const struct world *world, struct tick_report *ticked,
					joint_id id, uint8_t why);
/* Every joint, as created. NO_MEMORY. */
MUST_CHECK enum status report_add_joints(const struct world *world, struct tick_report *ticked);
/* Every system and every particle. NO_MEMORY. */
MUST_CHECK enum status report_add_particles(const struct world *world, struct tick_report *ticked);

/* The whole state of the world, in an empty report. NO_MEMORY: the report is to be released. */
MUST_CHECK enum status report_world(const struct world *world, struct report_choice choice,
				    struct tick_report *out);

#endif
