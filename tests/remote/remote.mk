# SPDX-License-Identifier: Apache-2.0
# remote.mk: addresses of buckets and https servers; included by the Makefile.

.PHONY: remote-test bench-remote

build/remote-servers/ready: scripts/fetch-pypi tests/remote/requirements.txt
	$(Q)scripts/fetch-pypi $(@D) tests/remote/requirements.txt

remote-test: all ## gs://, s3:// and https:// against servers of others (fetches them from PyPI once)
	$(Q)$(if $(REMOTE),,echo "skipped: addresses, in a build without libcurl"; echo "0 passed, 0 failed, 1 skipped"; exit 0;) \
	$(MAKE) build/remote-servers/ready || { echo "skipped: the servers, which cannot be had from PyPI"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }; \
	build/remote-servers/bin/python tests/remote/run.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED)) $(if $(ONLY),--only $(ONLY))

bench-remote: all build/remote-servers/ready $(B)/make-trace ## how fast addresses are listed and read
	$(Q)build/remote-servers/bin/python tests/remote/bench.py --binary $(B)/memviewd --make-trace $(B)/make-trace

.PHONY: bench-objects
bench-objects: all build/remote-servers/ready ## what a bucket of a million objects costs: lists, seconds, memory (some minutes)
	$(Q)build/remote-servers/bin/python tests/bench/objects.py --binary $(B)/memviewd
