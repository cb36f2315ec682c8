"""The command line: parse, call, render. Each command is a thin skin over a library call."""
