"""The search for a partition of low loss: an order and its best cut, then local search."""
