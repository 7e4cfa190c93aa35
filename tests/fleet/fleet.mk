# SPDX-License-Identifier: Apache-2.0
# fleet.mk: many machines, as processes of this one; included by the Makefile.

build/notify-tools/ready: scripts/fetch-pypi tests/fleet/requirements.txt
	$(Q)scripts/fetch-pypi $(@D) tests/fleet/requirements.txt

.PHONY: fleet-test
fleet-test: all ## replicas, webhooks and three weeks of jobs, with kills (nginx, PostgreSQL; stand-ins of S3 and GCS from PyPI); ONLY=TEXT
	$(Q)$(MAKE) build/remote-servers/ready || echo "skipped: the stand-ins of buckets, which cannot be had from PyPI"; \
	$(MAKE) build/notify-tools/ready || echo "skipped: what Slack, Teams and CloudEvents wrote of their messages, which cannot be had from PyPI"; \
	$(PYTHON) tests/fleet/run.py --binary $(B)/memviewd $(if $(SHARED),--shared $(SHARED)) $(if $(ONLY),--only $(ONLY))
