"""Hierarchy files: the rows of ARX, and nested TOML.

All faults of a file are reported together, by row and cell; labels are never quoted.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections import Counter
from pathlib import Path

from kohort.common.regular import regular
from kohort.errors import DataError
from kohort.policy.hierarchy.grow import Fault, Place, grow, refuse
from kohort.policy.hierarchy.nested import TOO_DEEP, leaf_paths
from kohort.policy.hierarchy.taxonomy import ROOT, Taxonomy

DELIMITERS = (";", "\t", ",", "|")

_HOW_TO_WRITE = "write one row per value: the value, its coarser labels and the root, separated by semicolons."


def read(path: str | Path, column: str) -> Taxonomy:
    """Read a hierarchy file, by its suffix: ``.csv``, ``.tsv``, ``.txt`` or ``.toml``."""
    suffix = Path(path).suffix.lower()
    if suffix == ".toml":
        return read_toml(path, column)
    if suffix in (".csv", ".tsv", ".txt"):
        return read_csv(path, column)
    place = Place.of(column, Path(path).name)
    raise DataError(place.fault("the kind of file is not known; name it .csv (ARX rows) or .toml (nested).")[1])


def read_csv(path: str | Path, column: str) -> Taxonomy:
    r"""Read rows in the layout of ARX: value, ever coarser labels, root; no header.

    The delimiter (semicolon, comma, tab or bar) is found from the rows. Cells may be quoted with ``"``,
    lines may end in LF or CRLF, and the file may start with a byte order mark; it must be UTF-8.

    Raises
    ------
    DataError
        With one sentence per fault: rows of unequal length, empty cells, values given twice, labels with two
        parents or at two places, several roots, or a file that cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "sex.csv")
    ...     _ = file.write_text("Female;*\nMale;*\n")
    ...     read_csv(file, "sex")
    <Taxonomy of 'sex': 2 leaves, 3 nodes, 2 levels>
    """
    place = Place.of(column, Path(path).name, row="row", cell="cell")
    rows = _split(_text(Path(path), place), place)
    if not rows:
        raise DataError(place.fault(f"is empty; {_HOW_TO_WRITE}")[1])
    width = Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
    model = next(number for number, cells in rows if len(cells) == width)
    if all(len(cells) == 1 for _, cells in rows):
        raise DataError(place.fault(f"has one cell in every row; {_HOW_TO_WRITE}")[1])
    faults: list[Fault] = []
    paths, numbers = [], []
    for number, cells in rows:
        if len(cells) == width:
            paths.append(cells)
            numbers.append(number)
        else:
            has = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            sentence = f"has {has} where row {model} has {width}; give every row the same number of levels."
            faults.append(place.fault(sentence, number))
    return Taxonomy(*grow(paths, place, numbers, faults), column)


def read_toml(path: str | Path, column: str) -> Taxonomy:
    """Read a nested hierarchy: tables name branches, lists hold leaves.

    A list may hold tables among its leaves, for branches beside leaves. ``root`` may be left out::

        root = "*"

        [tree]
        Lung = ["Asthma", "Flu"]
        Other = ["Fever", { Skin = ["Acne", "Eczema"] }]

        [tree.Heart]
        Acute = ["Infarction"]
        Chronic = ["Angina"]

    Where leaves stand directly under the root, ``tree`` itself is such a list:
    ``tree = ["Healthy", { Lung = ["Asthma", "Flu"] }]``.

    Raises
    ------
    DataError
        With one sentence per fault; leaves and labels are counted in reading order.
    """
    place = Place.of(column, Path(path).name, row="leaf")
    try:
        content = tomllib.loads(_text(Path(path), place))
    except RecursionError:
        raise DataError(place.fault(TOO_DEEP)[1]) from None
    except tomllib.TOMLDecodeError as error:
        # the parser's own words may quote keys, which are labels here: keep the position alone
        at = re.search(r"at (line \d+|end of document)[^()]*\)$", str(error))
        where = f" at {at[1]}" if at else ""
        raise DataError(place.fault(f"is not valid TOML{where}; correct it there.")[1]) from None
    root, tree = content.pop("root", ROOT), content.pop("tree", None)
    faults: list[Fault] = []
    if content:
        count = f"its top holds more than 'root' and 'tree' ({len(content)} unknown)"
        faults.append(place.fault(f"{count}; put the branches under [tree]."))
    if not isinstance(root, str):
        faults.append(place.fault("its 'root' is not text; write it in quotes."))
    if tree is None:
        faults.append(place.fault("has no 'tree'; write the branches under [tree]."))
    refuse(faults, place)
    paths, faults = leaf_paths(tree, root, place)
    return Taxonomy(*grow(paths, place, faults=faults), column)


def _text(path: Path, place: Place) -> str:
    """Read a file as UTF-8, with or without a byte order mark."""
    try:
        content = regular(path).read_bytes()
    except FileNotFoundError:
        raise DataError(place.fault("there is no such file; check its path.")[1]) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DataError(place.fault(f"cannot be read ({reason}); check path and permissions.")[1]) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(place.fault(f"is not UTF-8 text (line {line}); save it as UTF-8.")[1]) from None


def _split(text: str, place: Place) -> list[tuple[int, list[str]]]:
    """Split into rows, each with the number of its first line, by the delimiter that makes the best table."""
    candidates = [delimiter for delimiter in DELIMITERS if delimiter in text] or [DELIMITERS[0]]
    best: list[tuple[int, list[str]]] = []
    best_score, failure = 0, None
    for delimiter in candidates:
        try:
            rows = _rows(text, delimiter, place)
        except DataError as error:  # a quote that makes no sense: the wrong delimiter, or a broken file
            failure = failure or error
            continue
        score = _agreement(rows)
        if score > best_score or not best:
            best, best_score = rows, score
    if failure and not best_score:
        raise failure
    return best


def _rows(text: str, delimiter: str, place: Place) -> list[tuple[int, list[str]]]:
    rows, line = [], 1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if len(cells) > 1 or any(cell.strip() for cell in cells):
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error:
        sentence = 'cannot be split into cells; close every quote, and write "" for a quote inside quotes.'
        raise DataError(place.fault(sentence, line)[1]) from None
    return rows


def _agreement(rows: list[tuple[int, list[str]]]) -> int:
    """Count the rows with the commonest width and those with the commonest root; 0 for a single column."""
    if not rows:
        return 0
    [(width, same_width)] = Counter(len(cells) for _, cells in rows).most_common(1)
    [(_, same_root)] = Counter(cells[-1] for _, cells in rows).most_common(1)
    return same_width + same_root if width > 1 else 0
