"""Tables of the papers that more than one test needs."""

# The only reading of the education tree that reproduces tables 3, 6, 7 and 8; the node
# "University" has no name in the paper.
FOUR_LEVELS = {
    "Senior high": {"Low": ["9th", "11th"], "HS-grad-1": ["HS-grad"]},
    "University": {"High": ["Bachelors", "Masters"]},
}
ROWS = [
    ("Bachelors", "White", "Male", 39),
    ("Bachelors", "White", "Male", 50),
    ("HS-grad", "White", "Male", 38),
    ("11th", "Black", "Male", 53),
    ("Bachelors", "Black", "Female", 28),
    ("Masters", "White", "Female", 37),
    ("9th", "Black", "Female", 49),
    ("HS-grad", "White", "Male", 52),
    ("Masters", "White", "Female", 31),
    ("Bachelors", "White", "Male", 42),
]
