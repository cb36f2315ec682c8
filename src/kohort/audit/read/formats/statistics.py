"""SPSS, Stata and SAS files. Those of Stata and SAS's own by pandas, which has readers of its own.

SPSS files and transport files of SAS are read by ReadStat, which also writes them: there is no second reader of the
former that is kept up, and that of pandas knows no dates in the latter.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from kohort.audit.read.formats.base import READERS, Kinds, Reader, guarded, library, refuse_names, text_frame, text_of
from kohort.errors import DataError
from kohort.policy.sections import Input

if TYPE_CHECKING:
    import polars as pl


class Statistics(Reader):
    """A file that is read as a whole, by pandas or as it has it."""

    extra = "statistics"

    @override
    def pieces(self, path: Path, place: str, settings: Input | None, kinds: Kinds) -> Iterator[pl.DataFrame]:
        library("pyreadstat", place, self.extra)
        if settings is None and guarded(place, lambda: self.says_more(path)):
            raise DataError(
                f"{place}: it has notes, a title, or labels that are not those of all values of a column and of no "
                "others; write the table alone."
            )
        labelled = settings is None or settings.labels == "labels"
        frame = guarded(place, lambda: self.frame(path, place, labelled))
        if settings is None and guarded(place, lambda: self.has_kinds_of_missing(path)):
            raise DataError(
                f"{place}: it has several kinds of missing values, which readers distinguish; write one kind."
            )
        names = [str(name) for name in frame.columns]
        refuse_names(names, place)
        yield text_frame(names, [[text_of(cell) for cell in frame.iloc[:, at]] for at in range(len(names))])

    def has_kinds_of_missing(self, path: Path) -> bool:
        """Whether the file can tell one missing value from another."""
        return False

    def says_more(self, path: Path) -> bool:
        """Whether the file holds words beside its cells and what its columns are called.

        Where all values of a column have labels, these are its cells. Any other label is none of them, and is shown by
        some readers, or kept by all.
        """
        codes, about = self.codes(path)
        of_no_column = about.value_labels.keys() - set(about.variable_to_label.values())
        if about.notes or (about.file_label or "").strip() or of_no_column:
            return True
        return any(
            set(labels) != {value for value in codes[name].dropna().unique() if value != ""}
            or len(set(labels.values())) < len(labels)
            for name, labels in about.variable_value_labels.items()
        )

    @abstractmethod
    def codes(self, path: Path) -> tuple[Any, Any]:
        """The records as they are, and all words of the file, by ReadStat."""

    @abstractmethod
    def frame(self, path: Path, place: str, labelled: bool) -> Any:
        """The records as a frame of pandas; labels instead of values that all have one."""


@READERS.register("spss")
class Spss(Statistics):
    """Its system missing and user missing values are missing."""

    suffixes = (".sav", ".zsav")

    @override
    def matches(self, head: bytes, path: Path) -> bool:
        return head.startswith((b"$FL2", b"$FL3"))

    @override
    def frame(self, path: Path, place: str, labelled: bool) -> Any:
        library("pandas", place, self.extra)
        frame, about = self.codes(path)
        for name, labels in about.variable_value_labels.items() if labelled else ():
            values = [value for value in frame[name].dropna().unique() if value != ""]
            if all(value in labels for value in values) and len({labels[value] for value in values}) == len(values):
                frame[name] = frame[name].map(labels)
        return frame

    @override
    def codes(self, path: Path) -> tuple[Any, Any]:
        found: tuple[Any, Any] = import_module("pyreadstat").read_sav(str(path))
        return found

    @override
    def has_kinds_of_missing(self, path: Path) -> bool:
        _, about = import_module("pyreadstat").read_sav(str(path), metadataonly=True, user_missing=True)
        return bool(about.missing_ranges)


@READERS.register("stata")
class Stata(Statistics):
    """A column whose values all have labels becomes one of categories that are texts."""

    suffixes = (".dta",)

    @override
    def matches(self, head: bytes, path: Path) -> bool:
        return path.name.lower().endswith(".dta") or head.startswith(b"<stata_d")

    @override
    def frame(self, path: Path, place: str, labelled: bool) -> Any:
        pandas = library("pandas", place, self.extra)
        codes = pandas.read_stata(path, convert_categoricals=False)
        if not labelled:
            return codes
        try:
            labels = pandas.read_stata(path, convert_categoricals=True)
        except ValueError:  # two values of one label
            fault = f'{place}: two values of a column have the same label; set labels = "codes" in [input].'
        else:
            for name in codes.columns:
                if str(labels[name].dtype) == "category" and all(isinstance(one, str) for one in labels[name].unique()):
                    codes[name] = labels[name].astype(object)
            return codes
        raise DataError(fault)

    @override
    def codes(self, path: Path) -> tuple[Any, Any]:
        found: tuple[Any, Any] = import_module("pyreadstat").read_dta(str(path))
        return found

    @override
    def has_kinds_of_missing(self, path: Path) -> bool:
        read = import_module("pandas").read_stata(path, convert_categoricals=False, convert_missing=True)
        columns = (read[name] for name in read.columns if read[name].dtype == object)
        return any(type(cell).__name__ == "StataMissingValue" and str(cell) != "." for one in columns for cell in one)


@READERS.register("sas")
class Sas(Statistics):
    """Transport files, and SAS's own."""

    suffixes = (".sas7bdat", ".xpt")

    @override
    def matches(self, head: bytes, path: Path) -> bool:
        return path.name.lower().endswith(self.suffixes)

    @override
    def frame(self, path: Path, place: str, labelled: bool) -> Any:
        pandas = library("pandas", place, self.extra)
        if path.suffix.lower() == ".xpt":
            return self.codes(path)[0]
        return pandas.read_sas(path, format="sas7bdat", encoding="infer")

    @override
    def codes(self, path: Path) -> tuple[Any, Any]:
        readstat = import_module("pyreadstat")
        found: tuple[Any, Any] = (readstat.read_xport if path.suffix.lower() == ".xpt" else readstat.read_sas7bdat)(
            str(path)
        )
        return found
