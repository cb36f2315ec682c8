"""kohort on Spark. The only place that imports pyspark."""
