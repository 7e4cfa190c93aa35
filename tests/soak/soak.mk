# SPDX-License-Identifier: Apache-2.0
# soak.mk: long runs, a system that fails, and memory that is refused to the core; included by the Makefile.

.PHONY: soak soak-test faults-test refused-test

soak-test: all ## 64 clients for 40 s on files that change, then 10,000 silent connections
	$(Q)$(PYTHON) tests/soak/soak.py --binary $(B)/memviewd

soak: all ## the same for MINUTES=30
	$(Q)$(PYTHON) tests/soak/soak.py --binary $(B)/memviewd --seconds $$(($(or $(MINUTES),30) * 60))

# One of each kind of file; the error text comes before the program that it is of.
refused_corpus := $(addprefix torch_snapshot/,annotated as-json page zip-wide zip-gzip zip-job trace-3) gzip/xspace-two-programs.pb-two-members \
    hlo_parts/both-texts oom/families-00 edit/kv.before_optimizations.hlo.pb
refused_dump := tests/fixtures/dumps/seed-matmul-327680
refused_files := $(refused_dump)/error.txt $(wildcard $(refused_dump)/*.after_optimizations.hlo.pb) tests/fixtures/memprof/memory1.prof \
    $(addprefix build/fixtures/,hlo-two-buffers.pb trace-gpu-programs.pb trace-holes.pb) $(refused_corpus:%=build/corpus/%)
refused_names := malloc calloc realloc free inflateInit2_ inflateCopy arena_raw arena_alloc arena_grown arena_text arena_child arena_resize
$(B)/soak/refused: $(addprefix $(B)/tests/soak/,refused.o refused_memory.o refused_things.o) $(core_obj)
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) $(refused_names:%=-Wl,--wrap=%) -o $@ $^ $(LIBS)

refused-test: $(B)/soak/refused build/corpus/made ## memory that is refused to the core at each place (PLACES=200 in full, and as many more)
	$(Q)$(B)/soak/refused --places=$(or $(PLACES),200) $(refused_files)

# Nothing of the build's own flags: as the stand-in for libtpu.
$(B)/soak/faulty.so: tests/soak/faulty.c
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	$(Q)$(CC) -std=gnu11 $(warnings) -D_GNU_SOURCE -O1 -g -fPIC -shared -o $@ $< -ldl

faults-test: all $(B)/soak/faulty.so ## calls of the system that fail under a running daemon (EVERY=1: at more places)
	$(Q)$(PYTHON) tests/soak/faults.py --binary $(B)/memviewd --faulty $(B)/soak/faulty.so $(if $(EVERY),--every)

-include $(wildcard $(B)/tests/soak/*.d)
