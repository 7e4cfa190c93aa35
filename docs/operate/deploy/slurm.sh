#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An array of eight tasks, each with its part of the files: sbatch docs/operate/deploy/slurm.sh. A task that is requeued does nothing
# twice. The password stands in ~/.pgpass of whom it runs as (mode 0600).
#SBATCH --job-name=memviewd-index
#SBATCH --array=0-7
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --time=01:00:00
#SBATCH --requeue
set -eu

exec memviewd index /profiles \
    --catalog=postgresql://memviewd@db.example/profiles \
    --label-path='{user}/{job}/{commit}' \
    --shard="$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
