"""Privacy models. One file each; a file in this folder that registers one is found by itself."""

from kohort.privacy.base import MODELS, Histogram, PrivacyModel, SensitiveModel, models_of
from kohort.privacy.populations import PopulationModel
from kohort.privacy.promise import Promise
from kohort.privacy.reference import Reference, SensitiveColumn, reference_of
from kohort.privacy.rules import Rule
from kohort.privacy.sizes import SizeModel
from kohort.registry import load_modules

load_modules(__name__, __path__)

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
    "SizeModel",
    "models_of",
    "reference_of",
]
