"""Why people are in hospital: a three-level taxonomy with what is typical of each disease.

The figures are round numbers of the size that national hospital statistics report. They are made
to be believable, not to be cited.
"""

from __future__ import annotations

from typing import NamedTuple


class Disease(NamedTuple):
    """What is typical of the admissions for one disease."""

    admissions: float
    """How often it is the main diagnosis, relative to the others (about per thousand)."""
    ages: str
    """Key of `AGES`."""
    women: float
    """Share of women; 0 and 1 are strict."""
    stay: float
    """Mean days in hospital of a patient aged about 40; the old stay longer."""
    base: float
    """Cost that does not depend on the stay: operating theatre, implants, drugs."""
    season: str = "even"
    """Key of `SEASONS`."""
    planned: bool = False
    """Admitted by appointment, hence seldom on weekends."""


# Relative number of admissions at some ages in years; linear in between, constant outside.
AGES: dict[str, dict[int, float]] = {
    "newborns": {0: 1, 1: 0},
    "infants": {0: 10, 1: 6, 2: 3, 5: 0.3, 8: 0},
    "youth": {2: 0, 10: 4, 18: 6, 30: 4, 50: 2, 80: 0.7, 100: 0},
    "fertile": {14: 0, 17: 0.8, 22: 5, 30: 10, 34: 8, 40: 2.5, 46: 0.2, 48: 0},
    "adults": {13: 0, 20: 4, 40: 8, 55: 8, 70: 4, 90: 0.8, 102: 0},
    "middle": {18: 0, 35: 2, 50: 6, 62: 9, 72: 8, 85: 4, 95: 0.6, 102: 0},
    "older": {25: 0, 40: 0.6, 55: 3, 70: 8, 80: 10, 88: 7, 95: 2, 103: 0},
    "oldest": {55: 0, 65: 1, 75: 4, 84: 10, 90: 8, 97: 2, 103: 0},
    "everyone": {0: 6, 3: 3, 8: 1, 15: 1.2, 30: 2, 50: 3.5, 65: 6, 80: 9, 88: 6, 96: 1.5, 103: 0},
}

# Relative number of admissions in the middle of each month, January first; linear in between.
SEASONS: dict[str, tuple[float, ...]] = {
    "even": (10, 10, 10, 10, 10, 10, 10, 9.5, 10, 10, 10, 9.5),
    "winter": (30, 26, 14, 5, 2, 0.8, 0.5, 0.5, 1, 3, 9, 24),
    "cold": (15, 14, 12, 10, 8.5, 7.5, 7, 7, 8, 10, 12, 14.5),
    "summer": (4, 4, 5, 8, 13, 18, 20, 18, 12, 7, 5, 4),
}

# Relative number of admissions from Monday to Sunday: unplanned, planned.
WEEKDAYS: tuple[tuple[float, ...], ...] = (
    (10.8, 10.4, 10.2, 10.1, 10.2, 9.0, 8.8),
    (12.5, 12.5, 12.0, 11.0, 8.0, 0.8, 1.5),
)

D = Disease
CHAPTERS: dict[str, dict[str, dict[str, Disease]]] = {
    "Infectious": {
        "Bacterial infections": {
            "Sepsis": D(58, "everyone", 0.49, 7.0, 6200, "cold"),
            "Lyme disease": D(2, "youth", 0.45, 3.2, 1400, "summer"),
            "Tuberculosis": D(1, "adults", 0.36, 11, 3600),
        },
        "Viral infections": {
            "COVID-19": D(22, "older", 0.47, 6.0, 4300, "cold"),
            "HIV disease": D(2, "adults", 0.24, 7.5, 5200),
        },
        "Intestinal infections": {
            "Viral gastroenteritis": D(9, "everyone", 0.55, 2.4, 900, "winter"),
            "Clostridioides difficile colitis": D(5, "older", 0.58, 5.2, 1900),
            "Salmonella infection": D(2.5, "everyone", 0.5, 3.1, 1100, "summer"),
        },
    },
    "Neoplasms": {
        "Solid tumors": {
            "Lung cancer": D(9, "middle", 0.47, 5.8, 8200, "even", True),
            "Breast cancer": D(6, "middle", 0.99, 2.4, 9100, "even", True),
            "Colorectal cancer": D(9, "middle", 0.46, 6.4, 10800, "even", True),
            "Pancreatic cancer": D(4, "middle", 0.48, 7.0, 11200),
            "Prostate cancer": D(6, "middle", 0.0, 2.0, 9700, "even", True),
            "Ovarian cancer": D(3, "middle", 1.0, 5.0, 9900, "even", True),
        },
        "Blood cancers": {
            "Leukemia": D(5, "everyone", 0.43, 12, 16500),
            "Lymphoma": D(5, "middle", 0.44, 8.5, 12400),
        },
    },
    "Endocrine": {
        "Diabetes": {
            "Type 1 diabetes": D(8, "youth", 0.49, 3.1, 1800),
            "Type 2 diabetes": D(18, "middle", 0.44, 4.6, 2600),
        },
        "Metabolic disorders": {
            "Obesity": D(7, "adults", 0.78, 1.8, 9800, "even", True),
            "Dehydration": D(11, "everyone", 0.56, 2.7, 800, "summer"),
            "Hypothyroidism": D(2, "middle", 0.79, 3.2, 1200),
        },
    },
    "Mental": {
        "Mood disorders": {
            "Depression": D(18, "adults", 0.58, 6.5, 700),
            "Bipolar disorder": D(10, "adults", 0.54, 7.8, 800),
        },
        "Psychotic disorders": {"Schizophrenia": D(11, "adults", 0.36, 10.5, 900)},
        "Substance use": {
            "Alcohol dependence": D(13, "adults", 0.28, 4.3, 1100),
            "Opioid dependence": D(7, "adults", 0.38, 4.1, 1200),
        },
    },
    "Nervous system": {
        "Episodic disorders": {
            "Epilepsy": D(11, "everyone", 0.49, 3.2, 2500),
            "Migraine": D(3, "adults", 0.77, 2.2, 1100),
        },
        "Degenerative disorders": {
            "Alzheimer disease": D(7, "oldest", 0.62, 7.5, 1300),
            "Vascular dementia": D(4, "oldest", 0.53, 7.2, 1400),
            "Parkinson disease": D(3, "older", 0.4, 5.2, 1900),
            "Multiple sclerosis": D(3, "adults", 0.73, 4.6, 4100),
        },
    },
    "Circulatory": {
        "Ischemic heart disease": {
            "Myocardial infarction": D(27, "older", 0.37, 3.9, 12900, "cold"),
            "Angina pectoris": D(6, "older", 0.43, 2.0, 5200),
        },
        "Heart rhythm and failure": {
            "Heart failure": D(44, "oldest", 0.5, 5.0, 3300, "cold"),
            "Atrial fibrillation": D(18, "older", 0.49, 3.0, 3800),
        },
        "Cerebrovascular disease": {
            "Ischemic stroke": D(24, "older", 0.5, 5.2, 6100),
            "Intracerebral hemorrhage": D(5, "older", 0.46, 7.6, 8900),
        },
        "Vascular disease": {
            "Pulmonary embolism": D(8, "older", 0.51, 3.9, 3400),
            "Hypertension": D(9, "older", 0.53, 2.7, 1600),
        },
    },
    "Respiratory": {
        "Respiratory infections": {
            "Influenza": D(12, "everyone", 0.53, 3.6, 1700, "winter"),
            "Pneumonia": D(33, "everyone", 0.49, 4.4, 2400, "cold"),
            "Bronchiolitis": D(8, "infants", 0.42, 2.9, 1500, "winter"),
        },
        "Chronic airway disease": {
            "Asthma": D(8, "youth", 0.56, 2.6, 1500, "cold"),
            "COPD": D(21, "older", 0.54, 3.9, 1900, "cold"),
        },
    },
    "Digestive": {
        "Stomach and bowel": {
            "Gastric ulcer": D(6, "older", 0.46, 4.2, 3700),
            "Appendicitis": D(9, "youth", 0.45, 2.4, 7400),
            "Crohn disease": D(5, "youth", 0.53, 4.8, 4600),
            "Diverticulitis": D(10, "middle", 0.54, 4.0, 4900),
        },
        "Liver, gallbladder and pancreas": {
            "Gallstones": D(15, "middle", 0.62, 3.0, 7900),
            "Liver cirrhosis": D(9, "middle", 0.37, 5.8, 5100),
            "Acute pancreatitis": D(13, "adults", 0.46, 4.3, 3100),
        },
    },
    "Musculoskeletal": {
        "Joint disease": {
            "Knee osteoarthritis": D(21, "middle", 0.61, 2.0, 12800, "even", True),
            "Hip osteoarthritis": D(15, "middle", 0.55, 1.9, 13400, "even", True),
            "Rheumatoid arthritis": D(2, "middle", 0.74, 4.2, 4400),
        },
        "Spine disease": {
            "Lumbar disc herniation": D(9, "adults", 0.46, 2.5, 13800, "even", True),
            "Spinal stenosis": D(8, "older", 0.5, 3.1, 17200, "even", True),
        },
    },
    "Genitourinary": {
        "Kidney and urinary tract": {
            "Acute kidney failure": D(22, "older", 0.46, 4.5, 2500),
            "Urinary tract infection": D(21, "everyone", 0.69, 3.6, 1400),
            "Kidney stones": D(8, "adults", 0.45, 1.9, 4300, "summer"),
        },
        "Reproductive organs": {
            "Prostatic hyperplasia": D(4, "older", 0.0, 2.0, 5600, "even", True),
            "Endometriosis": D(3, "fertile", 1.0, 1.9, 6900, "even", True),
        },
    },
    "Pregnancy and birth": {
        "Childbirth": {
            "Vaginal delivery": D(60, "fertile", 1.0, 2.2, 2900),
            "Cesarean delivery": D(29, "fertile", 1.0, 3.3, 5200, "even", True),
        },
        "Pregnancy complications": {
            "Preeclampsia": D(7, "fertile", 1.0, 4.1, 3800),
            "Gestational diabetes": D(4, "fertile", 1.0, 2.6, 2600),
        },
        "Newborn conditions": {
            "Liveborn infant": D(86, "newborns", 0.488, 2.5, 700),
            "Neonatal jaundice": D(7, "newborns", 0.46, 2.6, 1000),
            "Preterm birth": D(8, "newborns", 0.46, 21, 14500),
        },
    },
    "Injuries": {
        "Fractures": {
            "Hip fracture": D(17, "oldest", 0.7, 5.2, 9900),
            "Forearm fracture": D(5, "youth", 0.42, 1.7, 5900, "summer"),
            "Ankle fracture": D(6, "adults", 0.54, 2.6, 8300),
        },
        "Other injuries": {
            "Concussion": D(5, "everyone", 0.45, 1.9, 2400),
            "Burns": D(3, "youth", 0.35, 7.4, 11800),
        },
    },
}

DISEASES: dict[str, Disease] = {
    name: disease for groups in CHAPTERS.values() for group in groups.values() for name, disease in group.items()
}

# Newborns are admitted at birth or in the days after it: the days over which their age spreads.
NEWBORN_DAYS: dict[str, float] = {"Liveborn infant": 1, "Preterm birth": 1, "Neonatal jaundice": 12}
