"""A certificate says what its file is; what was altered, in either of them, is found, and said in one sentence."""

import hashlib
import json
import shutil
import stat
import sys
from base64 import b64encode
from pathlib import Path
from random import Random

import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort.audit.certificate import Certificate, certificate_of
from kohort.audit.certificate.canonical import canonical
from kohort.errors import DataError, VerificationError

ROWS = 60
TREE = {"north": ["a", "b"], "south": ["c", "d"]}


def table():
    return pl.DataFrame(
        {
            "age": [20 + row % 30 for row in range(ROWS)],
            "area": [list("abcd")[row % 4] for row in range(ROWS)],
            "zip": [f"1{row % 9}3{row % 7}" for row in range(ROWS)],
            "ill": [("flu", "cold", "cough")[row % 3] for row in range(ROWS)],
            "who": [f"person {row}" for row in range(ROWS)],
        }
    )


def rules(**sections):
    columns = {
        "age": "quasi",
        "area": {"role": "quasi", "hierarchy": {"tree": TREE}},
        "zip": {"role": "quasi", "hierarchy": {"prefix": [2]}},
        "ill": "sensitive",
        "who": "identifier",
    }
    given = {"privacy": {"k": 4}, "algorithm": {"name": "k-member", "seed": 1, "bound_effort": 0}}
    return kohort.Policy.model_validate({"columns": columns} | given | sections)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a release, its certificate and two pairs of keys."""
    place = tmp_path_factory.mktemp("certified")
    table().write_csv(place / "in.csv")
    for name in ("board", "other"):
        assert called("certificate", "keygen", name, folder=place).returncode == 0
    signed = {"certificate": place / "cert.json", "key": place / "board"}
    kohort.anonymize(place / "in.csv", rules(), output=place / "out.csv", **signed)
    return place


@pytest.fixture
def place(made, tmp_path):
    """The same, to be altered."""
    return Path(shutil.copytree(made, tmp_path / "place"))


def check(place, **more):
    return kohort.verified_by(place / "cert.json", place / "out.csv", **more)


def altered(place, old, new):
    text = (place / "cert.json").read_text()
    assert old in text
    (place / "cert.json").write_text(text.replace(old, new))


def test_the_file_keeps_what_its_certificate_says(place):
    found = check(place, signer=place / "board.pub")
    assert found.passed, found.reason
    names = [check.name for check in found.checks]
    assert names[-4:] == ["file", "certificate", "attested", "signature"]
    assert found.check("attested").sentence == (
        "not checked again, as it takes more than the file: coverage, rows, values; the certificate says that it "
        "holds; the hierarchy of 'area' is not beside the certificate, so its labels were only compared."
    )
    with pytest.raises(DataError, match="the hierarchy of 'area' is needed to compare with the original"):
        check(place, original=place / "in.csv")


def test_it_is_canonical_and_holds_nothing_but_the_public_verdict(place):
    text = (place / "cert.json").read_text()
    data = json.loads(text)
    assert text == canonical(data) + "\n"
    assert set(data) == {"certificate", "version", "issued", "kohort", "verdict", "signatures"}
    verdict = data["verdict"]
    assert verdict["facts"]["rows_original"] is verdict["facts"]["withheld"] is None
    assert not {"loss", "provenance", "algorithm"} & set(verdict)
    assert not [value for value in ("flu", "person 7", "1032", '"a"') if value in text]
    assert verdict["hashes"]["release"] == hashlib.sha256((place / "out.csv").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('"classes":', '"classes":1', "the certificate says something else than the file does (k, facts)."),
        ('"unique":0', '"unique":1', "the certificate says something else than the file does (as_is)."),
        ('"k":4,"rows_under_k"', '"k":5,"rows_under_k"', "the certificate says something else than the file does (k)."),
    ],
)
def test_what_is_altered_in_it_and_can_be_computed_is_found(place, old, new, sentence):
    altered(place, old, new)
    found = check(place)
    assert not found.passed
    assert [check.sentence for check in found.checks if not check.passed] == [
        sentence,
        "a signature is not one of this certificate: it, or the certificate, was altered.",
    ]


def test_what_cannot_be_computed_is_what_a_signature_is_for(place):
    altered(place, "every published value covers", "every published value truly covers")
    assert [one.name for one in check(place).checks if not one.passed] == ["signature"]
    bare = json.loads((place / "cert.json").read_text()) | {"signatures": []}
    (place / "cert.json").write_text(canonical(bare) + "\n")
    found = check(place)
    assert found.passed
    assert "nobody has signed" in found.check("unsigned").sentence
    refused = check(place, signer=place / "board.pub")
    assert refused.reason == "the certificate is not signed with the given key."


@pytest.mark.promise("4.3")
def test_two_originals_of_one_file_have_one_certificate(place):
    """Also if one of them happens to stand in the order of the release."""
    straight = pl.DataFrame({"age": ["[20 - 29]"] * 4 + ["[40 - 49]"] * 4})
    straight.write_csv(place / "loose.csv")
    policy = kohort.Policy.build(k=4, quasi_identifiers=["age"])
    ages = [20, 25, 28, 29, 40, 44, 45, 49]
    found = [
        kohort.certify(place / "loose.csv", policy, original=pl.DataFrame({"age": some})).to_json()
        for some in (ages, ages[::-1], ages[::2] + ages[1::2])
    ]
    assert len(set(found)) == 1
    assert "row by row" not in found[0]


@pytest.mark.promise("3.5")
@pytest.mark.parametrize("name", ["hierarchy.csv", "out.csv.verdict.json", "in/a.csv"])
def test_a_certificate_is_not_written_over_what_it_is_about(place, name):
    (place / "in").mkdir()
    table().write_csv(place / "in" / "a.csv")
    (place / "hierarchy.csv").write_text("".join(f"{leaf};{root};*\n" for root in TREE for leaf in TREE[root]))
    columns = rules().to_dict()["columns"] | {"area": {"role": "quasi", "hierarchy": "hierarchy.csv"}}
    (place / "policy.toml").write_text(rules(columns=columns).to_toml())
    verdict = {"verdict": place / "out.csv.verdict.json", "overwrite": True}
    kohort.anonymize(place / "in" / "a.csv", place / "policy.toml", output=place / "out.csv", **verdict)
    before = (place / name).read_bytes()
    by = () if name.endswith("json") else ("-p", "policy.toml")
    told = called("certificate", "make", "out.csv", *by, "--original", "in", "-o", name, "--force", folder=place)
    assert told.returncode == 2, told.stderr
    assert (place / name).read_bytes() == before


def test_another_file_another_signer(place):
    assert check(place, signer=place / "other.pub").reason == "the certificate is not signed with the given key."
    lines = (place / "out.csv").read_text().splitlines()
    (place / "out.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    found = check(place)
    assert found.reason == "the certificate is about another release."


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cert.json", "out.csv"])
def test_no_byte_of_what_is_signed_can_be_changed(place, name):
    assert check(place, signer=place / "board.pub").passed
    content, random = (place / name).read_bytes(), Random(4)
    places = [content.index(b'="') - 1] * 6 if name == "cert.json" else []  # the last letter of a key in base64
    for at in [*places, *(random.randrange(len(content)) for _ in range(30))]:
        other = bytearray(content)
        other[at] ^= 1 << random.randrange(8)
        (place / name).write_bytes(other)
        try:
            found = check(place, signer=place / "board.pub").passed
        except DataError:
            continue
        assert not found


def test_several_people_sign_one(place):
    assert called("certificate", "sign", "cert.json", "--key", "other", folder=place).returncode == 0
    assert check(place, signer=place / "other.pub").passed
    assert check(place, signer=place / "board.pub").passed
    again = called("certificate", "sign", "cert.json", "--key", "other", folder=place)
    assert (again.returncode, again.stderr.splitlines()[0]) == (
        2,
        "error: other: this key has signed the certificate already.",
    )


def test_a_file_that_breaks_its_promise_has_none(place):
    lines = (place / "out.csv").read_text().splitlines()
    (place / "bad.csv").write_text("\n".join([*lines, "1,north,1*,flu"]) + "\n")
    with pytest.raises(VerificationError, match="no certificate"):
        kohort.certify(place / "bad.csv", rules())
    with pytest.raises(DataError, match="it is about a file"):
        kohort.certify(table(), rules())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"certificate":"kohort certificate","version":1}',
        b'{"certificate":"kohort certificate","version":1,"issued":1,"kohort":2,"verdict":3,"signatures":4}',
        b'{"certificate":"kohort certificate","version":NaN}',
    ],
)
def test_what_is_none_is_said_to_be_none(tmp_path, content):
    (tmp_path / "cert.json").write_bytes(content)
    with pytest.raises(DataError) as error:
        Certificate.read(tmp_path / "cert.json")
    assert len(error.value.faults) == 1
    assert "cert.json" in str(error.value)


def test_another_form_of_the_same_is_refused(place):
    text = (place / "cert.json").read_text()
    twice = text.replace('"issued":', '"issued":"2020-01-01","issued":')
    for other in (json.dumps(json.loads(text)), text.rstrip(), twice, text.replace('"kohort":', '"more":1,"kohort":')):
        (place / "cert.json").write_text(other)
        with pytest.raises(DataError, match="was edited or formatted anew"):
            Certificate.read(place / "cert.json")
    (place / "cert.json").write_text(text.replace('"version":1}', '"version":2}'))
    with pytest.raises(DataError, match=r"is of another version than 1; update kohort\."):
        Certificate.read(place / "cert.json")


def test_keys_are_kept_well(place):
    assert stat.S_IMODE((place / "board").stat().st_mode) == 0o600
    done = called("certificate", "keygen", "board", folder=place)
    assert done.returncode == 2
    assert "is already there" in done.stderr
    (place / "board").chmod(0o666)
    done = called("certificate", "sign", "cert.json", "--key", "board", folder=place)
    assert (done.returncode, "anybody may write to it" in done.stderr) == (2, True)
    (place / "board").chmod(0o600)
    for name, key, sentence in (
        ("cert.json", "cert.json", "is no private key"),
        ("cert.json", "board.pub", "is no private key"),
        ("cert.json", "none", "cannot be read"),
    ):
        done = called("certificate", "sign", name, "--key", key, folder=place)
        assert (done.returncode, sentence in done.stderr, "PRIVATE KEY" in done.stderr) == (2, True, False)
    done = called("verify", "out.csv", "--certificate", "cert.json", "--signer", "board", folder=place)
    assert (done.returncode, "is no public key" in done.stderr) == (2, True)


def test_a_forged_signature_is_none(place):
    data = json.loads((place / "cert.json").read_text())
    for forged in (b64encode(bytes(64)).decode(), b64encode(b"\xff" * 64).decode()):
        data["signatures"][0]["signature"] = forged
        (place / "cert.json").write_text(canonical(data) + "\n")
        assert not check(place).check("signature").passed
    data["signatures"][0]["signature"] = "AAAA"
    (place / "cert.json").write_text(canonical(data) + "\n")
    with pytest.raises(DataError, match="is no certificate"):
        check(place)


def test_without_the_library_the_extra_is_named(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(DataError, match=r'pip install "kohort\[signature\]"'):
        check(place)


def test_the_command_line(place):
    done = called("verify", "out.csv", "--certificate", "cert.json", "--signer", "board.pub", folder=place)
    assert done.returncode == 0, done.stderr
    assert "verified: " in done.stdout
    (place / "rules.toml").write_text(rules().to_toml())
    done = called("verify", "out.csv", "--certificate", "cert.json", "-p", "rules.toml", "--k", "3", folder=place)
    assert done.returncode == 2
    assert done.stderr.splitlines()[:2] == [
        "error: --policy: the certificate says what is checked; leave it out.",
        "error: --k: the certificate says what is checked; leave it out.",
    ]
    done = called("verify", "out.csv", "--signer", "board.pub", folder=place)
    assert (done.returncode, "give --certificate" in done.stderr) == (2, True)
    made = ("certificate", "make", "out.csv", "-p", "rules.toml", "-o", "new.json", "--original", "in.csv")
    assert called(*made, folder=place).returncode == 0
    assert called(*made, folder=place).returncode == 2, "it is there already"
    assert called("verify", "out.csv", "--certificate", "new.json", folder=place).returncode == 0
    altered(place, '"rows_under_k":0', '"rows_under_k":7')
    assert called("verify", "out.csv", "--certificate", "cert.json", folder=place).returncode == 1
    done = called("anonymize", "in.csv", "-p", "rules.toml", "-o", "b.csv", "--key", "board", folder=place)
    assert (done.returncode, "none is asked for" in done.stderr, (place / "b.csv").exists()) == (2, True, False)


# -- other kinds of releases ---------------------------------------------------------------------------------


def of(tmp_path, policy, **files):
    """Release a table and check its certificate."""
    table().write_csv(tmp_path / "in.csv")
    kohort.anonymize(tmp_path / "in.csv", policy, output=tmp_path / "out.csv", certificate=tmp_path / "cert.json")
    names = {"release": tmp_path / "out.csv"} | {name: tmp_path / file for name, file in files.items()}
    return kohort.verified_by(tmp_path / "cert.json", names.pop("release"), **names)


def test_buckets(tmp_path):
    policy = rules(privacy={"k": 2, "anonymity": "buckets"}, algorithm={"name": "anatomy", "seed": 1})
    found = of(tmp_path, policy, release="out.quasi.csv", sensitive_table="out.sensitive.csv")
    assert found.passed, found.reason
    assert "sensitive" in found.check("attested").sentence


def test_matchings_are_attested(tmp_path):
    policy = rules(privacy={"k": 2, "anonymity": "matchings"}, algorithm={"name": "nh", "seed": 1})
    found = of(tmp_path, policy)
    assert found.passed, found.reason
    assert " k, " in found.check("attested").sentence
    assert found.check("k") is None


def test_persons_and_listed_values_are_attested(tmp_path):
    model = {"model": "alpha-k", "column": "ill", "alpha": 0.9, "values": ["flu"]}
    found = of(tmp_path, rules(privacy={"k": 3, "person": "who", "models": [model]}))
    assert found.passed, found.reason
    assert "alpha-k, coverage, persons" in found.check("attested").sentence
    assert "flu" not in (tmp_path / "cert.json").read_text()


def test_a_hierarchy_beside_it_is_used_and_must_be_the_same(tmp_path):
    tree = kohort.Taxonomy.from_tree(TREE, column="area")
    tree.to_csv(tmp_path / "area.csv")
    policy = rules().to_dict()
    policy["columns"]["area"]["hierarchy"] = "area.csv"
    (tmp_path / "rules.toml").write_text(kohort.Policy.model_validate(policy).to_toml())
    found = of(tmp_path, kohort.Policy.load(tmp_path / "rules.toml"))
    assert found.passed
    assert "hierarchy" not in found.check("attested").sentence
    found = kohort.verified_by(tmp_path / "cert.json", tmp_path / "out.csv", original=tmp_path / "in.csv")
    assert found.passed
    assert {"coverage", "rows", "values"} <= {check.name for check in found.checks}
    assert found.check("attested") is None
    kohort.Taxonomy.from_tree({"north": ["a", "c"], "south": ["b", "d"]}, column="area").to_csv(tmp_path / "area.csv")
    with pytest.raises(DataError, match="is another hierarchy of column 'area'"):
        kohort.verified_by(tmp_path / "cert.json", tmp_path / "out.csv")


def test_several_tables_have_none(tmp_path):
    table().write_csv(tmp_path / "in.csv")
    vertical = {"form": "vertical", "accept_broken_guarantee": True}
    policy = rules(algorithm={"name": "two-level", "seed": 1, "parameters": vertical})
    with pytest.raises(DataError, match="in several tables"):
        kohort.anonymize(tmp_path / "in.csv", policy, output=tmp_path / "out.csv", certificate=tmp_path / "cert.json")
    assert not (tmp_path / "out.csv").exists()


def test_the_hidden_things_that_a_verdict_keeps_are_not_in_it():
    release = kohort.anonymize(table(), rules(privacy={"k": 4, "suppression_limit": 0.2}))
    made = certificate_of(release.verdict)
    assert made.verdict == release.verdict.public()
