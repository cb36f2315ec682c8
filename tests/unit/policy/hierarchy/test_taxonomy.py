"""Hand-computed trees, and random ones against a walk up the parents."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.errors import DataError, InternalError, PolicyError
from kohort.policy.hierarchy import Taxonomy, prefixes

# *                         0
# ├── Lung                  1
# │   ├── Asthma            2   leaf 0
# │   └── Flu               3   leaf 1
# ├── Healthy               4   leaf 2
# └── Other                 5
#     └── Skin              6
#         ├── Acne          7   leaf 3
#         └── Eczema        8   leaf 4
NESTED = [{"Lung": ["Asthma", "Flu"]}, "Healthy", {"Other": {"Skin": ["Acne", "Eczema"]}}]


@pytest.fixture
def illness():
    return Taxonomy.from_tree(NESTED, "illness")


@st.composite
def random_trees(draw, max_nodes=40):
    """Nodes are attached to earlier ones, labels are numbers: valid and of any shape."""
    n_nodes = draw(st.integers(2, max_nodes))
    parent = [-1] + [draw(st.integers(0, node - 1)) for node in range(1, n_nodes)]
    paths = []
    for leaf in set(range(n_nodes)) - set(parent):
        path, node = [], leaf
        while node >= 0:
            path.append(f"n{node}")
            node = parent[node]
        paths.append(path)
    return Taxonomy.from_paths(draw(st.permutations(paths)), "c")


def ancestors(taxonomy, node):
    while node >= 0:
        yield node
        node = int(taxonomy.parent[node])


def lca_by_walking(taxonomy, lo, hi):
    lines = [list(ancestors(taxonomy, int(taxonomy.leaf_node[leaf]))) for leaf in range(lo, hi + 1)]
    return next(node for node in lines[0] if all(node in line for line in lines))


def test_arrays_of_a_small_unbalanced_tree(illness):
    assert illness.labels == ("*", "Lung", "Asthma", "Flu", "Healthy", "Other", "Skin", "Acne", "Eczema")
    assert illness.parent.tolist() == [-1, 0, 1, 1, 0, 0, 5, 6, 6]
    assert illness.depth.tolist() == [0, 1, 2, 2, 1, 1, 2, 3, 3]
    assert illness.height.tolist() == [3, 1, 0, 0, 0, 2, 1, 0, 0]
    assert illness.first_leaf.tolist() == [0, 0, 0, 1, 2, 3, 3, 3, 4]
    assert illness.last_leaf.tolist() == [4, 1, 0, 1, 2, 4, 4, 3, 4]
    assert illness.leaf_node.tolist() == [2, 3, 4, 7, 8]
    assert illness.leaf_labels == ("Asthma", "Flu", "Healthy", "Acne", "Eczema")
    assert (illness.n_nodes, illness.n_leaves, illness.height_edges, illness.levels) == (9, 5, 3, 4)
    assert not illness.is_balanced
    for name in ("parent", "depth", "height", "first_leaf", "last_leaf", "leaf_node"):
        array = getattr(illness, name)
        assert array.dtype == np.int32
        assert not array.flags.writeable


def test_children_come_in_the_order_of_first_appearance():
    taxonomy = Taxonomy.from_paths([("b", "B", "*"), ("a", "A", "*"), ("c", "B", "*")], "c")
    assert taxonomy.leaf_labels == ("b", "c", "a")
    assert taxonomy.is_balanced


def test_every_lca_of_the_small_tree(illness):
    got = [[illness.labels[illness.lca(lo, hi)] for hi in range(lo, 5)] for lo in range(5)]
    assert got == [
        ["Asthma", "Lung", "*", "*", "*"],
        ["Flu", "*", "*", "*"],
        ["Healthy", "*", "*"],
        ["Acne", "Skin"],
        ["Eczema"],
    ]
    assert type(illness.lca(0, 1)) is int


@given(random_trees())
def test_lca_agrees_with_a_walk_up_the_parents(taxonomy):
    leaves = np.arange(taxonomy.n_leaves, dtype=np.int32)
    lo, hi = (side.ravel() for side in np.meshgrid(leaves, leaves))
    found = taxonomy.lca(lo, hi)
    assert found.dtype == np.int32
    expected = [lca_by_walking(taxonomy, min(a, b), max(a, b)) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)]
    assert found.tolist() == expected


@given(random_trees())
def test_numbering_and_spans_follow_from_the_parents(taxonomy):
    assert taxonomy.parent[0] == -1
    lines = [list(ancestors(taxonomy, node)) for node in range(taxonomy.n_nodes)]
    leaf_lines = [lines[node] for node in taxonomy.leaf_node]
    for node in range(taxonomy.n_nodes):
        under = [leaf for leaf, line in enumerate(leaf_lines) if node in line]
        assert under == list(range(taxonomy.first_leaf[node], taxonomy.last_leaf[node] + 1))
        assert taxonomy.depth[node] == len(lines[node]) - 1
        assert taxonomy.height[node] == max(leaf_lines[leaf].index(node) for leaf in under)


def test_lca_refuses_codes_that_are_no_leaves(illness):
    for lo, hi in [(-1, 2), (0, 5), (2, -1)]:
        with pytest.raises(InternalError, match="not the number of a leaf"):
            illness.lca(lo, hi)
    with pytest.raises(InternalError, match="not the number of a leaf"):
        illness.ancestor_at(np.array([0, -1]), 1)
    assert illness.lca(np.array([], np.int32), np.array([], np.int32)).shape == (0,)


def test_lca_of_a_million_pairs_over_forty_thousand_codes():
    codes = [f"{number:05}" for number in range(10_000, 90_000, 2)]
    taxonomy = prefixes(codes, lengths=(5, 3, 2), column="zip")
    assert (taxonomy.n_leaves, taxonomy.n_nodes) == (40_000, 40_000 + 800 + 80 + 1)
    lo, hi = np.random.default_rng(7).integers(0, taxonomy.n_leaves, (2, 1_000_000))
    hi[::3] = np.minimum(lo[::3] + hi[::3] % 60, taxonomy.n_leaves - 1)  # near pairs meet below the root
    found = taxonomy.lca(lo, hi)
    seen = set()
    for pair in range(0, 1_000_000, 997):
        one, two = codes[lo[pair]], codes[hi[pair]]
        shared = next((n for n in (5, 3, 2) if one[:n] == two[:n]), 0)
        expected = one[:shared] + "*" * (5 - shared) if shared else "*"
        assert taxonomy.labels[found[pair]] == expected
        seen.add(shared)
    assert seen == {0, 2, 3, 5}


def test_codes_and_nodes_by_label(illness):
    codes = illness.codes(["Eczema", "Skin", "Asthma", "*", "", "unheard of"])
    assert codes.dtype == np.int32
    assert codes.tolist() == [4, -1, 0, -1, -1, -1]
    assert illness.codes([]).shape == (0,)
    assert [illness.node_of(label) for label in ("*", "Skin", "Flu", "unheard of")] == [0, 6, 3, None]


def test_a_chain_of_equal_labels_keeps_its_levels_and_is_found_at_its_top():
    taxonomy = Taxonomy.from_paths([("Other", "Other", "*"), ("Flu", "Lung", "*")], "c")
    assert taxonomy.labels == ("*", "Other", "Other", "Lung", "Flu")
    assert taxonomy.height.tolist() == [2, 1, 0, 1, 0]
    assert taxonomy.node_of("Other") == 1
    assert taxonomy.codes(["Other"]).tolist() == [0]
    assert taxonomy.lca(0, 0) == 2
    assert taxonomy.to_rows() == [("Other", "Other", "*"), ("Flu", "Lung", "*")]


def test_ancestors_by_level_are_the_cells_of_the_rows(illness):
    assert illness.to_rows() == [
        ("Asthma", "Lung", "Lung", "*"),
        ("Flu", "Lung", "Lung", "*"),
        ("Healthy", "Healthy", "Healthy", "*"),
        ("Acne", "Skin", "Other", "*"),
        ("Eczema", "Skin", "Other", "*"),
    ]
    assert illness.ancestor_at(3, 2) == 5
    assert illness.ancestor_at(np.array([0, 2, 4]), 1).tolist() == [1, 4, 6]
    assert type(illness.ancestor_at(3, 2)) is int


@pytest.mark.parametrize("level", [-1, 4])
def test_a_level_that_is_not_there_is_refused(illness, level):
    with pytest.raises(PolicyError) as caught:
        illness.ancestor_at(0, level)
    assert caught.value.faults == (
        f"hierarchy of column 'illness': there is no level {level}; choose one from 0 (the values) to 3 (the root).",
    )


@given(random_trees())
def test_rows_grow_back_into_an_equivalent_tree(taxonomy):
    again = Taxonomy.from_paths(taxonomy.to_rows(), "c")
    assert again.is_balanced
    assert again.leaf_labels == taxonomy.leaf_labels
    assert again.to_rows() == taxonomy.to_rows()
    assert (again == taxonomy) == taxonomy.is_balanced
    leaves = np.arange(taxonomy.n_leaves)
    lo, hi = (side.ravel() for side in np.meshgrid(leaves, leaves))
    ours, theirs = taxonomy.lca(lo, hi), again.lca(lo, hi)
    assert [taxonomy.labels[node] for node in ours] == [again.labels[node] for node in theirs]
    assert taxonomy.height[ours].tolist() == again.height[theirs].tolist()


def test_equality_is_of_the_tree_and_hash_agrees(illness):
    twin = Taxonomy.from_tree(NESTED, "another column")
    assert illness == twin
    assert hash(illness) == hash(twin)
    assert illness != Taxonomy.from_tree(NESTED, "illness", root="any")
    assert illness != Taxonomy.flat(illness.leaf_labels, "illness")
    assert Taxonomy.from_paths([("a", "b", "*")], "c") != Taxonomy.from_paths([("a", "*"), ("b", "*")], "c")
    assert illness != "illness"


def test_a_pickle_comes_back_equal_and_read_only(illness):
    again = pickle.loads(pickle.dumps(illness))
    assert again == illness
    assert again.column == "illness"
    assert not again.depth.flags.writeable
    assert again.lca(3, 4) == 6


def test_nothing_can_be_assigned(illness):
    with pytest.raises(AttributeError):
        illness.column = "other"
    with pytest.raises(ValueError, match="read-only"):
        illness.parent[0] = 3


def test_repr_shows_counts_and_no_label(illness):
    assert repr(illness) == "<Taxonomy of 'illness': 5 leaves, 9 nodes, 4 levels>"


def test_the_bare_constructor_demands_preorder():
    with pytest.raises(InternalError, match="pre-order"):
        Taxonomy(np.array([-1, 0, 0, 1], np.int32), ("*", "A", "B", "a"), "c")


def test_one_value_is_a_tree():
    taxonomy = Taxonomy.flat(["a"], "c")
    assert (taxonomy.lca(0, 0), taxonomy.levels, taxonomy.to_rows()) == (1, 2, [("a", "*")])


def refusal(make):
    with pytest.raises(DataError) as caught:
        make()
    return list(caught.value.faults)


@pytest.mark.parametrize(
    ("paths", "sentences"),
    [
        ([], [": is empty; give one path per value, from the value up to the root."]),
        ([("a",)], [", path 1: has no root; give the value, its coarser labels and the root."]),
        ([("a", "*"), ("b", "\t", "*")], [", path 2, label 2: is empty; write a label there."]),
        ([(7, "*")], [", path 1, label 1: is not text; write it in quotes."]),
        (
            [("*", "*")],
            [", path 1, label 1: the value is labelled like the root; rename the root."],
        ),
        (
            [("a", "*"), ("b", "a", "*")],
            [
                ", path 1: its value also stands above the value of path 2; a value must be a leaf, "
                "so give the group a label of its own."
            ],
        ),
        (
            [("a", "B", "P", "*"), ("b", "c", "B", "*")],
            [
                ", path 2, label 3: the label stands at another place too (path 1, label 2); "
                "a label must name one place, so rename one of the two."
            ],
        ),
    ],
)
def test_faulty_paths(paths, sentences):
    expected = [f"hierarchy of column 'c'{sentence}" for sentence in sentences]
    assert refusal(lambda: Taxonomy.from_paths(paths, "c")) == expected


def test_flat_refuses_repetitions_and_the_root():
    assert refusal(lambda: Taxonomy.flat(["a", "b", "a", "*"], "c")) == [
        "hierarchy of column 'c', value 3: repeats value 1; remove one of the two.",
        "hierarchy of column 'c', value 4, label 1: the value is labelled like the root; rename the root.",
    ]


def test_faulty_nesting_is_reported_with_the_faults_of_the_leaves():
    nested = {"Lung": [], "Skin": "Acne", "Heart": {}, "Other": ["Flu", 3, "Flu"]}
    assert refusal(lambda: Taxonomy.from_tree(nested, "c")) == [
        "hierarchy of column 'c': 1 branch is neither a list nor a table; list the leaves in brackets.",
        "hierarchy of column 'c': 2 branches are without leaves; list them, or write a lone value as a leaf.",
        "hierarchy of column 'c', leaf 2, label 1: is not text; write it in quotes.",
        "hierarchy of column 'c', leaf 3: repeats leaf 1; remove one of the two.",
    ]
