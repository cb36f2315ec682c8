"""Privacy models. One file each; a file in this folder that registers one is found by itself."""

from kohort.privacy.base import MODELS, Histogram, PrivacyModel, SensitiveModel, models_of
from kohort.registry import load_modules

load_modules(__name__, __path__)

__all__ = ["MODELS", "Histogram", "PrivacyModel", "SensitiveModel", "models_of"]
