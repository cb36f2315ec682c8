"""What two releases leave together, counted pair by pair, with sets of points for descriptions.

A release is a list of classes; a class is a box and a list of records. A box is one set of points for each
quasi-identifier, and a record one value for each sensitive column. The points stand for whatever a published value
covers, so nothing is read here.
"""

from __future__ import annotations

from itertools import product


def figures(new, old, least, k):
    """The figures of the check `intersection` for two releases that do not show the same.

    Parameters
    ----------
    new, old : list of (box, records)
        The classes of this release and of an earlier one.
    least : list of int
        Number of values of each sensitive column that a person must be left with.
    """
    pairs = failing = alone = short_of_records = 0
    short_of = [0] * len(least)
    concerned = set()
    for a, b in product(range(len(new)), range(len(old))):
        (box, here), (other_box, there) = new[a], old[b]
        if not all(mine & theirs for mine, theirs in zip(box, other_box, strict=True)):
            continue
        seen, few, too_few_records, too_few = False, False, False, [False] * len(least)
        for columns in views(len(least)):
            common = {part(record, columns) for record in here} & {part(record, columns) for record in there}
            if not common:
                continue
            seen, fails = True, False
            for records in (here, there):
                left = sum(part(record, columns) in common for record in records)
                few |= left < k
                if left < min(k, len(records)):
                    fails = too_few_records = True
            for place, column in enumerate(columns):
                left = len({combination[place] for combination in common})
                each = min(len({record[column] for record in records}) for records in (here, there))
                few |= left < least[column]
                if left < min(least[column], each):
                    fails = too_few[column] = True
            if fails:
                concerned |= {(a, i) for i, record in enumerate(here) if part(record, columns) in common}
        pairs += seen
        fails = too_few_records or any(too_few)
        failing += fails
        alone += few and not fails
        short_of_records += too_few_records
        short_of = [total + one for total, one in zip(short_of, too_few, strict=True)]
    return {
        "pairs": pairs,
        "pairs_failing": failing,
        "records_in_them": len(concerned),
        "pairs_short_of_records": short_of_records,
        "pairs_short_of": short_of,
        "pairs_short_alone": alone,
    }


def views(columns):
    """Each sensitive column alone, and all of them together."""
    alone = [(column,) for column in range(columns)]
    return [*alone, tuple(range(columns))] if columns > 1 else alone


def part(record, columns):
    return tuple(record[column] for column in columns)


def disclosed(new_class_of, old_class_of, value_of, least):
    """Persons of whom the classes they are really in leave too few values, and fewer than each class alone.

    Parameters
    ----------
    new_class_of, old_class_of : dict
        Person to class, for those who are in each release.
    value_of : dict
        Person to sensitive value, the same in both releases.
    """
    shows = []
    for class_of in (new_class_of, old_class_of):
        values = {}
        for person, name in class_of.items():
            values.setdefault(name, set()).add(value_of[person])
        shows.append(values)
    found = set()
    for person in new_class_of.keys() & old_class_of.keys():
        here, there = shows[0][new_class_of[person]], shows[1][old_class_of[person]]
        if len(here & there) < min(least, len(here), len(there)):
            found.add(person)
    return found
