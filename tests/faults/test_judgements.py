"""`verify` and `measure` on files that break the promise, or cannot be judged at all."""

import gzip
import json
from dataclasses import dataclass

import pytest

from faults.harness import (
    CANARY,
    DATA,
    POLICY,
    Fault,
    assert_nothing_told,
    assert_refused,
    changed,
    command,
    contents,
    each,
    like,
    place,
    town,
)

HEADER = "age,zip,town,disease\n"
RELEASE = f"""\
{HEADER}\
[30 - 31],7703*,Sekretheim,flu
[30 - 31],7703*,Sekretheim,{CANARY}
[40 - 41],7715*,Sekretdorf,cold
[40 - 41],7715*,Sekretdorf,{CANARY}
"""
ROW = f"[30 - 31],7703*,Sekretheim,{CANARY}\n"


@dataclass(frozen=True)
class Broken:
    """A release that can be read and does not keep the promise."""

    name: str
    reason: str
    release: str | bytes = RELEASE
    options: tuple[str, ...] = ()
    data: str = DATA


ORIGINAL = ("--original", "people.csv")
BROKEN = [
    Broken(
        "lacks-a-quasi-identifier",
        "column 'town' of the policy is not in the release; also: 1 further check failed (k).",
        "age,zip,disease\n" + f"[30 - 31],7703*,{CANARY}\n" * 2,
    ),
    Broken(
        "lacks-the-sensitive-column",
        "column 'disease' of the policy is not in the release.",
        "age,zip,town\n" + "[30 - 31],7703*,Sekretheim\n" * 2,
    ),
    Broken(
        "has-an-identifier",
        "column 'name' identifies people by the policy's own word; drop it.",
        f"name,{HEADER}" + f"{CANARY},{ROW}" * 2,
    ),
    Broken(
        "has-a-column-without-role",
        "column 1 has no role in the policy, so it may identify people; drop it.",
        f"row,{HEADER}" + f"{CANARY},{ROW}" * 2,
    ),
    Broken(
        "has-no-header",
        "the first line names no column of the policy; is the header there?; also: 1 further check failed (k).",
        ROW * 3,
    ),
    Broken(
        "has-a-class-of-one",
        "1 row lies in classes smaller than k = 2 (smallest 1).",
        RELEASE + ROW.replace("3*", "4*"),
    ),
    Broken(
        "has-classes-under-a-larger-k", "4 rows lie in classes smaller than k = 3 (smallest 2).", options=("--k", "3")
    ),
    Broken(
        "has-texts-for-numbers",
        "column 'age': 2 rows (1 distinct value) hold text that is no number and no interval.",
        RELEASE.replace("[30 - 31]", CANARY),
    ),
    Broken(
        "has-an-interval-upside-down",
        "column 'age': 2 rows (1 distinct value) hold an interval that is empty or upside down.",
        RELEASE.replace("[30 - 31]", "[31 - 30]"),
    ),
    Broken(
        "does-not-cover-the-original",
        "column 'age': 2 of 4 published values do not cover the original value.",
        RELEASE.replace("[30 - 31]", "[32 - 33]"),
        options=ORIGINAL,
    ),
    Broken(
        "has-other-diagnoses",
        "column 'disease': 1 of 4 published values is not one of the original.",
        RELEASE.replace("flu", CANARY),
        options=ORIGINAL,
    ),
]


@pytest.mark.parametrize("broken", BROKEN, ids=[broken.name for broken in BROKEN])
def test_a_release_that_breaks_the_promise_is_told_why(broken, folder, capfd):
    place(folder, {"policy.toml": POLICY, "people.csv": broken.data, "release.csv": broken.release})
    before = contents(folder)
    arguments = ("verify", "release.csv", "-p", "policy.toml", *broken.options)
    plain, quiet, facts = (command(capfd, *arguments, *more) for more in ((), ("-q",), ("--json",)))
    for ended in (plain, quiet, facts):
        assert_nothing_told(ended)
        assert (ended.code, ended.err) == (1, "")
    assert quiet.out == ""
    assert plain.out.splitlines()[-1] == f"NOT verified: {broken.reason}"
    verdict = json.loads(facts.out)
    assert verdict["passed"] is False
    assert verdict["reason"] == broken.reason
    assert contents(folder) == before


def verify(name: str, *sentences: object, release: str | bytes | None, **more: object) -> Fault:
    files = {} if release is None else {"release.csv": release}
    return Fault(name, sentences, command=("verify", "release.csv", "-p", "policy.toml"), files=files, **more)


def measure(name: str, *sentences: object, release: str | bytes | None = RELEASE, **more: object) -> Fault:
    files = {} if release is None else {"release.csv": release}
    arguments = ("measure", "release.csv", "-p", "policy.toml", *ORIGINAL)
    return Fault(name, sentences, command=arguments, files=files, **more)


RAGGED = "release release.csv: line 6 does not have as many cells as the header; correct the line."
NOT_CLOSED = "release release.csv: line 6 opens a quote that is never closed; correct the line."
VERIFY = [
    verify(
        "verify-no-file",
        "release release.csv: cannot be opened (no such file or directory); check the path.",
        release=None,
    ),
    verify("verify-empty", "release release.csv: the file is empty; it needs a header and rows.", release=""),
    verify(
        "verify-header-only",
        like(r"release( release\.csv)?: it has a header but no rows; there is nothing to check\."),
        release=HEADER,
    ),
    verify("verify-ragged", RAGGED, release=f"{RELEASE}{CANARY},3\n"),
    verify("verify-quote-not-closed", NOT_CLOSED, release=f'{RELEASE}"{ROW}'),
    verify(
        "verify-not-utf-8",
        "release release.csv: it is not utf-8 text (line 6); save it as UTF-8.",
        release=RELEASE.encode() + CANARY.encode() + b"\xff," + ROW.encode(),
    ),
    verify(
        "verify-name-twice",
        "release release.csv: 'zip' heads more than one column; give each column its own name.",
        release=RELEASE.replace("town", "zip", 1),
    ),
    verify(
        "verify-no-header-and-two-equal-cells", like(r"release release\.csv: .*\."), release=f"{CANARY},{CANARY}\n" * 3
    ),
    verify(
        "verify-damaged-parquet",
        "release release.csv: it cannot be read as Parquet; the file is damaged.",
        release=f"PAR1{CANARY}PAR1",
    ),
    verify(
        "verify-gzip-cut-off",
        "release release.csv: cannot be unpacked; the file is damaged.",
        release=gzip.compress(RELEASE.encode())[:-10],
    ),
    verify(
        "verify-by-no-policy",
        "policy policy.toml: cannot be read (No such file or directory); check the path.",
        release=RELEASE,
        policy=None,
    ),
    verify(
        "verify-by-a-faulty-policy",
        "policy.toml, line 2: 'privacy.k' must be greater than or equal to 2; got 0.",
        release=RELEASE,
        policy=changed("k = 2", "k = 0"),
    ),
    verify(
        "verify-without-the-hierarchy",
        "hierarchy of column 'town' (town.csv): there is no such file; check its path.",
        release=RELEASE,
        policy=town('hierarchy = "town.csv"'),
    ),
    verify(
        "verify-with-k-1",
        like(r"(--k|policy|policy\.toml): .*k.* must be greater than or equal to 2; got 1\."),
        release=RELEASE,
        options=("--k", "1"),
    ),
    verify(
        "verify-in-no-size-of-memory",
        "memory: 'much' is no size; give a number with MB, GB, MiB or GiB, such as 2GB.",
        release=RELEASE,
        options=("--memory", "much"),
    ),
    verify(
        "verify-in-too-little-memory",
        "memory: '1MB' is too little to work with; give 256MB or more.",
        release=RELEASE,
        options=("--memory", "1MB"),
    ),
    verify(
        "verify-against-no-original",
        "original people.csv: cannot be opened (no such file or directory); check the path.",
        release=RELEASE,
        options=ORIGINAL,
        data=None,
    ),
    verify(
        "verify-against-an-original-of-unknown-encoding",
        like(r"policy\.toml, line 2: .*encoding.*\."),
        release=RELEASE,
        options=ORIGINAL,
        policy=f'[input]\nencoding = "klingon"\n{POLICY}',
    ),
    verify(
        "verify-against-an-original-of-bytes",
        like(r"policy\.toml, line 2: .*encoding.*\."),
        release=RELEASE,
        options=ORIGINAL,
        policy=f'[input]\nencoding = "base64"\n{POLICY}',
    ),
]

MEASURE = [
    measure(
        "measure-no-file",
        "release release.csv: cannot be opened (no such file or directory); check the path.",
        release=None,
    ),
    measure(
        "measure-no-original", "people.csv: cannot be read (No such file or directory); check the path.", data=None
    ),
    measure(
        "measure-more-rows-than-the-original",
        "the release has 5 rows and the original 4; give the table it was made of.",
        release=RELEASE + ROW,
    ),
    measure(
        "measure-lacks-columns",
        "the release lacks 'zip', 'town'; it cannot be measured by this policy.",
        release=f"age,disease\n30,{CANARY}\n",
    ),
    measure(
        "measure-texts-for-numbers",
        "column 'age': a published value cannot be read; run verify to see how many.",
        release=RELEASE.replace("[30 - 31]", CANARY),
    ),
    measure(
        "measure-unknown-texts",
        "column 'town': a published value covers no value of its hierarchy; give a policy that has it, or run verify.",
        release=RELEASE.replace("Sekretheim", CANARY),
    ),
    measure("measure-empty", "release release.csv: the file is empty; it needs a header and rows.", release=""),
    measure(
        # Nothing was published: that is no release whose loss is 1.
        "measure-header-only",
        like(r"(release|release release\.csv): .*no rows.*\."),
        release=HEADER,
    ),
    measure(
        "measure-by-an-unknown-measure",
        like(r".*there is no measure 'npc' \(did you mean 'ncp'\?\); there are .*ncp.*\."),
        options=("--measure", "npc"),
    ),
    measure(
        "measure-against-another-table",
        "policy.toml, line 13: column 'town' is not in the table; remove or rename it.",
        "column 4 of people.csv has no role in the policy; add [columns.NAME] with a role (identifier drops it).",
        data=DATA.replace("town", "city", 1),
    ),
]


@each([*VERIFY, *MEASURE])
def test_what_cannot_be_judged_is_refused(fault, folder, capfd):
    assert_refused(fault, folder, capfd)


def test_a_release_that_keeps_the_promise_is_verified(folder, capfd):
    """The releases of this file are broken by what is put into them, and by nothing else."""
    place(folder, {"policy.toml": POLICY, "people.csv": DATA, "release.csv": RELEASE})
    assert command(capfd, "verify", "release.csv", "-p", "policy.toml", *ORIGINAL, "-q").code == 0
