"""Hierarchy files: what is read, and the sentence for each thing that is wrong."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.errors import DataError
from kohort.policy.hierarchy import Taxonomy, read, read_csv, read_toml

WHERE = "hierarchy of column 'education' (education.csv)"
ARX = Path(__file__).parents[4].parent / "shared/data/adult/hierarchies"

EXPECTED = [("Qbach", "Qhigh", "*"), ("Q9th", "Qlow", "*"), ("Qmaster", "Qhigh", "*")]


def write(folder, text, name="education.csv"):
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def refusal(file, reader=read_csv, column="education"):
    with pytest.raises(DataError) as caught:
        reader(file, column)
    return list(caught.value.faults)


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["", "newline", "blank lines"])
def test_dialects(tmp_path, delimiter, newline, bom, end):
    lines = [delimiter.join(row) for row in EXPECTED]
    tail = {"": "", "newline": newline, "blank lines": newline * 3 + "  " + newline}[end]
    file = write(tmp_path, bom + newline.join(lines) + tail)
    assert read_csv(file, "education") == Taxonomy.from_paths(EXPECTED, "education")


def test_quoted_cells_may_hold_delimiters_quotes_and_newlines(tmp_path):
    file = write(tmp_path, '"[15, 20[","say ""hi""",*\n"a;b","two\nlines",*\n"[20, 25[","say ""hi""",*')
    assert read_csv(file, "c").to_rows() == [
        ("[15, 20[", 'say "hi"', "*"),
        ("[20, 25[", 'say "hi"', "*"),
        ("a;b", "two\nlines", "*"),
    ]


def test_commas_in_every_label_do_not_hide_the_semicolon(tmp_path):
    file = write(tmp_path, "[15, 20[;*\n[20, 25[;*\n")
    assert read_csv(file, "c").leaf_labels == ("[15, 20[", "[20, 25[")


def test_the_sniffer_survives_a_ragged_row(tmp_path):
    file = write(tmp_path, "x, 1;A;*\nx, 2;A;*\nx, 3;*\n")
    assert refusal(file) == [
        f"{WHERE}, row 3: has 2 cells where row 1 has 3; give every row the same number of levels."
    ]


OTHER_PARENT = "has another parent than the same label in row 1; give it one parent, or two names."
HOW_TO_WRITE = "write one row per value: the value, its coarser labels and the root, separated by semicolons."

# each: the text of a file whose labels all start with Q, and the sentences
FAULTS = {
    "empty": (
        "\n\n",
        [": is empty; " + HOW_TO_WRITE],
    ),
    "one column": (
        "Qa\nQb\n",
        [": has one cell in every row; " + HOW_TO_WRITE],
    ),
    "ragged": (
        "Qa;Qb\nQc;QA;Qroot\n\nQd;QA;Qroot\nQe;QA;Q1;Qroot",
        [
            ", row 1: has 2 cells where row 2 has 3; give every row the same number of levels.",
            ", row 5: has 4 cells where row 2 has 3; give every row the same number of levels.",
        ],
    ),
    "empty cell": (
        "Qa;QA;Qroot\nQb; ;Qroot\n;QA;Qroot\n",
        [
            ", row 2, cell 2: is empty; write a label there.",
            ", row 3, cell 1: is empty; write a label there.",
        ],
    ),
    "two parents": (
        "Qa;QA;QX;Qroot\nQb;QA;QX;Qroot\nQc;QA;QY;Qroot\nQd;QA;QY;Qroot\n",
        [", row 3, cell 2: " + OTHER_PARENT],
    ),
    "two parents, once for the whole branch": (
        "Qa;QA;QB;QX;Qroot\nQb;QA;QB;QY;Qroot\n",
        [", row 2, cell 3: " + OTHER_PARENT],
    ),
    "cycle": (
        "Qa;QA;Qroot\nQb;QB;Qroot\nQA;QC;QA\n",
        [
            ", row 3: ends in another root than row 1 (2 roots in all); end every row in the same label.",
            ", row 3, cell 3: the label stands at another place too (row 1, cell 2); "
            "a label must name one place, so rename one of the two.",
            ", row 3, cell 1: the value is labelled like the root; rename the root.",
        ],
    ),
    "cycle across rows": (
        "Qa;QA;QB;Qroot\nQb;QB;QA;Qroot\n",
        [
            ", row 2, cell 3: the label stands at another place too (row 1, cell 2); "
            "a label must name one place, so rename one of the two.",
            ", row 2, cell 2: the label stands at another place too (row 1, cell 3); "
            "a label must name one place, so rename one of the two.",
        ],
    ),
    "cycle below the root": (
        "Qa;QA;QB;QA;Qroot\n",
        [", row 1, cell 2: the label is its own ancestor, with another cell in between; rename one of the two."],
    ),
    "leaf like the root": (
        "Qa;QA;Qroot\nQroot;QB;Qroot\n",
        [", row 2, cell 1: the value is labelled like the root; rename the root."],
    ),
    "identical rows": (
        "Qa;QA;Qroot\nQb;QA;Qroot\nQa;QA;Qroot\n",
        [", row 3: repeats row 1; remove one of the two."],
    ),
    "contradictory rows": (
        "Qa;QA;Qroot\nQb;QB;Qroot\nQa;QB;Qroot\n",
        [", row 3: places the value of row 1 elsewhere; keep one of the two."],
    ),
    "two roots": (
        "Qa;QA;Qroot\nQb;QB;Qother\nQc;QC;Qthird\nQd;QD;Qthird\n",
        [", row 2: ends in another root than row 1 (3 roots in all); end every row in the same label."],
    ),
    "two places": (
        "Qa;QA;Qroot\nQA;QB;Qroot\n",
        [
            ", row 2, cell 1: the label stands at another place too (row 1, cell 2); "
            "a label must name one place, so rename one of the two."
        ],
    ),
    "leaf like its parent, beside others": (
        "QA;QA;Qroot\nQb;QA;Qroot\n",
        [", row 1, cell 1: carries the label of its parent, which has other children too; rename one of the two."],
    ),
    "open quote": (
        'Qa;QA;Qroot\n"Qb;QA;Qroot\n',
        [', row 2: cannot be split into cells; close every quote, and write "" for a quote inside quotes.'],
    ),
    "all together": (
        "Qa;QA;Qroot\nQb;QA\nQc;;Qroot\nQa;QA;Qroot\nQd;QA;Qother\n",
        [
            ", row 2: has 2 cells where row 1 has 3; give every row the same number of levels.",
            ", row 3, cell 2: is empty; write a label there.",
            ", row 4: repeats row 1; remove one of the two.",
            ", row 5: ends in another root than row 1 (2 roots in all); end every row in the same label.",
            ", row 5, cell 2: " + OTHER_PARENT,
        ],
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_every_fault_has_its_sentence_and_no_label(tmp_path, case):
    text, sentences = FAULTS[case]
    found = refusal(write(tmp_path, text))
    assert found == [WHERE + sentence for sentence in sentences]
    assert not any("Q" in sentence for sentence in found)


def test_rows_are_counted_in_lines_of_the_file(tmp_path):
    file = write(tmp_path, '"Q\none";QA;*\n\nQb;QA\n')
    assert refusal(file) == [
        f"{WHERE}, row 4: has 2 cells where row 1 has 3; give every row the same number of levels."
    ]


def test_many_faults_are_cut_short(tmp_path):
    rows = "".join(f"Q{number};*\n" for number in range(30)) * 2
    found = refusal(write(tmp_path, rows))
    assert len(found) == 21
    assert found[0] == f"{WHERE}, row 31: repeats row 1; remove one of the two."
    assert found[-1] == f"{WHERE}: and 10 more faults like these."


def test_files_that_cannot_be_read(tmp_path):
    assert refusal(tmp_path / "education.csv") == [f"{WHERE}: there is no such file; check its path."]
    (tmp_path / "education.csv").mkdir()
    assert refusal(tmp_path / "education.csv") == [
        f"{WHERE}: cannot be read (Is a directory); check path and permissions."
    ]
    latin = write(tmp_path, "Qa;*\nQé;*\n".encode("latin-1"), "latin.csv")
    assert refusal(latin) == [
        "hierarchy of column 'education' (latin.csv): is not UTF-8 text (line 2); save it as UTF-8."
    ]


def test_a_chain_of_equal_labels_is_read(tmp_path):
    file = write(tmp_path, "Other;Other;*\nFlu;Lung;*\n")
    assert read_csv(file, "c").labels == ("*", "Other", "Other", "Lung", "Flu")


def test_the_root_may_have_any_label(tmp_path):
    assert read_csv(write(tmp_path, "Flu;Disease\nAcne;Disease\n"), "c").labels[0] == "Disease"


LABEL_TEXT = st.text(
    st.one_of(st.sampled_from(';,|\t"\r\n\ufeff\x85\u2028*é猫'), st.characters(exclude_categories=["Cs"])),
    min_size=1,
    max_size=6,
).filter(lambda label: not label.isspace())


@st.composite
def labelled_trees(draw):
    """Trees of any shape with unique labels of any text."""
    labels = draw(st.lists(LABEL_TEXT, min_size=2, max_size=15, unique=True))
    parent = [-1] + [draw(st.integers(0, node - 1)) for node in range(1, len(labels))]
    paths = []
    for leaf in range(1, len(labels)):
        if leaf not in parent:
            line = [leaf]
            while parent[line[-1]] >= 0:
                line.append(parent[line[-1]])
            paths.append([labels[node] for node in line])
    return Taxonomy.from_paths(paths, "c")


@given(taxonomy=labelled_trees())
def test_what_is_written_reads_back(tmp_path_factory, taxonomy):
    file = tmp_path_factory.mktemp("written") / "c.csv"
    taxonomy.to_csv(file)
    again = read_csv(file, "c")
    assert again == Taxonomy.from_paths(taxonomy.to_rows(), "c")
    assert again.leaf_labels == taxonomy.leaf_labels
    if taxonomy.is_balanced:
        assert again == taxonomy


@pytest.mark.parametrize("odd", list(';,|\t"\r\n\ufeff\x85\u2028\x00'))
def test_odd_characters_anywhere_in_a_label_read_back(tmp_path, odd):
    leaves = [f"{odd}a", f"b{odd}", f"c{odd}{odd}d", "e"]
    Taxonomy.flat(leaves, "c").to_csv(tmp_path / "c.csv")
    assert read_csv(tmp_path / "c.csv", "c").leaf_labels == tuple(leaves)


def test_csv_bytes(tmp_path):
    Taxonomy.from_tree({"a;b": ['say "x"'], "C": ["é"]}, "c").to_csv(tmp_path / "c.csv")
    assert (tmp_path / "c.csv").read_bytes() == '"say ""x""";"a;b";*\né;C;*\n'.encode()


TOML = """
root = "any"
[tree]
Lung = ["Asthma", "Flu"]
Other = ["Fever", { Skin = ["Acne", "Eczema"] }]
[tree.Heart]
Acute = ["Infarction"]
"""


def test_toml(tmp_path):
    taxonomy = read_toml(write(tmp_path, TOML, "illness.toml"), "illness")
    expected = {
        "Lung": ["Asthma", "Flu"],
        "Other": ["Fever", {"Skin": ["Acne", "Eczema"]}],
        "Heart": {"Acute": ["Infarction"]},
    }
    assert taxonomy == Taxonomy.from_tree(expected, "illness", root="any")
    short = read_toml(write(tmp_path, 'tree = ["Healthy", { Lung = ["Flu"] }]', "short.toml"), "illness")
    assert short.labels == ("*", "Healthy", "Lung", "Flu")


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", [": has no 'tree'; write the branches under [tree]."]),
        (
            'root = 3\nQlung = ["Qa"]\n',
            [
                ": its top holds more than 'root' and 'tree' (1 unknown); put the branches under [tree].",
                ": its 'root' is not text; write it in quotes.",
                ": has no 'tree'; write the branches under [tree].",
            ],
        ),
        (
            '[tree.Qa]\nQb = ["Qc"]\n[tree.Qa]\n',
            [": is not valid TOML at line 3; correct it there."],
        ),
        ('[tree]\nQa = ["Qb"', [": is not valid TOML at end of document; correct it there."]),
        (
            '[tree]\nQlung = ["Qa", 7]\nQskin = ["Qa"]\nQheart = []\nQeye = "Qb"\n',
            [
                ": 1 branch is neither a list nor a table; list the leaves in brackets.",
                ": 1 branch is without leaves; list them, or write a lone value as a leaf.",
                ", leaf 2, label 1: is not text; write it in quotes.",
                ", leaf 3: places the value of leaf 1 elsewhere; keep one of the two.",
            ],
        ),
        ("tree = {}", [": 1 branch is without leaves; list them, or write a lone value as a leaf."]),
    ],
)
def test_toml_faults(tmp_path, text, sentences):
    found = refusal(write(tmp_path, text, "illness.toml"), read_toml, "illness")
    assert found == [f"hierarchy of column 'illness' (illness.toml){sentence}" for sentence in sentences]
    assert not any("Q" in sentence for sentence in found)


def test_the_suffix_decides(tmp_path):
    assert read(write(tmp_path, "a;*\n", "c.CSV"), "c").leaf_labels == ("a",)
    assert read(write(tmp_path, "a\t*\n", "c.tsv"), "c").leaf_labels == ("a",)
    assert read(write(tmp_path, 'tree = ["a"]', "c.toml"), "c").leaf_labels == ("a",)
    assert refusal(tmp_path / "c.ahs", read, "c") == [
        "hierarchy of column 'c' (c.ahs): the kind of file is not known; name it .csv (ARX rows) or .toml (nested)."
    ]


@pytest.mark.skipif(not ARX.is_dir(), reason="the shared Adult hierarchies are not here")
@pytest.mark.parametrize(
    ("name", "leaves", "nodes", "levels"),
    [
        ("age", 100, 100 + 20 + 10 + 5 + 1, 5),
        ("education", 16, 16 + 5 + 3 + 1, 4),
        ("marital-status", 7, 7 + 2 + 1, 3),
        ("native-country", 41, 41 + 5 + 1, 3),
        ("occupation", 14, 14 + 3 + 1, 3),
        ("race", 5, 6, 2),
        ("salary-class", 2, 3, 2),
        ("sex", 2, 3, 2),
        ("workclass", 8, 8 + 3 + 1, 3),
    ],
)
def test_the_files_of_arx(name, leaves, nodes, levels):
    taxonomy = read(ARX / f"{name}.csv", name)
    assert (taxonomy.n_leaves, taxonomy.n_nodes, taxonomy.levels) == (leaves, nodes, levels)
    assert taxonomy.is_balanced
    rows = {tuple(line.split(";")) for line in (ARX / f"{name}.csv").read_text().splitlines()}
    assert set(taxonomy.to_rows()) == rows
