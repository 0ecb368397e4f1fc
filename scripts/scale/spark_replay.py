#!/usr/bin/env python3
"""Replays journals with Spark: spark_replay.py MODEGATE FOLDER OUT [MODES]

Each partition is a list of files. Its worker runs one `modegate replay --json` on them and returns a row per decision.
The result is a Parquet table in OUT. A session must be in one file, or its files in one partition.
"""
import json
import pathlib
import subprocess
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType

ROW = StructType([
    StructField("session", StringType(), False), StructField("file", StringType(), False), StructField("line", LongType(), False),
    StructField("event", StringType(), False), StructField("verdict", StringType(), False), StructField("change", StringType(), False),
    StructField("reason", StringType()), StructField("gates", ArrayType(StringType()), False),
])


def replayer(modegate, modes):
    """A function for `mapPartitions`: paths in, rows out."""
    def replay(paths):
        paths = list(paths)
        if not paths:
            return
        command = [modegate, "replay", "--json", "--threads", "1", "--modes", modes, *paths]
        # One process per partition, read as it prints: only one row is in memory at a time, not the whole output.
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            for line in process.stdout:
                row = json.loads(line)
                if "change" in row:
                    yield (row["session"], row["file"], row["line"], row["event"], row["verdict"], row["change"], row.get("reason"), row.get("gates", []))
        # 1 means that a decision differs; anything else fails the task, and Spark runs it again.
        if process.returncode not in (0, 1):
            raise RuntimeError(f"modegate replay exits with {process.returncode}")
    return replay


def main():
    modegate, folder, out = sys.argv[1:4]
    modes = str(pathlib.Path(sys.argv[4]).resolve()) if len(sys.argv) > 4 else "recorded"
    # On a cluster, list the objects of a bucket here, and let each worker fetch its own.
    paths = sorted(str(path.resolve()) for path in pathlib.Path(folder).rglob("*.jsonl"))
    spark = SparkSession.builder.appName("modegate replay").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    begun = time.time()
    partitions = max(2, len(paths) // 100)
    rows = spark.sparkContext.parallelize(paths, partitions).mapPartitions(replayer(modegate, modes))
    spark.createDataFrame(rows, ROW).write.mode("overwrite").parquet(out)
    table = spark.read.parquet(out)
    count = table.count()
    print(f"{count} decisions of {len(paths)} files in {partitions} partitions, {time.time() - begun:.1f} s")
    for row in table.groupBy("change", "verdict").count().orderBy("change", "verdict").collect():
        print(f"  {row['change']:<16} {row['verdict']:<6} {row['count']}")
    spark.stop()


if __name__ == "__main__":
    main()
