# The real daemon with real sockets and clients: docs/TESTING.md, "system tests".
PYTHON_TESTS += \
	tests/system/test_cli.py \
	tests/system/test_compare.py \
	tests/system/test_disk.py \
	tests/system/test_export.py \
	tests/system/test_extremes.py \
	tests/system/test_past.py \
	tests/system/test_fairness.py \
	tests/system/test_files.py \
	tests/system/test_full_disk.py \
	tests/system/test_gallery.py \
	tests/system/test_hostile.py \
	tests/system/test_installed_files.py \
	tests/system/test_killed.py \
	tests/system/test_library.py \
	tests/system/test_limits.py \
	tests/system/test_log.py \
	tests/system/test_looks.py \
	tests/system/test_mesh.py \
	tests/system/test_names.py \
	tests/system/test_metrics_names.py \
	tests/system/test_museum.py \
	tests/system/test_operations.py \
	tests/system/test_recipes.py \
	tests/system/test_recordings.py \
	tests/system/test_refusals.py \
	tests/system/test_profile.py \
	tests/system/test_replica.py \
	tests/system/test_robots.py \
	tests/system/test_same_history.py \
	tests/system/test_run.py \
	tests/system/test_scene_folder.py \
	tests/system/test_servos.py \
	tests/system/test_sessions.py \
	tests/system/test_stalled.py \
	tests/system/test_stepping.py \
	tests/system/test_tls.py \
	tests/system/test_tokens.py \
	tests/system/test_fluids.py \
	tests/system/test_fluid_scenes.py \
	tests/system/test_particles.py \
	tests/system/test_robot_queries.py \
	tests/system/test_pack.py \
	tests/system/test_piles.py \
	tests/system/test_draw.py \
	tests/system/test_frameworks.py \
	tests/system/test_stability.py \
	tests/system/test_tutorials.py \
	tests/system/test_unit_file.py \
	tests/system/test_web.py
# Of the Python tests those in which many clients, files or long steps keep several threads of the daemon busy: these
# also run under ThreadSanitizer.
THREAD_PYTHON_TESTS = \
	clients/python/tests/test_aio.py \
	clients/python/tests/test_client.py \
	clients/python/tests/test_streams.py \
	tests/system/test_bot.py \
	tests/system/test_disk.py \
	tests/system/test_fairness.py \
	tests/system/test_hostile.py \
	tests/system/test_killed.py \
	tests/system/test_operations.py \
	tests/system/test_past.py \
	tests/system/test_profile.py \
	tests/system/test_recordings.py \
	tests/system/test_replica.py \
	tests/system/test_sessions.py \
	tests/system/test_stalled.py \
	tests/system/test_stepping.py \
	tests/system/test_tls.py \
	tests/system/test_web.py
EXTRA_DIST += tests/system/support.py tests/system/hostile_rows.py tests/data/museum

# make soak-kill: kill -9 at a thousand random instants (KILLS) under racing clients; some ten minutes; not part of check.
.PHONY: soak-kill
soak-kill: cairnd cairn
	KILLS=$${KILLS:-1000} CAIRN_SRCDIR=$(abs_top_srcdir) CAIRN_BUILDDIR=$(abs_top_builddir) \
		$(PYTHON) -m pytest -q -s -p no:cacheprovider $(top_srcdir)/tests/system/test_killed.py

# make soak: half an hour of clients of all kinds; not part of check.
SOAK_MINUTES = 30
.PHONY: soak
soak: cairnd cairn-bot
	$(PYTHON) $(top_srcdir)/tests/system/soak $(abs_top_srcdir) $(abs_top_builddir) $(SOAK_MINUTES)
EXTRA_DIST += tests/system/soak
