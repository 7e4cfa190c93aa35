# SPDX-License-Identifier: Apache-2.0
# Every command of the project; `make help` lists them. Words as options:
#   CC=gcc|clang   DEBUG=1   SAN=address,undefined|thread   COV=1   WERROR=1   V=1 (print commands)   REMOTE=   CATALOG=   FLEET=0

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

ifeq ($(origin CC),default)
CC := gcc
endif
Q := $(if $(V),,@)
PYTHON := python3
export PYTHONDONTWRITEBYTECODE := 1
SHARED := $(wildcard ../shared)

include scripts/systems.mk

# ---- variants: one folder each ------------------------------------------------
compiler := $(if $(findstring clang,$(CC)),-clang,)
variant := $(if $(made),$(if $(MACOS),$(made),static-$(STATIC)),$(if $(FUZZ),fuzz,$(if $(SAN),$(if $(filter thread,$(SAN)),tsan,asan),$(if $(COV),coverage,$(if $(DEBUG),debug,release))))$(if $(FUZZ),,$(compiler)$(if $(has_fleet),,-fleetless)))
B := build/$(variant)

warnings := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith -Wconversion \
            $(if $(MACOS),-Wno-enum-float-conversion) $(if $(WERROR),-Werror)
release_flags := -O3 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong
debug_flags := -O0 -g3
# All that a report of a sanitizer prints.
lines_only := $(if $(compiler),-gline-tables-only,-g1)
comma := ,
asan_flags := -O1 $(lines_only) -fsanitize=$(SAN)$(if $(findstring undefined,$(SAN)),$(comma)float-cast-overflow) -fno-sanitize-recover=all -fno-omit-frame-pointer
tsan_flags := -O1 $(lines_only) -fsanitize=thread -fno-omit-frame-pointer
coverage_flags := -O1 --coverage
fuzz_flags := -O1 -g -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all
mode_flags := $($(firstword $(subst -, ,$(variant)))_flags)

packages := libmicrohttpd libcjson zlib nettle libprotobuf-c $(if $(MACOS),,libseccomp) $(if $(made),zig) $(optional_packages)
VERSION := $(shell cat VERSION)
COMMIT := $(shell git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null)
package_flags := $(shell $(pkg_config) --cflags $(packages))
# What the licences and --version name: the packages that are linked, with their versions.
package_versions := $(foreach package,$(packages),$(package)=$(shell $(pkg_config) --modversion $(package)))
includes := -I. -Ianalysis -Ibuild/gen
CPPFLAGS += -D_GNU_SOURCE= $(includes) $(if $(STATIC),-DMEMVIEWD_STATIC)
CFLAGS_ALL = -std=gnu11 $(warnings) $(mode_flags) -fPIE -pthread $(package_flags) $(CFLAGS)
LDFLAGS_ALL = $(filter -fsanitize=% --coverage,$(mode_flags)) $(hardening) -pthread $(LDFLAGS)
LIBS := $(shell $(pkg_config) --libs $(packages)) -lm
UNIT_LIBS = $(shell pkg-config --libs check)

# ---- sources: found, not listed -------------------------------------------------
core_src := $(sort $(call of_system,$(shell find analysis -name '*.c')))
server_src := $(sort $(call of_system,$(shell find server -name '*.c')))
gen_src := $(B)/web_files.c $(B)/demo_files.c $(B)/inject_files.c $(if $(has_fleet),$(B)/schema_files.c)
# Written by protoc-c for the edits of analysis/edit: with its warnings off.
messages := hlo xla_data
message_headers := $(messages:%=build/gen/%.pb-c.h)
core_obj := $(core_src:%.c=$(B)/%.o) $(messages:%=$(B)/gen/%.pb-c.o)
server_obj := $(server_src:%.c=$(B)/%.o) $(gen_src:.c=.o)
fields := $(addprefix build/gen/,xplane.fields.h hlo.fields.h memory_usage_report.fields.h profile.fields.h compile.fields.h profiler_service.fields.h)

unit_src := $(wildcard tests/unit/*.c)
fuzz_names := $(basename $(notdir $(filter-out tests/fuzz/driver.c tests/fuzz/ask.c tests/fuzz/ask_trace.c tests/fuzz/ask_modules.c tests/fuzz/ask_verdict.c,$(wildcard tests/fuzz/*.c))))
fuzz_programs := $(fuzz_names:%=$(B)/fuzz/%)
fixture_text := $(wildcard tests/fixtures/text/*.textproto)
fixture_pb := $(fixture_text:tests/fixtures/text/%.textproto=build/fixtures/%.pb)

.PHONY: all fleetless-test fleetless-run test-programs of-several-lanes analyze debs deb-test tarballs bench-run python-real python-test python-types-test run-real run-launchers run-test mcp-test mcp-client-test compile-test confirm confirm-gpu bench-page debug run demo test unit golden golden-fixtures golden-oom golden-compare golden-profile golden-pprof golden-regex golden-memory-viz golden-torch golden-torch-categories golden-torch-causes golden-torch-trace golden-torch-replay golden-whose golden-gpu golden-capacity golden-verdict golden-marginal golden-text-dumps whatif xla-reports differences probe-test probe-numbers probe-torch matrix-test answers-compare http-test typed-client-test metrics-format-test proxy-test catalog-test generated-requests-test web-test licences-test wheels wheel-test manual install install-test \
        check asan tsan fuzz fuzz-replay fuzz-run fuzz-programs sweep replay-run reached-lines bench bench-torch-tools coverage coverage-run \
        screenshots fixtures format clean help compdb core

# ---- building --------------------------------------------------------------------
all: $(B)/memviewd ## build build/release/memviewd (CC=clang: build/release-clang/)

# So that a name that has changed is noticed by whoever changes it, not by the longest steps of a test run.
test_programs_obj := $(patsubst %.c,$(B)/%.o,$(filter-out tests/soak/faulty.c tests/confirm/standin.c,$(shell find tests -name '*.c')))
test-programs: $(test_programs_obj) ## compile the programs of all tests

# What lanes of scripts/test that run beside each other would each make, at once.
of-several-lanes: all fixtures $(B)/make-trace $(B)/confirm/drive $(B)/confirm/standin.so build/corpus/made tests/web/node_modules/.package-lock.json \
    $(if $(SHARED),build/golden/logdir)

debug: ## build build/debug/memviewd, not optimised
	$(Q)$(MAKE) DEBUG=1 all

core: $(core_obj) ## compile the analysis core only

# What a debugger needs goes into memviewd.debug beside it; sanitizers and coverage want it inside.
split_debug = $(if $(filter release%,$(notdir $(B))),objcopy --only-keep-debug $@ $@.debug && strip --strip-unneeded $@ && \
    objcopy --add-gnu-debuglink=$@.debug $@)

$(B)/memviewd: $(core_obj) $(server_obj)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)
	$(Q)$(split_debug)

ifdef STATIC
STATIC_PREFIX := $(CURDIR)/build/static/$(STATIC)
all: $(B)/memviewd-compile
# A static program loads no library; this one does for it, linked with a glibc no newer than libtpu's own.
$(B)/memviewd-compile: packaging/compile.c $(addprefix server/,compile/compile_child.c sandbox/sandbox.c sandbox/landlock.c sandbox/seccomp.c base/descriptors.c base/memory.c base/system.c) $(addprefix analysis/base/,buf.c err.c printable.c)
	@echo "  LINK  $@"
	$(Q)$(STATIC_PREFIX)/bin/glibc-cc -std=gnu11 $(warnings) -O2 -fstack-protector-strong -D_GNU_SOURCE= $(includes) -s -pie -Wl,-z,relro,-z,now -o $@ $^ -I$(STATIC_PREFIX)/include $(STATIC_PREFIX)/lib/libseccomp-glibc.a -ldl
endif

$(B)/%.o: %.c | $(fields) $(message_headers)
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# Written anew only when it says something else; by a name of this make's own, for lanes of tests run others beside it.
$(B)/build_info.h: FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$; { echo '#define BUILD_INFO_VERSION "$(VERSION)"'; echo '#define BUILD_INFO_COMMIT "$(COMMIT)"'; \
	    echo "#define BUILD_INFO_LIBRARIES \"$$(printf '%s\n' $(package_versions) | tr = ' ' | paste -sd, | sed 's/,/, /g')\""; } >$$new; \
	    cmp -s $$new $@ && rm $$new || mv $$new $@
$(B)/server/base/version.o: $(B)/build_info.h
$(B)/server/base/version.o: CPPFLAGS += -include $(B)/build_info.h $(if $(has_fleet),,-DMEMVIEWD_FLEETLESS)

$(B)/%_files.o: $(B)/%_files.c
	@echo "  CC    $<"
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

build/gen/%.pb-c.c build/gen/%.pb-c.h: proto/%.proto
	@mkdir -p $(@D)
	$(Q)protoc-c -Iproto --c_out=build/gen $<

$(B)/gen/%.pb-c.o: build/gen/%.pb-c.c $(message_headers)
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(CPPFLAGS) $(filter-out -W%,$(CFLAGS_ALL)) -w -c -o $@ $<

build/gen/hlo.fields.h: proto/hlo.proto proto/xla_data.proto scripts/gen-fields
	@mkdir -p $(@D)
	$(Q)scripts/gen-fields proto/hlo.proto proto/xla_data.proto > $@

build/gen/%.fields.h: proto/%.proto scripts/gen-fields
	@mkdir -p $(@D)
	$(Q)scripts/gen-fields $< > $@

include scripts/embed.mk

-include $(core_obj:.o=.d) $(server_obj:.o=.d) $(wildcard $(B)/tests/golden/*.d $(B)/tests/unit/*.d $(B)/tests/confirm/*.d $(B)/tests/fuzz/*.d $(B)/tests/bench/trace/*.d)
.SECONDARY:

# ---- running -----------------------------------------------------------------------
run: all ## serve LOGDIR=… (pages from web/, so that a reload shows an edit)
	$(B)/memviewd --web-dir=web $(if $(LOGDIR),--logdir=$(LOGDIR),--demo) --port=$(or $(PORT),6006)

demo: all ## serve the demo that is compiled in
	$(B)/memviewd --demo --port=$(or $(PORT),6006)

# ---- tests ---------------------------------------------------------------------------
test: ## the quick tests, as scripts/test but installing nothing (TESTS=--all: every test)
	scripts/test --no-install $(TESTS)

# The longest first, so that no processor is left with it at the end.
unit_all := $(unit_src:tests/unit/%.c=$(B)/unit/%)
unit_programs := $(filter %/oom_variants,$(unit_all)) $(filter-out %/oom_variants,$(unit_all))
unit_chosen := $(if $(ONLY),$(foreach program,$(unit_programs),$(if $(findstring $(ONLY),$(notdir $(program))),$(program))),$(unit_programs))
unit: $(unit_chosen) fixtures ## unit tests (check); ONLY=TEXT: programs with TEXT in their name; PART=0/4:SEED: of long rows of cases a quarter
	$(Q)scripts/run-unit $(filter $(B)/unit/%,$^)

$(B)/unit/cgroups: $(B)/server/base/cgroups.o $(B)/server/base/memory.o
$(B)/unit/clock: $(B)/server/base/clock.o
$(B)/unit/access: $(addprefix $(B)/server/,http/access.o http/token.o base/memory.o)
$(B)/unit/dump_limit: $(addprefix $(B)/server/,run/dump_limit.o run/dump_files.o compile/folder.o files/names.o base/clock.o base/memory.o)
$(B)/unit/ordered_work: $(addprefix $(B)/server/base/,ordered_work.o memory.o)
$(B)/unit/run_folder: $(B)/server/run/run_folder.o $(B)/server/compile/folder.o $(B)/server/base/memory.o
remote_obj := $(filter $(B)/server/files/remote/%,$(server_obj))
box_obj := $(addprefix $(B)/server/,files/beneath.o files/opener.o sandbox/helper.o sandbox/helper_message.o sandbox/sandbox.o sandbox/landlock.o sandbox/seccomp.o base/descriptors.o base/memory.o base/system.o)
$(B)/unit/tree: $(remote_obj) $(addprefix $(B)/server/,gather/tree.o gather/tree_archive.o gather/tree_list.o gather/tree_remote.o gather/watch.o files/names.o files/archive_path.o files/path_spelling.o files/files.o files/files_joined.o base/clock.o base/log.o base/process.o base/wanted.o) $(box_obj)
$(B)/unit/watch: $(addprefix $(B)/server/,gather/watch.o base/clock.o base/log.o base/memory.o)
$(B)/unit/sandbox $(B)/unit/seccomp: $(box_obj)
$(B)/unit/beneath: $(box_obj)
$(B)/unit/disk_cache: $(addprefix $(B)/server/,store/disk_cache.o store/sha256.o base/clock.o base/memory.o)
$(B)/unit/cache: $(addprefix $(B)/server/,store/cache.o base/clock.o base/memory.o base/wanted.o)
$(B)/unit/aws_process $(B)/unit/http_client $(B)/unit/remote: $(remote_obj) $(filter $(B)/server/base/% $(B)/server/sandbox/helper%,$(server_obj))
$(B)/unit/notice_form $(B)/unit/notify $(B)/unit/reading $(B)/unit/rows $(B)/unit/unpacked: $(filter-out $(B)/server/cmd/%,$(server_obj))
$(B)/unit/sha256: $(B)/server/store/sha256.o
$(B)/unit/unpacked: LDFLAGS += -Wl,--wrap=inflateInit2_ -Wl,--wrap=gzip_whole_inflate
$(B)/unit/job_list: $(addprefix $(B)/server/,http/job_list.o http/request.o store/upload.o store/account.o store/cache.o base/cgroups.o base/clock.o base/memory.o base/wanted.o)
$(B)/unit/%: $(B)/tests/unit/%.o $(B)/core.a
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter-out %.a,$^) $(filter %.a,$^) $(LIBS) $(UNIT_LIBS)

# Of the core a unit test is linked with what it uses, which takes a third of the time. Thin: it names the objects.
$(B)/core.a: $(core_obj)
	$(Q)rm -f $@ && ar rcsT $@ $^

# Of the server the drive is linked with server/compile and what that needs.
$(B)/server.a: $(server_obj)
	$(Q)rm -f $@ && ar rcsT $@ $^

$(B)/confirm/drive: $(B)/tests/confirm/drive.o $(B)/server.a $(B)/core.a
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

# Nothing of the build's own flags: it is loaded by a program with or without sanitizers.
$(B)/confirm/standin.so: tests/confirm/standin.c server/compile/pjrt.h
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(Q)$(CC) -std=gnu11 $(warnings) -D_GNU_SOURCE -I. -O1 -g -fPIC -shared -o $@ $<

compile-test: all $(B)/confirm/drive $(B)/confirm/standin.so fixtures ## compiling with a libtpu that is faulty on purpose
	$(Q)$(PYTHON) tests/confirm/standin.py --drive $(B)/confirm/drive --standin $(B)/confirm/standin.so --module build/fixtures/hlo-two-buffers.pb \
	    --binary $(B)/memviewd

build/libtpu/ready: scripts/fetch-pypi tests/confirm/requirements.txt
	$(Q)scripts/fetch-pypi $(@D) tests/confirm/requirements.txt

confirm: all $(B)/confirm/drive ## programs, unchanged and changed, compiled by libtpu (LIBTPU=PATH, else fetched from PyPI once; EVERY=1: all of ../shared)
	$(Q)$(if $(LIBTPU),,$(MAKE) build/libtpu/ready ||) $(if $(LIBTPU),true,{ echo "skipped: libtpu, which cannot be had from PyPI"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }); \
	$(PYTHON) tests/confirm/libtpu.py --drive $(B)/confirm/drive --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED)) \
	    $(if $(EVERY),--every) --libtpu $(or $(LIBTPU),$$(echo build/libtpu/lib/python3*/site-packages))

build/cuda-plugin/ready: scripts/fetch-pypi tests/confirm/requirements-cuda.txt
	$(Q)scripts/fetch-pypi $(@D) tests/confirm/requirements-cuda.txt

confirm-gpu: all $(B)/confirm/drive ## programs for GPUs compiled by JAX's CUDA plug-in without one (PLUGIN=PATH, else fetched from PyPI once, 190 MB; EVERY=1: all of ../shared, an hour)
	$(Q)$(if $(SHARED),,echo "skipped: programs for GPUs need ../shared"; echo "0 passed, 0 failed, 1 skipped"; exit 0;) \
	$(if $(PLUGIN),,$(MAKE) build/cuda-plugin/ready ||) $(if $(PLUGIN),true,{ echo "skipped: the CUDA plug-in, which cannot be had from PyPI"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }); \
	$(PYTHON) tests/confirm/cuda.py --drive $(B)/confirm/drive --binary $(B)/memviewd --shared $(SHARED) \
	    $(if $(EVERY),--every) --plugin $(or $(PLUGIN),$$(echo build/cuda-plugin/lib/python3*/site-packages))

run-test: all fixtures ## memviewd run around stand-ins for jobs
	$(Q)$(PYTHON) tests/run/run.py --binary $(B)/memviewd $(if $(ONLY),--only $(ONLY))

mcp-test: all ## memviewd mcp over its pipes: the protocol, hostile lines, tools compared with the commands
	$(Q)$(PYTHON) tests/mcp/run.py --binary $(B)/memviewd $(if $(ONLY),--only "$(ONLY)")

build/mcp/ready: scripts/fetch-pypi tests/mcp/requirements.txt
	$(Q)scripts/fetch-pypi $(@D) tests/mcp/requirements.txt

mcp-client-test: all build/mcp/ready ## memviewd mcp driven by the official Python SDK (fetches it from PyPI once)
	$(Q)build/mcp/bin/python tests/mcp/client.py --binary $(B)/memviewd

build/jax/ready: scripts/fetch-pypi tests/run/requirements.txt
	$(Q)scripts/fetch-pypi $(@D) tests/run/requirements.txt

jax_and_libtpu = --python build/jax/bin/python --libtpu $$(echo build/libtpu/lib/python3*/site-packages)
run-real: all fixtures ## memviewd run around JAX, on CPU and compiled for TPU (fetches both from PyPI once)
	$(Q)$(MAKE) build/jax/ready build/libtpu/ready || { echo "skipped: JAX and libtpu, which cannot be had from PyPI"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }; \
	$(PYTHON) tests/run/real.py --binary $(B)/memviewd $(jax_and_libtpu)

build/launchers/ready: scripts/fetch-pypi tests/run/launchers.txt
	$(Q)scripts/fetch-pypi $(@D) tests/run/launchers.txt

run-launchers: all ## memviewd run around Ray, a kernel of Jupyter and uv (fetches them from PyPI once, 100 MB)
	$(Q)$(MAKE) build/launchers/ready || { echo "skipped: Ray, Jupyter and uv, which cannot be had from PyPI"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }; \
	$(PYTHON) tests/run/launchers.py --binary $(B)/memviewd --python build/launchers/bin/python

probe-test: probe-numbers probe-torch ## small inputs with one thing changed: what is said of them (EVERY=1: all variants; SEED=N, ONLY=TEXT, KEEP=FOLDER)
probe-numbers: all fixtures
	$(Q)$(PYTHON) tests/probe/run.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED)) $(if $(EVERY),--every) $(if $(SEED),--seed $(SEED)) \
	    $(if $(ONLY),--only "$(ONLY)") $(if $(KEEP),--keep $(KEEP))
probe-torch: all
	$(Q)$(PYTHON) tests/probe/torch_odd.py --binary $(B)/memviewd $(if $(EVERY),--every) $(if $(SEED),--seed $(SEED))

python-test: all ## the Python package: the real program, a stand-in for JAX
	$(Q)$(PYTHON) tests/python/run.py --binary $(B)/memviewd $(if $(ONLY),--only $(ONLY))

build/mypy/ready: scripts/fetch-pypi tests/python/mypy.txt
	$(Q)scripts/fetch-pypi $(@D) tests/python/mypy.txt

python-types-test: build/mypy/ready ## type hints of the Python package, as mypy sees them (fetches mypy from PyPI once)
	$(Q)build/mypy/bin/python tests/python/check_types.py

build/ipython/ready: scripts/fetch-pypi tests/python/requirements.txt
	$(Q)scripts/fetch-pypi $(@D) tests/python/requirements.txt

python-real: all ## the Python package with JAX on CPU and for TPU, and in IPython (fetches them from PyPI once)
	$(Q)$(MAKE) build/jax/ready build/libtpu/ready build/ipython/ready || { echo "skipped: JAX, libtpu and IPython, which cannot be had from PyPI"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }; \
	PYTHONPATH=$$(echo build/libtpu/lib/python3*/site-packages | xargs realpath):$$(echo build/ipython/lib/python3*/site-packages | xargs realpath) \
	    build/jax/bin/python tests/python/run.py --here --binary $(B)/memviewd --pattern real.py $(if $(ONLY),--only $(ONLY))

bench-run: all build/jax/ready build/libtpu/ready ## what memviewd run costs a program that fits
	$(Q)$(PYTHON) tests/run/cost.py --binary $(B)/memviewd $(jax_and_libtpu) $(if $(ROUNDS),--rounds $(ROUNDS))

include tests/golden/golden.mk

matrix-test: all ## every kind of input, whole, cut, empty, damaged, gone, without room, asked of every command and view (EVERY=1: all; SEED=N, ONLY=TEXT)
	$(Q)$(PYTHON) tests/matrix/run.py --binary $(B)/memviewd $(if $(EVERY),--every) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only "$(ONLY)")

answers-compare: all ## members of answers in which another build differs: OLD=BINARY (ALLOW="REGEX …": those that are meant to; ONLY=TEXT: questions with TEXT in their name)
	$(Q)$(PYTHON) tests/matrix/answers.py --old $(OLD) --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED)) $(if $(ONLY),--only "$(ONLY)") $(foreach each,$(ALLOW),--allow "$(each)")

http-test: all fixtures $(B)/confirm/standin.so ## both JSON surfaces against the running daemon; ONLY=TEXT: tests with TEXT in their name, PART=0/2:SEED: half of them
	$(Q)$(PYTHON) tests/http/run.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED)) $(if $(JOBS),--jobs $(JOBS)) $(if $(ONLY),--only $(ONLY)) $(if $(PART),--part $(PART))

build/openapi-tools/ready: scripts/fetch-pypi tests/http/requirements.txt
	$(Q)scripts/fetch-pypi $(@D) tests/http/requirements.txt

typed-client-test: all build/openapi-tools/ready $(if $(SHARED),build/golden/logdir) ## a client generated from docs/openapi.yaml (fetches the generator from PyPI once)
	$(Q)build/openapi-tools/bin/python tests/http/typed_client.py --binary $(B)/memviewd --client build/typed-client $(if $(SHARED),--logdir build/golden/logdir)

proxy-test: all ## behind nginx, as docs/operate/proxy.md says
	$(Q)$(PYTHON) tests/http/proxy.py --binary $(B)/memviewd

fleetless-test: ## memviewd built with FLEET=0: it links no libpq, says what it lacks, does the rest
	$(Q)$(MAKE) FLEET=0 fleetless-run
fleetless-run: all fixtures
	$(Q)$(PYTHON) tests/packaging/fleetless.py --binary $(B)/memviewd

include tests/soak/soak.mk
include tests/catalog/catalog.mk
include tests/fleet/fleet.mk
include tests/rows/rows.mk
include tests/remote/remote.mk
include tests/capture/capture.mk

metrics-format-test: all build/openapi-tools/ready ## GET /metrics read by Prometheus' own library (fetches it from PyPI once)
	$(Q)build/openapi-tools/bin/python tests/http/metrics_format.py --binary $(B)/memviewd

generated-requests-test: all build/openapi-tools/ready ## requests that schemathesis makes up from docs/openapi.yaml (fetches it from PyPI once)
	$(Q)build/openapi-tools/bin/python tests/http/generated_requests.py --binary $(B)/memviewd --work build/generated-requests

tests/web/node_modules/.package-lock.json: tests/web/package-lock.json
	@echo "  NPM   tests/web"
	$(Q)cd $(@D)/.. && npm ci --no-audit --no-fund --silent && touch node_modules/.package-lock.json

xprof-page-test: all tests/web/node_modules/.package-lock.json ## XProf's own pages on our answers (fetches them from PyPI once)
	$(Q)scripts/fetch-xprof-page build/xprof-page
	$(Q)node tests/web/xprof_page.mjs --binary $(B)/memviewd --static build/xprof-page

web-test: all fixtures $(B)/confirm/standin.so tests/web/node_modules/.package-lock.json ## the pages in headless Chromium (CASES=--walks: the main ones; ONLY=TEXT: cases with TEXT in their name; PART=0/2:SEED: half of them)
	$(Q)node tests/web/run.mjs --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED)) $(CASES) $(if $(ONLY),--only "$(ONLY)") $(if $(PART),--part $(PART))

build/reuse/ready: scripts/fetch-pypi tests/packaging/reuse.txt
	$(Q)scripts/fetch-pypi $(@D) tests/packaging/reuse.txt

licences-test: build/reuse/ready ## copyright holder and licence of every file, as REUSE asks (fetches it from PyPI once)
	$(Q)build/reuse/bin/reuse lint

manual: ## manual pages and completions of bash, zsh and fish in build/manual
	$(Q)scripts/make-manual build/manual

PREFIX := /usr/local
share := $(DESTDIR)$(PREFIX)/share
install: all manual ## the binary, manual pages, completions, licences and units of systemd below DESTDIR and PREFIX (/usr/local)
	$(Q)install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin $(B)/memviewd $(if $(STATIC),$(B)/memviewd-compile)
	$(Q)install -D -m 644 -t $(share)/man/man1 build/manual/*.1
	$(Q)install -D -m 644 build/manual/memviewd.bash $(share)/bash-completion/completions/memviewd
	$(Q)install -D -m 644 -t $(share)/zsh/site-functions build/manual/_memviewd
	$(Q)install -D -m 644 -t $(share)/fish/vendor_completions.d build/manual/memviewd.fish
	$(Q)install -D -m 644 -t $(share)/doc/memviewd LICENSE CHANGELOG.md $(B)/licenses.txt
	$(Q)install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	$(Q)for unit in packaging/systemd/*; do \
	    sed 's|@BINDIR@|$(PREFIX)/bin|' $$unit >$(DESTDIR)$(PREFIX)/lib/systemd/system/$${unit##*/}; done

install-test: all ## the files that make install installs, its manual pages and completions
	$(Q)$(PYTHON) tests/packaging/install.py

ARCHS ?= x86_64 aarch64
each_arch = for arch in $(ARCHS); do $(1) $$arch || exit; done

wheels: ## build/wheels, for x86_64 and aarch64 (or ARCHS), with static binaries (fetches a compiler from PyPI and Debian's sources once)
	$(Q)rm -rf build/wheels; $(call each_arch,scripts/make-wheel)

wheel-test: fixtures $(B)/confirm/standin.so ## the wheels and tarballs, and what is installed from them (ARCHS=x86_64: that alone; EVERY=1: every http test)
	$(Q)scripts/build-static --fetch || { echo "skipped: the wheels, whose compiler and libraries cannot be had"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }; \
	$(MAKE) build/remote-servers/ready; \
	$(MAKE) wheels tarballs ARCHS="$(ARCHS)" && $(PYTHON) tests/packaging/wheel.py --wheels build/wheels --tarballs build/tarballs $(if $(SHARED),--shared $(SHARED)) $(if $(EVERY),--every)

SUITES ?= bookworm trixie
debs: ## build/deb, packages of what is committed for Debian 12 and 13 (or SUITES), each built in a fresh system (mmdebstrap)
	$(Q)for suite in $(SUITES); do scripts/make-deb $$suite || exit; done

deb-test: ## these packages, installed by apt-get in bare systems (SUITES=trixie: that alone)
	$(Q)$(MAKE) debs SUITES="$(SUITES)" && $(PYTHON) tests/packaging/deb.py --debs build/deb $(SUITES)

tarballs: ## build/tarballs, for the same: the static binary with manual pages, completions and licences
	$(Q)rm -rf build/tarballs; $(call each_arch,scripts/make-tarball)

check: $(core_obj) $(fields) $(message_headers) tests/web/node_modules/.package-lock.json ## layers, symbols, headers, names, sizes, format, names of the pages
	$(Q)scripts/check-all $(B)

analyze: $(fields) $(message_headers) $(B)/build_info.h ## no warning of clang's and GCC's analysers (some ten minutes; ANALYSERS=gcc: three; PART=0/2:SEED: half of the sources)
	$(Q)printf '%s\n' $(core_src) $(server_src) | PART=$(PART) scripts/analyze "$(or $(ANALYSERS),clang gcc)" -std=gnu11 $(CPPFLAGS) $(package_flags) -include $(B)/build_info.h

tsan: ## the daemon's tests under ThreadSanitizer
	$(Q)$(MAKE) SAN=thread http-test

asan: ## unit and http tests and the sweep under ASan and UBSan
	$(Q)$(MAKE) SAN=address,undefined CC=clang unit http-test sweep

# A target with the plain driver, or with libFuzzer's.
$(B)/fuzz/%: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/ask.o $(B)/tests/fuzz/ask_trace.o $(B)/tests/fuzz/ask_modules.o $(B)/tests/fuzz/ask_verdict.o $(if $(FUZZ),,$(B)/tests/fuzz/driver.o) $(core_obj)
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) $(if $(FUZZ),-fsanitize=fuzzer) -o $@ $^ $(LIBS)

build/corpus/made: scripts/make-corpus scripts/corpus_programs.py tests/golden/oom_families.json tests/golden/torch_trace.py $(wildcard tests/golden/*_snapshots.py) $(fixture_pb) $(shell find tests/programs/patched -name '*.py') $(shell find tests/fixtures -type f ! -path '*/text/*' | sed 's/ /\\ /g')
	$(Q)scripts/make-corpus build/corpus
	@touch $@

fuzz-programs: $(fuzz_programs) build/corpus/made
sweep: fuzz-programs ## every input cut at every byte and with flipped bytes
	$(Q)scripts/replay --work=$(or $(WORK),2) $(fuzz_programs)

fuzz: ## every target for SECONDS=60 under clang's libFuzzer
	$(Q)$(MAKE) FUZZ=1 CC=clang fuzz-run
fuzz-run: $(fuzz_programs) build/corpus/made
	$(Q)scripts/fuzz $(or $(SECONDS),60) $(fuzz_programs)

fuzz-replay: ## replay corpus, crashes and mutations; at least 85 % of each decoder's lines
	$(Q)$(MAKE) COV=1 replay-run
	$(Q)$(MAKE) COV=1 reached-lines
replay-run: $(fuzz_programs) build/corpus/made
	@find $(B) -name '*.gcda' -delete
	$(Q)scripts/replay --work=$(or $(WORK),4) $(fuzz_programs)
reached-lines:
	$(Q)scripts/coverage --least=85 $(B) $(filter analysis/read/% analysis/wire/%,$(core_src))

coverage: ## lines reached by the unit tests and the replay, per file
	$(Q)$(MAKE) COV=1 coverage-run
coverage-run: $(fuzz_programs) build/corpus/made
	@find $(B) -name '*.gcda' -delete
	-$(Q)$(MAKE) COV=1 unit
	$(Q)scripts/replay --work=1 $(fuzz_programs)
	$(Q)scripts/coverage $(B) $(core_src)

# ---- measuring -----------------------------------------------------------------------------
bench-torch-tools: all ## allocator snapshots beside memory_viz and Mosaic: MEMORY_VIZ=FILE SNAPSHOTS="FILE…" MOSAIC_PYTHON=… MOSAIC=FOLDER
	$(Q)$(PYTHON) tests/bench/beside_memory_viz.py --binary $(B)/memviewd --memory-viz $(MEMORY_VIZ) \
	    $(if $(MOSAIC),--mosaic $(MOSAIC_PYTHON) --mosaic-folder $(MOSAIC)) $(SNAPSHOTS)

bench: all ## speed and memory on real inputs (needs ../shared); XPROF=path and PPROF=path measure those beside it
	$(Q)$(PYTHON) tests/bench/oom.py --binary $(B)/memviewd
	$(Q)$(PYTHON) tests/bench/saving.py --binary $(B)/memviewd --shared ../shared
	$(Q)$(PYTHON) tests/bench/whatif.py --binary $(B)/memviewd
	$(Q)$(PYTHON) tests/bench/profiles.py --binary $(B)/memviewd --shared ../shared $(if $(PPROF),--pprof $(PPROF))
	$(Q)$(PYTHON) tests/bench/bench.py --binary $(B)/memviewd --shared ../shared $(if $(XPROF),--xprof $(XPROF))

bench-converter: all ## processor time of memviewd index beside XProf's converter, in one run (XPROF_PYTHON=V/bin/python of an environment with xprof; needs ../shared)
	$(Q)$(PYTHON) tests/bench/beside_converter.py --binary $(B)/memviewd --shared $(or $(SHARED),../shared) --xprof-python $(XPROF_PYTHON)

bench-page: all tests/web/node_modules/.package-lock.json ## opening links (OLD=PATH: beside another build), 100,000 buffers, 100,000 samples (needs ../shared)
	$(Q)node tests/bench/page/opening.mjs --binary $(B)/memviewd $(if $(OLD),--old $(OLD))
	$(Q)node tests/bench/page/viewer.mjs --binary $(B)/memviewd
	$(Q)node tests/bench/page/device.mjs --binary $(B)/memviewd --shared $(or $(SHARED),../shared)

screenshots: all fixtures tests/web/node_modules/.package-lock.json ## pictures of every page in build/screenshots, the README's in docs
	$(Q)node tests/web/screenshots.mjs --binary $(B)/memviewd --readme docs
	$(Q)node tests/web/screenshots.mjs --binary $(B)/memviewd --out build/screenshots

ifneq ($(made),) # it runs on this machine
$(B)/make-trace: $(wildcard tests/bench/trace/*.c) | $(fields)
	@mkdir -p $(@D)
	$(Q)gcc -std=gnu11 -O2 $(CPPFLAGS) -o $@ $^ -lm
else
$(B)/make-trace: $(patsubst %.c,$(B)/%.o,$(wildcard tests/bench/trace/*.c))
	@echo "  LINK  $@" >&2
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ -lm
endif

# ---- fixtures and the rest --------------------------------------------------------------------
fixtures: $(fixture_pb) ## encode tests/fixtures/text into build/fixtures
build/fixtures/%.pb: tests/fixtures/text/%.textproto $(wildcard proto/*.proto)
	@mkdir -p $(@D)
	$(Q)protoc -Iproto --encode=$$(sed -n 's/^# proto-message: //p' $<) $$(sed -n 's/^# proto-file: //p' $<) < $< > $@

format: ## every C, Python and JavaScript file as its formatter writes it
	$(Q)scripts/check-format --fix

clean: ## remove build/
	rm -rf build

compdb: ## compile_commands.json for clangd
	$(Q)scripts/compile-commands

# Begin here, then the rest by the headings of this file.
first_steps := all demo unit
help: ## this list
	@echo "Begin here:"
	@$(foreach target,$(first_steps),grep -hE '^$(target):.*##' Makefile | sed 's/:.*##/\t/' | expand -t 14 | sed 's/^/  /';)
	@awk '/^# ---- /{gsub(/^# -+ | -+$$/, ""); heading = $$0} \
	    /^[a-z-]+:.*##/{name = $$0; sub(/:.*/, "", name); sub(/.*## /, ""); if (" $(first_steps) " ~ " " name " ") next; \
	    if (heading != "") {printf "\n%s:\n", toupper(substr(heading, 1, 1)) substr(heading, 2); heading = ""} printf "  %-24s %s\n", name, $$0}' $(filter %Makefile %.mk,$(MAKEFILE_LIST))
