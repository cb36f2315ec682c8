"""Privacy models: what they have in common here, one file for each in `models`."""

from kohort.privacy import models
from kohort.privacy.base import (
    MODELS,
    Histogram,
    PopulationModel,
    PrivacyModel,
    SensitiveModel,
    SetModel,
    SizeModel,
    models_of,
)
from kohort.privacy.promise import Promise
from kohort.privacy.reference import Reference, SensitiveColumn, reference_of
from kohort.privacy.rules import Rule

MODELS.fill_from(models.__name__, models.__path__)

__all__ = [
    "MODELS",
    "Histogram",
    "PopulationModel",
    "PrivacyModel",
    "Promise",
    "Reference",
    "Rule",
    "SensitiveColumn",
    "SensitiveModel",
    "SetModel",
    "SizeModel",
    "models_of",
    "reference_of",
]
