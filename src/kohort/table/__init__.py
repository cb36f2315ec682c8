"""Tables in and out: CSV and Parquet files, polars, pandas and pyarrow frames."""

from kohort.table.read import Table, read_table
from kohort.table.types import typed_columns, typed_quasi_identifiers
from kohort.table.write import same_kind, write_table

__all__ = ["Table", "read_table", "same_kind", "typed_columns", "typed_quasi_identifiers", "write_table"]
