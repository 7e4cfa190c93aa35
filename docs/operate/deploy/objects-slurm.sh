#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An array of eight tasks, each of which takes every eighth line of objects.txt (paths or addresses) and writes one file of rows:
# sbatch docs/operate/deploy/objects-slurm.sh. A task that is requeued writes the same file again.
#SBATCH --job-name=memviewd-objects
#SBATCH --array=0-7
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --time=01:00:00
#SBATCH --requeue
set -eu -o pipefail

awk "NR % $SLURM_ARRAY_TASK_COUNT == $SLURM_ARRAY_TASK_ID" objects.txt |
    memviewd index --objects=- --label-path='{user}/{job}/{commit}' --out "rows-$SLURM_ARRAY_TASK_ID.ndjson" /profiles
