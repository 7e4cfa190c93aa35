# SPDX-License-Identifier: Apache-2.0
# golden.mk: our answers beside those of others; included by the Makefile.

golden: all $(if $(SHARED),build/golden/logdir) ## XProf's recorded answers (to the subset in tests/fixtures without ../shared, as the next ones)
	$(Q)$(PYTHON) tests/golden/run.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED))

golden-fixtures: all fixtures ## XProf's answers about the text fixtures
	$(Q)$(PYTHON) tests/golden/fixtures.py --binary $(B)/memviewd

golden-oom: all ## figures of recorded out-of-memory texts (those of ../shared too when it is there)
	$(Q)$(PYTHON) tests/golden/oom.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED))

golden-compare: all ## two programs whose equal buffers are known (../shared): how many bytes find their partner
	$(Q)$(PYTHON) tests/golden/compare.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED))

golden-pprof: all ## pprof's recorded answers about device profiles (those of ../shared too when it is there)
	$(Q)scripts/pprof-compare check --binary $(B)/memviewd
	$(Q)$(if $(SHARED),scripts/pprof-compare check --binary $(B)/memviewd --golden $(SHARED)/golden/pprof.json.gz --profiles $(SHARED)/data/memprof)

$(B)/regex_lines: $(B)/tests/golden/regex_lines.o $(filter $(B)/analysis/base/%,$(core_obj))
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

build/re2/ready: scripts/fetch-pypi
	$(Q)scripts/fetch-pypi build/re2 google-re2==1.1.20251105

golden-regex: $(B)/regex_lines build/re2/ready ## our regular expressions against RE2 (fetches google-re2 from PyPI once)
	$(Q)build/re2/bin/python tests/golden/regex_against_re2.py --driver $(B)/regex_lines

golden-profile: all $(B)/make-trace $(if $(SHARED),build/golden/logdir) ## memory over time against the traces themselves, made ones and those of ../shared
	$(Q)$(PYTHON) tests/golden/memory_profile.py --binary $(B)/memviewd --make-trace $(B)/make-trace $(if $(SHARED),--shared $(SHARED) --logdir build/golden/logdir)

golden-torch golden-torch-categories golden-torch-causes: all ## allocator snapshots of PyTorch against Python's pickle, their categories against PyTorch's own words, causes against programs that have them
	$(Q)$(PYTHON) tests/golden/torch_$(if $(filter %categories,$@),categories,$(if $(filter %causes,$@),causes,snapshot)).py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED))

$(B)/snapshot_rows: $(B)/tests/golden/snapshot_rows.o $(core_obj)
	@echo "  LINK  $@"
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(LIBS)

build/memory-viz/ready: scripts/fetch-memory-viz tests/golden/memory-viz.txt
	$(Q)scripts/fetch-memory-viz $(@D) tests/golden/memory-viz.txt

golden-memory-viz: all $(B)/snapshot_rows build/memory-viz/ready ## allocator snapshots against PyTorch's own tool for them (fetches it from PyPI once)
	$(Q)$(PYTHON) tests/golden/memory_viz.py --binary $(B)/memviewd --rows $(B)/snapshot_rows --memory-viz build/memory-viz/_memory_viz.py \
	    $(if $(SHARED),--shared $(SHARED))

golden-torch-trace: all ## traces of torch.profiler with memory events against their JSON, a recorded one and made ones
	$(Q)$(PYTHON) tests/golden/torch_trace.py --binary $(B)/memviewd

golden-torch-replay: all ## the caching allocator's rules on snapshots against what was recorded, and against runs with other settings
	$(Q)$(PYTHON) tests/golden/torch_replay.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED))

golden-capacity: all ## every face names one capacity of a program
	$(Q)$(PYTHON) tests/golden/capacity.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED)) $(if $(PART),--part $(PART))
golden-gpu: all ## jobs that ran on an H100, against what JAX and PyTorch printed there
	$(Q)$(PYTHON) tests/golden/gpu.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED))

golden-whose: all ## whose memory it is, against programs whose truth is known
	$(Q)$(PYTHON) tests/golden/whose.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED))

whatif: all ## what changes save, predicted, against programs that were really changed (needs ../shared)
	$(Q)$(PYTHON) tests/golden/whatif.py --binary $(B)/memviewd --shared $(or $(SHARED),../shared)

golden-verdict: all ## what happened and what will make it fit, against dumps whose truth is known
	$(Q)$(PYTHON) tests/golden/verdict.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED))

golden-marginal: all ## what buffers and groups would save, against adding up again without them
	$(Q)$(PYTHON) tests/golden/marginal.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED))

golden-text-dumps: all ## texts that XLA dumps against the protos of the same programs (needs ../shared)
	$(Q)$(PYTHON) tests/golden/text_dumps.py --binary $(B)/memviewd --shared $(or $(SHARED),../shared)

xla-reports: all ## what the compiler and JAX say about the same programs
	$(Q)$(PYTHON) tests/golden/xla_reports.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED))

differences: all build/golden/logdir ## every difference that docs/reference/xprof-differences.md lists (needs ../shared)
	$(Q)$(PYTHON) tests/golden/differences.py --binary $(B)/memviewd --shared $(or $(SHARED),../shared) --logdir build/golden/logdir

build/golden/logdir:
	@mkdir -p $(@D)
	$(Q)rm -rf $@.part && $(or $(SHARED),../shared)/tools/make-logdir $@.part && mv $@.part $@
