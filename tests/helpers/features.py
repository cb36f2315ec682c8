"""A policy for each feature that policies ask for."""

import kohort

ASKED = {
    "whole-table": {"algorithm": {"name": "datafly"}},
    "anonymity": {"algorithm": {"name": "nh"}, "privacy": {"anonymity": "matchings"}},
    "person": {"privacy": {"person": "name"}},
    "population": {"privacy": {"models": [{"model": "k-map", "k": 2, "population": "people.csv"}]}},
    "wildcard": {"privacy": {"missing": "wildcard"}},
    "pseudonyms": {
        "output": {"pseudonym_key": {"file": "key"}},
        "columns": {"name": {"role": "identifier", "pseudonym": True}},
    },
    "order": {"output": {"order": "kept"}},
    "bounds": {"output": {"bounds": True}},
    "formulas": {"output": {"formulas": "neutralised"}},
    "budget": {"algorithm": {"name": "auto", "budget": "5s"}},
    "preamble": {"input": {"skip_rows": 2}},
    "sets": {
        "columns": {"ill": {"role": "quasi", "type": "set", "separator": ";"}},
        "privacy": {"models": [{"model": "k-m-anonymity", "column": "ill"}]},
    },
}
"""What a policy says to ask for each feature that policies ask for."""


def policy_of(feature):
    policy = kohort.Policy.build(k=2, identifiers=["name"], quasi_identifiers=["age"], sensitive=["ill"], seed=1)
    sections = policy.to_dict()
    for section, changes in ASKED.get(feature, {}).items():
        sections[section] = sections.get(section, {}) | changes
    return kohort.Policy(**sections)
