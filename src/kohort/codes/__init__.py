"""From a table to whole numbers, and back: columns become codes, records boxes, boxes published values."""
