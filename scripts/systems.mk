# SPDX-License-Identifier: Apache-2.0
# What is compiled for another system than this one, or with other libraries: STATIC=x86_64|aarch64 (any Linux) and MACOS=x86_64|aarch64, by
# scripts/build-static with the compiler and the libraries that it made.

made := $(or $(STATIC),$(MACOS:%=macos-%))
ifneq ($(made),)
CC := $(CURDIR)/build/static/$(made)/bin/cc
pkg_config := PKG_CONFIG_LIBDIR=build/static/$(made)/lib/pkgconfig pkg-config
else
pkg_config := pkg-config
endif
export ZIG_GLOBAL_CACHE_DIR ?= $(CURDIR)/build/static/zig-cache
export ZIG_LOCAL_CACHE_DIR ?= $(CURDIR)/build/static/zig-cache
static_flags := -O3 -fstack-protector-strong
macos_flags := -O2 -fstack-protector-strong
hardening := $(if $(MACOS),,-pie $(if $(STATIC),-static -s) -Wl,-z,relro,-z,now)

# NAME_other.c stands in for NAME.c where the system is not Linux; these have nothing in their place there.
linux_only := server/sandbox/landlock.c server/sandbox/seccomp.c
of_files = $(if $(MACOS),$(filter-out $(linux_only) $(patsubst %_other.c,%.c,$(filter %_other.c,$1)),$1),$(filter-out %_other.c,$1))

# What a build may lack: buckets and https where libcurl, Expat or the public-key part of Nettle is missing, or with REMOTE=; the catalog in PostgreSQL where libpq
# is, or with CATALOG=; speed where libdeflate is; and with FLEET=0 all that many jobs take: index, catalog, notifications, the page Fleet. NAME_none.c then stands in for NAME.c. Elsewhere libcurl brings its TLS and HTTP/2 along, and GMP computes for Nettle.
remote_packages := libcurl expat hogweed $(if $(made),mini-gmp mbedtls libnghttp2,gmp)
REMOTE := $(shell $(pkg_config) --exists $(remote_packages) 2>/dev/null && echo yes)
FLEET := 1
has_fleet := $(filter-out 0,$(FLEET))
CATALOG := $(if $(has_fleet),$(shell $(pkg_config) --exists libpq 2>/dev/null && echo yes))
DEFLATE := $(shell $(pkg_config) --exists libdeflate 2>/dev/null && echo yes)
optional_packages := $(if $(DEFLATE),libdeflate) $(if $(REMOTE),$(remote_packages)) $(if $(CATALOG),libpq)
left_out_of_deflate := analysis/wire/$(if $(DEFLATE),gzip_whole_none.c,gzip_whole.c)
needs_libpq := $(addprefix server/fleet/catalog/,catalog.c catalog_connection.c catalog_facts.c catalog_needs.c catalog_notices.c catalog_regressions.c catalog_runs.c catalog_schema.c catalog_write.c)
left_out_of_remote = $(if $(REMOTE),server/files/remote/%_none.c,$(patsubst %_none.c,%.c,$(filter server/files/remote/%_none.c,$1)))
left_out_of_catalog = $(if $(CATALOG),server/fleet/catalog/catalog_none.c,$(needs_libpq))
# Without fleet: of its folders what a question to no catalog takes, and the stand-ins.
instead_of_fleet := server/fleet/fleet_none.c server/api/api_fleet_none.c server/cmd/cmd_index_none.c
left_out_of_fleet = $(if $(has_fleet),$(instead_of_fleet),$(filter-out $(instead_of_fleet) $(addprefix server/fleet/catalog/,catalog_none.c \
    catalog_answer.c content_hash.c),$(filter server/fleet/%,$1)) $(patsubst %_none.c,%.c,$(filter-out server/fleet/%,$(instead_of_fleet))) server/cmd/index_objects.c server/cmd/object_lines.c)
of_libraries = $(filter-out $(left_out_of_deflate) $(left_out_of_remote) $(left_out_of_catalog) $(left_out_of_fleet),$1)
of_system = $(call of_libraries,$(call of_files,$1))

.PHONY: macos-compile
macos-compile: ## memviewd compiled and linked for macOS, where it has not been run; ARCHS=aarch64: that alone (fetches a compiler from PyPI and Debian's sources once)
	$(Q)scripts/build-static --fetch || { echo "skipped: macOS, whose compiler and libraries cannot be had"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }; \
	scripts/compile-macos $(ARCHS)
