/* engine.h: the engine's one door (grown below by the world room). */
#ifndef CAIRN_ENGINE_ENGINE_H
#define CAIRN_ENGINE_ENGINE_H
#include "server/base/status.h"
#endif
