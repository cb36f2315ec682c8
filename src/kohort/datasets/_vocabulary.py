"""Who the patients are: where they live, what they call themselves, what they learned, their names.

All figures are relative weights unless said otherwise. The names are common ones, put together at random.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Tree: TypeAlias = "dict[str, Tree] | list[str]"

# The tree that the United States' census questions imply: Hispanic origin first, then race.
ETHNICITY_TREE: dict[str, Tree] = {
    "Not Hispanic": ["White", "Black", "Asian", "Native American", "Multiracial"],
    "Hispanic": ["Hispanic White", "Hispanic Black", "Hispanic Other"],
}
ETHNICITIES = (
    *("White", "Black", "Asian", "Native American", "Multiracial"),
    *("Hispanic White", "Hispanic Black", "Hispanic Other"),
)


class Region(NamedTuple):
    """An area with one three-digit postal prefix."""

    prefix: str
    """The first three digits."""
    codes: int
    """How many postal codes it has, at most 100."""
    patients: float
    """How many of the patients live there."""
    ethnicities: tuple[float, ...]
    """In the order of `ETHNICITIES`."""


# A hospital group around Springfield and Hartford with a second site in Albany: neighbouring areas
# with and without a leading zero, a few cities and much country.
REGIONS = (
    Region("011", 14, 210, (42, 18, 3, 0.3, 3, 18, 4, 11)),
    Region("010", 62, 170, (78, 5, 4, 0.2, 2, 7, 1, 3)),
    Region("061", 18, 150, (30, 34, 4, 0.3, 3, 14, 5, 10)),
    Region("060", 70, 140, (74, 8, 7, 0.2, 2, 6, 1, 2)),
    Region("122", 12, 90, (52, 27, 8, 0.3, 4, 5, 2, 2)),
    Region("121", 44, 70, (88, 4, 3, 0.2, 2, 2, 0.3, 0.7)),
    Region("123", 20, 55, (60, 18, 7, 0.4, 4, 6, 2, 3)),
    Region("120", 58, 45, (90, 3, 3, 0.2, 2, 1.5, 0.2, 0.5)),
    Region("012", 36, 30, (91, 3, 2, 0.2, 2, 1.5, 0.2, 0.5)),
    Region("013", 26, 20, (92, 1.5, 1.5, 0.4, 2, 2, 0.2, 0.6)),
    Region("128", 34, 14, (95, 1.5, 0.8, 0.3, 1.5, 0.8, 0.1, 0.3)),
    Region("053", 16, 6, (95, 1, 1.2, 0.4, 2, 0.6, 0.1, 0.2)),
)

EDUCATION_TREE: dict[str, Tree] = {
    "No secondary degree": ["No schooling", "Primary school", "Some high school"],
    "Secondary degree": ["High school", "Vocational training"],
    "Higher education": {
        "Undergraduate": ["Associate degree", "Bachelor degree"],
        "Postgraduate": ["Master degree", "Doctorate"],
    },
}
EDUCATIONS = (
    *("No schooling", "Primary school", "Some high school", "High school", "Vocational training"),
    *("Associate degree", "Bachelor degree", "Master degree", "Doctorate"),
)
# From which age on these weights (in the order of `EDUCATIONS`) hold: what one has finished or attends.
EDUCATION_FROM_AGE: dict[int, tuple[float, ...]] = {
    0: (1, 0, 0, 0, 0, 0, 0, 0, 0),
    6: (2, 98, 0, 0, 0, 0, 0, 0, 0),
    12: (1, 40, 59, 0, 0, 0, 0, 0, 0),
    14: (1, 4, 95, 0, 0, 0, 0, 0, 0),
    18: (0.5, 2, 32, 62, 3.5, 0, 0, 0, 0),
    20: (0.5, 2, 12, 66, 13, 6.5, 0, 0, 0),
    22: (0.5, 2, 10, 45, 14, 11, 17.5, 0, 0),
    25: (0.5, 2, 8, 33, 13, 11, 25, 7.5, 0),
    28: (0.5, 2, 8, 30, 12, 11, 24, 10.5, 2),
    50: (0.8, 4, 9, 34, 13, 10, 18, 9, 2.2),
    70: (1.5, 8, 13, 37, 12, 7, 13, 6.5, 2),
    85: (3, 15, 18, 36, 10, 4, 9, 4, 1),
}

# Share of missing cells.
MISSING = {
    "zip_code": 0.005,
    "ethnicity": 0.02,
    "education": 0.025,  # of adults
    "education of children": 0.13,
    "cost": 0.003,
}

# How often each ethnicity, in the order of `ETHNICITIES`, has a name of each style in the order of `NAMES`.
STYLE_OF_ETHNICITY = (
    (96, 2, 1, 1),
    (38, 3, 1, 58),
    (8, 1, 90, 1),
    (78, 14, 2, 6),
    (50, 14, 14, 22),
    (8, 91, 0.5, 0.5),
    (8, 80, 0.5, 11.5),
    (6, 93, 0.5, 0.5),
)


FIRST_NAMES, LAST_NAMES = 32, 48  # equal for all styles: a full name is then found by arithmetic


class Names(NamedTuple):
    """Names of one style, separated by blanks, frequent ones first."""

    women: str
    men: str
    last: str


NAMES = (
    Names(
        women="""Mary Elizabeth Susan Linda Emma Margaret Karen Nancy Olivia Barbara Emily Sarah Laura Anna
        Helen Charlotte Ruth Grace Kathleen Julia Hannah Frances Claire Abigail Sophie Joan Nora Alice
        Theresa Lucy Irene Brigid""",
        men="""James John Robert William Michael Thomas David Joseph Richard Daniel Matthew Andrew Edward
        Peter Paul George Henry Stephen Kevin Patrick Samuel Noah Benjamin Frank Walter Jack Oliver Leo
        Martin Arthur Stanley Owen""",
        last="""Smith Miller Johnson Brown Sullivan Murphy Wilson Anderson Taylor Moore Clark Kelly Martin
        Walsh Baker Hall Allen Young Wright Kowalski Russo Scott Nowak Roy Hill Adams Campbell Fournier
        Mitchell Romano Collins Parker Bennett Reilly Cote Wood Foley Marino Hughes Fisher Weber Larsen
        Costello Bouchard Schultz Hartley Pelletier Whitcomb""",
    ),
    Names(
        women="""Maria Carmen Ana Rosa Sofia Isabel Luz Gabriela Lucia Elena Daniela Marisol Valeria Camila
        Teresa Yolanda Patricia Adriana Beatriz Silvia Milagros Paola Juana Raquel Ines Noemi Esperanza
        Catalina Alma Graciela Ximena Socorro""",
        men="""Jose Luis Juan Carlos Miguel Angel Antonio Francisco Jorge Pedro Rafael Manuel Hector Diego
        Ramon Victor Mateo Santiago Roberto Fernando Eduardo Andres Javier Ruben Alejandro Julio Oscar
        Enrique Gilberto Sergio Emilio Ignacio""",
        last="""Rivera Rodriguez Garcia Martinez Ortiz Torres Santiago Lopez Gonzalez Perez Diaz Cruz Colon
        Vargas Morales Reyes Ramirez Sanchez Figueroa Flores Gomez Rosario Santos Ramos Vega Maldonado
        Castillo Mendez Nieves Delgado Rosado Cabrera Acosta Medina Guzman Serrano Pagan Burgos Soto
        Velez Marrero Quintero Escobar Polanco Arroyo Montalvo Villegas Zayas""",
    ),
    Names(
        women="""Mei Priya Linh Yan Anjali Li Huong Min Lakshmi Xiu Deepa Hana Thuy Jing Kavita Yuna Sunita
        Lan Neha Hui Jiwoo Asha Maya Ngoc Rina Fang Meera Sakura Divya Bao Eun Leela""",
        men="""Wei Raj Minh Jun Arjun Hao Duc Amit Jian Sanjay Hiro Tuan Vikram Lei Rohan Kenji Anh Rahul
        Tao Joon Suresh Bin Quang Anil Feng Dev Khoa Sung Nikhil Gang Ravi Chen""",
        last="""Nguyen Patel Wang Chen Kim Li Tran Singh Zhang Lee Sharma Liu Pham Shah Park Wong Le Kumar
        Huang Vo Gupta Choi Yang Reddy Bui Wu Desai Dang Zhao Mehta Lam Tanaka Xu Iyer Do Cho Sato Rao
        Lin Duong Joshi Hoang Suzuki Nair Truong Kang Banerjee Matsuda""",
    ),
    Names(
        women="""Denise Gloria Jasmine Brenda Angela Keisha Imani Ebony Monique Aaliyah Vanessa Latoya Tanya
        Yvonne Kiara Nia Tamika Simone Diamond Ernestine Shanice Zora Lorraine Makayla Renee Janelle
        Odessa Tiana Aisha Bernice Candace Earlene""",
        men="""Marcus Darnell Isaiah Terrence Anthony Jamal Andre Malik Reginald Curtis Xavier Tyrone Leroy
        Elijah Clarence Darius Maurice Desmond Jalen Cedric Otis Khalil Vernon Lamar Quincy Roosevelt
        Kendrick Alvin Trevon Rodney Demetrius Winston""",
        last="""Williams Jackson Robinson Harris Washington Lewis Walker Jenkins Coleman Powell Banks Simmons
        Jefferson Bryant Alexander Griffin Hayes Ford Hampton Gaines Boyd Mosley Dixon Ellis Freeman
        Grant Gordon Charles Campbell Francis Booker Watkins Sims Barnes Tucker Gibbs Mack Pierre Joseph
        Blake Malone Rollins Chambers Stokes Bright Sterling Okafor Mensah""",
    ),
)
