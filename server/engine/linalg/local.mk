libengine_a_SOURCES += \
	server/engine/linalg/dense.h \
	server/engine/linalg/chol.h \
	server/engine/linalg/lu.h \
	server/engine/linalg/ldl.h \
	server/engine/linalg/eigen3.h \
	server/engine/linalg/poly.h
