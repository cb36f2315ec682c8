"""The taxonomies of the demo table, and the tables that they and the generator are made of."""

import pytest

from kohort.datasets import _vocabulary as people
from kohort.datasets import patients_hierarchies
from kohort.datasets._diseases import AGES, DISEASES, NEWBORN_DAYS, SEASONS


def leaves(tree):
    return list(tree) if isinstance(tree, list) else [leaf for below in tree.values() for leaf in leaves(below)]


def labels(tree):
    if isinstance(tree, list):
        return list(tree)
    return [*tree, *(label for below in tree.values() for label in labels(below))]


class TestHierarchies:
    @pytest.mark.parametrize("column", ["diagnosis", "education", "ethnicity"])
    def test_every_value_is_a_leaf_and_every_leaf_occurs(self, many, column):
        assert set(many[column].drop_nulls()) == set(leaves(patients_hierarchies()[column]))

    @pytest.mark.parametrize("column", ["diagnosis", "education", "ethnicity"])
    def test_labels_are_unique_and_none_is_the_root(self, column):
        all_labels = labels(patients_hierarchies()[column])
        assert len(set(all_labels)) == len(all_labels)
        assert "*" not in all_labels
        assert all(label == label.strip() != "" for label in all_labels)

    def test_diagnosis_has_three_levels_everywhere(self):
        for groups in patients_hierarchies()["diagnosis"].values():
            assert all(isinstance(diseases, list) and diseases for diseases in groups.values())
        assert len(DISEASES) == len(leaves(patients_hierarchies()["diagnosis"])) >= 60

    def test_caller_may_change_his_copy(self):
        patients_hierarchies()["education"]["Higher education"]["Postgraduate"].clear()
        patients_hierarchies()["diagnosis"].clear()
        assert "Doctorate" in leaves(patients_hierarchies()["education"])
        assert "Influenza" in leaves(patients_hierarchies()["diagnosis"])


class TestVocabulary:
    """Slips in the tables that arithmetic on codes would turn into nonsense without an error."""

    def test_lists_have_the_length_that_codes_count_on(self):
        for style in people.NAMES:
            for names, length in zip(style, (people.FIRST_NAMES, people.FIRST_NAMES, people.LAST_NAMES), strict=True):
                assert len(names.split()) == len(set(names.split())) == length
        assert len(people.STYLE_OF_ETHNICITY) == len(people.ETHNICITIES)
        assert {len(row) for row in people.STYLE_OF_ETHNICITY} == {len(people.NAMES)}
        assert {len(region.ethnicities) for region in people.REGIONS} == {len(people.ETHNICITIES)}
        assert {len(row) for row in people.EDUCATION_FROM_AGE.values()} == {len(people.EDUCATIONS)}
        assert {len(months) for months in SEASONS.values()} == {12}

    def test_trees_and_codes_name_the_same_things(self):
        assert leaves(people.ETHNICITY_TREE) == list(people.ETHNICITIES)
        assert leaves(people.EDUCATION_TREE) == list(people.EDUCATIONS)

    def test_diseases_refer_to_what_exists(self):
        assert all(d.ages in AGES and d.season in SEASONS and 0 <= d.women <= 1 for d in DISEASES.values())
        assert {name for name, d in DISEASES.items() if d.ages == "newborns"} == set(NEWBORN_DAYS)
        assert all(list(curve) == sorted(curve) for curve in AGES.values())
        assert all(region.codes <= 100 for region in people.REGIONS)
