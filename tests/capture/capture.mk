# SPDX-License-Identifier: Apache-2.0
# capture.mk: traces of running jobs; included by the Makefile.

.PHONY: capture-test capture-real

build/capture-servers/ready: scripts/fetch-pypi tests/capture/requirements.txt
	$(Q)scripts/fetch-pypi $(@D) tests/capture/requirements.txt

capture-test: all ## memviewd capture and its button against a server that stands in for a job's (fetches h2 from PyPI once)
	$(Q)$(if $(REMOTE),,echo "skipped: captures, in a build without libcurl"; echo "0 passed, 0 failed, 1 skipped"; exit 0;) \
	$(MAKE) build/capture-servers/ready || { echo "skipped: the server, which cannot be had from PyPI"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }; \
	build/capture-servers/bin/python tests/capture/run.py --binary $(B)/memviewd $(if $(ONLY),--only $(ONLY))

capture-real: all ## memviewd capture of a JAX job on the CPU (fetches JAX from PyPI once)
	$(Q)$(if $(REMOTE),,echo "skipped: captures, in a build without libcurl"; echo "0 passed, 0 failed, 1 skipped"; exit 0;) \
	$(MAKE) build/jax/ready || { echo "skipped: JAX, which cannot be had from PyPI"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }; \
	$(PYTHON) tests/capture/real.py --binary $(B)/memviewd --python build/jax/bin/python
