"""PostgreSQL by a service file: who connects, and where, stands in it and nowhere else."""

import pytest

import kohort
from helpers.cli import called
from kohort.table import read_table

POLICY = """
[privacy]
k = 4
[algorithm]
name = "mondrian"
seed = 1
bound_effort = 0.0
[columns]
id = "identifier"
age = "quasi"
sex = "quasi"
ill = "sensitive"
cost = "insensitive"
"""


@pytest.fixture
def clinic(request, tmp_path):
    """A service of that name, in a file of its own."""
    request.getfixturevalue("base")
    socket = request.getfixturevalue("socket")
    service = tmp_path / "services.conf"
    service.write_text(f"[clinic]\nhost={socket}\ndbname=postgres\nuser=steward\npassword=hunter2\n")
    (tmp_path / "p.toml").write_text(POLICY)
    return {"PGSERVICEFILE": str(service)}


@pytest.mark.parametrize("base", ["postgres"], indirect=True)
@pytest.mark.parametrize("url", ["postgresql://?service=clinic", "postgresql:///?service=clinic"])
def test_a_service_is_source_and_target(clinic, base, url, tmp_path):
    done = called(
        *("anonymize", url, "--table", "patients", "-p", "p.toml", "-o", url, "--to-table", "anon"),
        folder=tmp_path,
        **clinic,
    )
    assert done.returncode == 0, done.stderr
    again = called("verify", f"{url}#anon", "-p", "p.toml", "--original", f"{url}#patients", folder=tmp_path, **clinic)
    assert again.returncode == 0, again.stderr
    written = [path.read_text() for path in tmp_path.glob("*.json")]
    assert not any("hunter2" in text for text in (done.stdout, done.stderr, again.stdout, *written))


@pytest.mark.parametrize("base", ["postgres"], indirect=True)
def test_the_environment_names_the_service(clinic, base, tmp_path, monkeypatch):
    for name, value in (clinic | {"PGSERVICE": "clinic"}).items():
        monkeypatch.setenv(name, value)
    assert read_table("postgresql://#patients").frame.height == read_table(base.at("patients")).frame.height


@pytest.mark.parametrize("base", ["postgres"], indirect=True)
@pytest.mark.parametrize("change", ["service", "file", "socket"])
def test_a_service_that_is_not_there_is_one_sentence_without_what_is_in_the_file(clinic, base, tmp_path, change):
    url = "postgresql://?service=" + ("hospital" if change == "service" else "clinic")
    if change == "file":
        clinic = {"PGSERVICEFILE": str(tmp_path / "none.conf")}
    if change == "socket":
        text = (tmp_path / "services.conf").read_text()
        (tmp_path / "services.conf").write_text(text.replace("host=", "host=/none"))
    done = called("check", f"{url}#patients", "-p", "p.toml", folder=tmp_path, **clinic)
    assert done.returncode == 2
    assert "the PostgreSQL server cannot be reached" in done.stdout + done.stderr
    assert not any(word in done.stdout + done.stderr for word in ("hunter2", "steward"))
    with pytest.raises(kohort.DataError):
        kohort.anonymize(f"{url}#patients", tmp_path / "p.toml")
