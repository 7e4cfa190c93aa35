# SPDX-License-Identifier: Apache-2.0
"""Rows of objects by Ray Data or Spark: the engine divides the work and retries, `memviewd index --objects=-` is the
function from objects to rows.

  python objects_engines.py ray|spark PATH OUT < objects.txt

PATH: the folder or bucket that all objects lie below; OUT: a folder that does not exist yet. Ray writes Parquet, Spark
lines of JSON. memviewd has to be on the PATH of each worker. Load the rows by id: the last one wins.
"""

import os
import subprocess
import sys
import tempfile

BATCH = 500  # objects for each process


def index(objects, *options):
    """what memviewd prints of them; raises when one could not be read, so that the engine tries the batch again"""
    lines = "".join(f"{one}\n" for one in objects)
    done = subprocess.run(["memviewd", "index", "--objects=-", *options], input=lines, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def by_ray(objects, path, out):
    import pyarrow.parquet
    import ray

    def table_of(batch):
        with tempfile.TemporaryDirectory() as folder:
            rows = os.path.join(folder, "rows.parquet")
            index(batch["item"], "--format=parquet", "--out", rows, path)
            return pyarrow.parquet.read_table(rows)

    ray.data.from_items(objects).map_batches(table_of, batch_size=BATCH).write_parquet(out)


def by_spark(objects, path, out):
    from pyspark.sql import SparkSession

    context = SparkSession.builder.getOrCreate().sparkContext
    parts = context.parallelize(objects, max(1, len(objects) // BATCH))
    parts.mapPartitions(lambda part: index(part, path).splitlines()).saveAsTextFile(out)


def main():
    engine, path, out = sys.argv[1:]
    {"ray": by_ray, "spark": by_spark}[engine]([line.rstrip("\n") for line in sys.stdin], path, out)


if __name__ == "__main__":
    main()
