"""Tables for Spark."""

import polars as pl

KINDS = {pl.String: "string", pl.Int64: "long", pl.Float64: "double", pl.Boolean: "boolean", pl.Date: "date"}


def in_spark(spark, frame):
    schema = ", ".join(f"`{name}` {KINDS[kind]}" for name, kind in frame.schema.items())
    return spark.createDataFrame(frame.rows(), schema)
