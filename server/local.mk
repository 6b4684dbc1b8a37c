# server/*.c but main.c, and the rooms of the daemon that stand below the sessions.
include server/io/local.mk
include server/tick/local.mk
