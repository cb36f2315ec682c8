"""Keyed pseudonyms: stable, keyed, never the identifier; and the key is never told."""

import datetime as dt
import hashlib
import hmac
import json
import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohort
from kohort.cli.main import run
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy
from kohort.release.pseudonyms import Key, read_key, with_pseudonyms

KEY = "SECRETKEY-0123456789"
VISITS = pl.DataFrame(
    {
        "patient": [7, 7, 8, 9, 10, None],
        "name": ["Ann", "Ann", "Bea", "Cid", "Dee", "Eve"],
        "age": [34, 34, 36, 51, 52, 53],
        "ill": ["flu", "cough", "cold", "fever", "flu", "flu"],
    }
)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("KOHORT_TEST_KEY", KEY)


def rules(place=None, **more):
    return Policy.build(
        k=2,
        identifiers=["name"],
        pseudonyms=["patient"],
        quasi_identifiers=["age"],
        sensitive=["ill"],
        seed=1,
        output={"order": "kept", "pseudonym_key": place or {"env": "KOHORT_TEST_KEY"}},
        **({"algorithm": "fast"} | more),
    )


def expected(identity, secret=KEY):
    return hmac.new(secret.encode(), identity.encode(), hashlib.sha256).hexdigest()


def test_pseudonyms_stand_where_the_identifier_stood():
    release = kohort.anonymize(VISITS, rules())
    assert release.table.columns == ["patient", "age", "ill"]
    assert release.table["patient"].to_list() == [*map(expected, ["7", "7", "8", "9", "10"]), None]
    assert release.verdict.check("columns").passed
    assert release.verdict.check("pseudonyms").figures["method"] == "row by row"


@pytest.mark.parametrize("out", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_kinds_of_files_agree(tmp_path, kind, out):
    """Integers, floats, texts and decimals of one value have one pseudonym."""
    number = VISITS["patient"]
    made = set()
    for column in (number, number.cast(pl.Float64), number.cast(pl.String), number.cast(pl.Decimal(12, 2))):
        path = tmp_path / f"visits.{kind}"
        getattr(VISITS.with_columns(column), f"write_{kind}")(path)
        release = kohort.anonymize(path, rules(), output=tmp_path / f"out.{out}", overwrite=True)
        written = pl.read_csv(release.path) if out == "csv" else pl.read_parquet(release.path)
        made.add(tuple(written["patient"].to_list()))
    assert made == {(*map(expected, ["7", "7", "8", "9", "10"]), None)}


def test_another_key_gives_other_pseudonyms(monkeypatch):
    one = kohort.anonymize(VISITS, rules()).table["patient"]
    monkeypatch.setenv("KOHORT_TEST_KEY", "another key, as long as that")
    two = kohort.anonymize(VISITS, rules()).table["patient"]
    assert not set(one.drop_nulls()) & set(two.drop_nulls())


def test_a_key_in_a_file_is_relative_to_the_policy_and_loses_one_line_end(tmp_path, monkeypatch):
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "policy.toml").write_text(rules({"file": "key.txt"}).to_toml())
    policy = Policy.load(folder / "policy.toml")
    for content in (KEY, KEY + "\n", KEY + "\r\n"):
        (folder / "key.txt").write_bytes(content.encode())
        assert read_key(policy) == Key(KEY.encode())
    (folder / "key.txt").write_bytes(KEY.encode() + b"\n\n")
    assert read_key(policy) == Key(KEY.encode() + b"\n")
    monkeypatch.setenv("KOHORT_TEST_KEY", KEY + "\n")
    assert read_key(rules()) == Key(KEY.encode())


def test_the_key_file_is_never_overwritten(tmp_path):
    path = tmp_path / "key.csv"
    path.write_text(KEY)
    (tmp_path / "policy.toml").write_text(rules({"file": "key.csv"}).to_toml())
    with pytest.raises(kohort.KohortError, match="pseudonym key"):
        kohort.anonymize(VISITS, tmp_path / "policy.toml", output=path)
    assert path.read_text() == KEY


def test_the_key_is_told_nowhere(tmp_path, capfd):
    release = kohort.anonymize(VISITS, rules(), output=tmp_path / "out.csv")
    told = [repr(release), release.public_json(), release.private_json(), (tmp_path / "out.csv").read_text()]
    told += [repr(read_key(rules())), *capfd.readouterr()]
    assert not any("SECRETKEY" in text for text in told)
    hashed = hashlib.sha256(KEY.encode()).hexdigest()
    assert not any(hashed in text for text in told)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "environment variable 'KOHORT_TEST_KEY' is not set"),
        ("", "is shorter than 16 bytes"),
        ("SECRETKEY-01234", "the key in environment variable 'KOHORT_TEST_KEY' is shorter than 16 bytes"),
        ("SECRETKEY-01234\n", "is shorter than 16 bytes"),
    ],
)
def test_keys_that_will_not_do(monkeypatch, tmp_path, value, sentence):
    monkeypatch.delenv("KOHORT_TEST_KEY")
    if value is not None:
        monkeypatch.setenv("KOHORT_TEST_KEY", value)
    with pytest.raises(PolicyError, match=sentence) as refusal:
        kohort.anonymize(VISITS, rules(), output=tmp_path / "out.csv")
    assert "SECRETKEY" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


def test_a_key_file_that_is_not_there(tmp_path):
    (tmp_path / "policy.toml").write_text(rules({"file": "nowhere.bin"}).to_toml())
    with pytest.raises(PolicyError, match=r"policy\.toml, line \d+: key file 'nowhere\.bin' cannot be read"):
        kohort.anonymize(VISITS, tmp_path / "policy.toml")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"output": {}}, "column 'patient' is to be a pseudonym, which needs 'pseudonym_key' in \\[output\\]"),
        ({"columns": {"age": "quasi"}}, "'output\\.pseudonym_key' is of no use without a pseudonym"),
        (
            {"columns": {"age": {"role": "quasi", "pseudonym": True}}},
            "'pseudonym' is for identifiers only; remove it or change the role",
        ),
        ({"output": {"pseudonym_key": {}}}, "must have exactly one of env, file"),
        ({"output": {"pseudonym_key": {"env": "A", "file": "b"}}}, "must have exactly one of env, file"),
        ({"output": {"pseudonym_key": {"env": ""}}}, "must be a text of at least 1 character"),
        (
            {"output": {"pseudonym_key": {"key": "SECRET"}}},
            "unknown key 'key' in \\[output\\.pseudonym_key\\]; known are env, file",
        ),
    ],
)
def test_policies_that_make_no_sense(changes, sentence):
    with pytest.raises(PolicyError, match=sentence):
        Policy(**(rules().to_dict() | changes))


@pytest.mark.parametrize("place", ["SECRETKEY-0123456789", {"env": ["SECRETKEY-0123456789"]}, 12345678])
def test_a_key_in_the_policy_itself_is_refused_and_not_repeated(place):
    with pytest.raises(PolicyError, match="'output\\.pseudonym_key") as refusal:
        Policy(**(rules().to_dict() | {"output": {"pseudonym_key": place}}))
    assert not re.search("SECRETKEY|12345678", str(refusal.value))


def test_several_tables_would_be_linked():
    vertical = {"name": "two-level", "form": "vertical", "accept_broken_guarantee": True}
    with pytest.raises(PolicyError, match="must not be linked, as a pseudonym would"):
        kohort.anonymize(VISITS, rules(algorithm=vertical))
    buckets = rules(algorithm="anatomy").with_changes("privacy", anonymity="buckets")
    with pytest.raises(PolicyError, match="must not be linked, as a pseudonym would"):
        kohort.anonymize(VISITS, buckets)


def test_policies_with_pseudonyms_survive_toml():
    assert Policy.from_toml(rules().to_toml()) == rules()
    assert rules().dropped == ("name",)
    assert rules().pseudonyms == ("patient",)


def test_all_faults_of_identifiers_are_told_together():
    policy = Policy.build(
        k=2,
        pseudonyms=["a", "b"],
        quasi_identifiers=["age"],
        output={"pseudonym_key": {"env": "KOHORT_TEST_KEY"}},
    )
    table = pl.DataFrame({"a": [1.5, 2.5], "b": [dt.datetime(2020, 1, 1, 3), None], "age": [1, 2]})
    with pytest.raises(DataError, match="column 'b': dates with a time cannot identify people") as refusal:
        kohort.anonymize(table, policy)
    assert len(refusal.value.faults) == 2


def test_a_column_without_any_identifier():
    empty = VISITS.with_columns(patient=pl.lit(None, pl.String))
    assert kohort.anonymize(empty, rules()).table["patient"].to_list() == [None] * 6


@given(st.lists(st.one_of(st.none(), st.text(max_size=5), st.integers().map(str)), min_size=1, max_size=20))
def test_equal_identifiers_have_equal_pseudonyms_and_only_they(texts):
    key = Key(KEY.encode())
    made = with_pseudonyms(pl.DataFrame({"patient": pl.Series(texts, dtype=pl.String)}), rules(), key)["patient"]
    pairs = set()
    for text, pseudonym in zip(texts, made, strict=True):
        assert pseudonym is None or re.fullmatch("[0-9a-f]{64}", pseudonym)
        if text:
            pairs.add((text, pseudonym))
    by_text = {text for text, _ in pairs}
    assert len(by_text) == len(pairs)
    assert all(made[texts.index(text)] == pseudonym for text, pseudonym in pairs)


# -- what the audit says ---------------------------------------------------------------------------


@pytest.fixture
def release():
    return kohort.anonymize(VISITS, rules()).table


def check(table, policy=None, **more):
    return kohort.verify(table, policy or rules(), **more).check("pseudonyms")


def test_without_the_original_the_form_is_checked(release):
    verdict = kohort.verify(release, rules())
    assert verdict.passed
    assert verdict.check("pseudonyms").sentence.startswith("every pseudonym has the form of one")


def test_a_raw_identifier_does_not_slip_through(release):
    for cell in ("7", "Ann", "a" * 63, "A" * 64, " " + "a" * 64, "a" * 65):
        column = release["patient"].to_list()
        slipped = release.with_columns(patient=pl.Series([cell, *column[1:]]))
        found = check(slipped)
        assert not found.passed
        assert found.sentence == "column 'patient': 1 cell is no pseudonym, so an identifier may be published."


def test_an_identifier_that_is_a_hash_does_not_slip_through():
    hashed = VISITS.with_columns(patient=pl.Series([expected(text) for text in "aabcde"]))
    fine = kohort.anonymize(hashed, rules())
    slipped = fine.table.with_columns(hashed["patient"])
    found = check(slipped, rules().with_changes("output", order="shuffled"), original=hashed)
    assert found.sentence == "column 'patient': 6 cells are in the original."


def test_an_identifier_that_is_no_pseudonym_may_not_be_there(release):
    plain = rules().to_dict()
    del plain["columns"]["patient"]["pseudonym"], plain["output"]["pseudonym_key"]
    verdict = kohort.verify(release, Policy(**plain))
    assert not verdict.check("columns").passed
    assert verdict.check("pseudonyms") is None


def test_a_pseudonym_that_is_missing_from_the_release(release):
    verdict = kohort.verify(release.drop("patient"), rules())
    assert "column 'patient' of the policy is not in the release" in verdict.reason


@pytest.mark.parametrize(
    ("cells", "rows"),
    [
        ("112345", 1),  # nobody is missing any more
        ("11234-", 0),
        ("12345-", 2),  # two pseudonyms of one person
        ("11224-", 2),  # one pseudonym of two persons
        ("1123--", 2),  # a pseudonym is gone
    ],
)
def test_one_pseudonym_for_one_identifier(release, cells, rows):
    column = [None if cell == "-" else cell * 64 for cell in cells]
    found = check(release.with_columns(patient=pl.Series(column)), original=VISITS)
    assert found.figures["inconsistent.patient"] == rows
    assert found.passed == (rows == 0)


def test_the_order_must_be_known_to_compare(release):
    mixed = release.reverse()
    shuffled = rules().with_changes("output", order="shuffled")
    assert check(mixed, shuffled, original=VISITS).passed
    assert not check(mixed, original=VISITS).passed, "the policy says that the order is kept"
    order = list(range(5, -1, -1))
    assert check(mixed, shuffled, original=VISITS, row_order=order).passed


def test_persons_are_counted_by_pseudonyms():
    visits = VISITS[:5]
    policy = rules(person="patient").with_changes("output", order="shuffled")
    release = kohort.anonymize(visits, policy)
    assert release.verdict.check("persons").figures["method"] == "counted in the original, row by row"
    alone = kohort.verify(release.table, policy)
    assert alone.passed
    assert alone.check("persons").sentence == "every class has at least 2 persons (fewest 2), counted by pseudonyms."
    same = release.table.with_columns(patient=pl.lit("a" * 64))
    assert not kohort.verify(same, policy).check("persons").passed
    gone = release.table.with_columns(patient=pl.Series([None] * 5, dtype=pl.String))
    assert "do not say who the person is" in kohort.verify(gone, policy).check("persons").sentence


def test_the_command_line(tmp_path, capsys, monkeypatch):
    VISITS.write_csv(tmp_path / "visits.csv")
    (tmp_path / "policy.toml").write_text(rules().to_toml())
    out = tmp_path / "out.csv"
    arguments = [str(tmp_path / "visits.csv"), "-p", str(tmp_path / "policy.toml"), "-o", str(out)]
    monkeypatch.setattr("sys.argv", ["kohort", "anonymize", *arguments, "--private", str(tmp_path / "private.json")])
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 0
    assert "SECRETKEY" not in "".join(capsys.readouterr())
    for name in ("out.csv", "out.csv.verdict.json", "private.json"):
        assert "SECRETKEY" not in (tmp_path / name).read_text()
    assert json.loads((tmp_path / "out.csv.verdict.json").read_text())["passed"]
