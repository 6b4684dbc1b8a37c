/* check_files.h: what `cairnd --check-config` does beyond the options: it opens the files that
 * they name. */
#ifndef CAIRN_COMMANDS_CHECK_FILES_H
#define CAIRN_COMMANDS_CHECK_FILES_H

#include "server/options.h"

/* Reads the tokens, the certificate with its key and the scenes as a start would, and checks
 * that the directories of --data and --web-files can be used. Changes nothing. The reason names
 * the option in `field`, and in a scene the line. */
MUST_CHECK enum status check_files(const struct options *options, struct reason *why);

#endif
