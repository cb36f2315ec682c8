"""The engines: in memory, on disk and in Spark; a large table is cut into partitions, each worked on alone."""
