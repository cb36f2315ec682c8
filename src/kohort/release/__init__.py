"""Making a release: plan, prepare, solve, write, verify."""
