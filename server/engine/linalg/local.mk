libengine_a_SOURCES += \
	server/engine/linalg/dense.h \
	server/engine/linalg/dense.c \
	server/engine/linalg/chol.h \
	server/engine/linalg/chol.c \
	server/engine/linalg/chol_envelope.h \
	server/engine/linalg/chol_envelope.c \
	server/engine/linalg/chol_block.h \
	server/engine/linalg/chol_block.c \
	server/engine/linalg/chol_rows.h \
	server/engine/linalg/chol_panel.h \
	server/engine/linalg/chol_panel.c \
	server/engine/linalg/chol_panel_work.h \
	server/engine/linalg/chol_panel_lanes.h \
	server/engine/linalg/chol_panel_1.c \
	server/engine/linalg/chol_panel_2.c \
	server/engine/linalg/chol_panel_4.c \
	server/engine/linalg/order_amd.h \
	server/engine/linalg/order_amd.c \
	server/engine/linalg/order_dissect.h \
	server/engine/linalg/order_dissect.c \
	server/engine/linalg/lu.h \
	server/engine/linalg/lu.c \
	server/engine/linalg/eigen3.h \
	server/engine/linalg/eigen.c \
	server/engine/linalg/eigen.h \
	server/engine/linalg/eigen3.c \
	server/engine/linalg/poly.h \
	server/engine/linalg/poly.c

UNIT_TESTS += \
	tests/unit/server/engine/linalg/test_chol_envelope \
	tests/unit/server/engine/linalg/test_chol_block \
	tests/unit/server/engine/linalg/test_chol_panel \
	tests/unit/server/engine/linalg/test_eigen3 \
	tests/unit/server/engine/linalg/test_factor \
	tests/unit/server/engine/linalg/test_order_dissect \
	tests/unit/server/engine/linalg/test_poly
