/* joint.c: a joint's coordinates, errors and rows. */
#include "server/engine/dynamics/joint.h"
