"""Tables as strangers bring them: names of columns that say one thing, and cells that are another.

Every table and every expectation was written by hand, apart from those of `helpers.messy`. The letters behind a column
are the roles that a careful steward could give it: D drop (identifier), Q generalize (quasi), S publish (sensitive).
Where there is no S, nobody would publish a cell as it is.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from random import Random

import polars as pl

Maker = Callable[[Random, int], str]
ROLES = {"D": "identifier", "Q": "quasi", "S": "sensitive"}


def few(*texts: str) -> Maker:
    """One of some texts."""
    return lambda r, row: r.choice(texts)


def numbers(low: int, high: int, form: str = "{}", step: int = 1) -> Maker:
    """A number in a form."""
    return lambda r, row: form.format(r.randrange(low, high, step))


def floats(low: float, high: float, digits: int = 2, mark: str = ".") -> Maker:
    """A number with decimals."""
    return lambda r, row: f"{r.uniform(low, high):.{digits}f}".replace(".", mark)


def days(form: str, first: int = 2015, years: int = 9) -> Maker:
    """A day, or what a form leaves of it."""
    return lambda r, row: (dt.date(first, 1, 1) + dt.timedelta(r.randrange(365 * years))).strftime(form)


def own(form: str) -> Maker:
    """A text of its own for each record."""
    return lambda r, row: form.format(row, n=r.randrange(10**6))


def visits(form: str, each: int) -> Maker:
    """A text for each so many records."""
    return lambda r, row: form.format(row // each)


def born(form: str = "%Y-%m-%d") -> Maker:
    """A day of birth."""
    return days(form, 1935, 70)


AGE, SEX = numbers(18, 95), few("m", "f")
DE = ("Müller", "Schmidt", "Weber", "Wagner", "Becker", "Hoffmann", "Koch", "Richter", "Wolf", "Neumann")
FR = ("Martin", "Bernard", "Dubois", "Moreau", "Laurent", "Lefebvre", "Girard", "Roux", "Fournier", "Mercier")
ES = ("García", "Rodríguez", "González", "Fernández", "López", "Martínez", "Sánchez", "Pérez", "Gómez", "Ruiz")
IT = ("Rossi", "Russo", "Ferrari", "Esposito", "Bianchi", "Romano", "Colombo", "Ricci", "Marino", "Greco")
NL = ("de Jong", "Jansen", "de Vries", "Bakker", "Visser", "Smit", "Meijer", "Mulder", "Bos", "Vos")
PT = ("Silva", "Santos", "Ferreira", "Pereira", "Oliveira", "Costa", "Rodrigues", "Martins", "Sousa", "Gomes")
EN = ("Smith", "Jones", "Taylor", "Brown", "Williams", "Wilson", "Johnson", "Davies", "Patel", "Wright")
QUARTERS = [f"{year}{form}" for year in (2021, 2022, 2023) for form in ("Q1", "Q2", "Q3", "Q4")]
AGES_DE = few("0-17", "18-29", "30-44", "45-64", "65+")
ICD = few("I10", "E11.9", "J45.0", "F32.1", "M54.5", "K21.9", "N18.3")

Tables = list[tuple[int, dict[str, tuple[Maker, str]]]]
TABLES: Tables = [
    # -- who did something, in a word that says what was done --------------------------------------
    (400, {"alter": (AGE, "Q"), "Therapeut": (few(*DE), "D"), "Therapie": (few("Bad", "Kur", "Massage"), "S")}),
    (300, {"Geschlecht": (few("w", "m"), "Q"), "Befunder": (few(*DE), "D"), "Befund": (few("o.B.", "auffällig"), "S")}),
    (
        500,
        {"age": (AGE, "Q"), "diagnosis_coder": (few("jsmith", "mbrown", "kpatel", "awright"), "D"), "dx": (ICD, "SDQ")},
    ),
    (350, {"sex": (SEX, "Q"), "medication_prescriber": (few(*EN), "D"), "medication": (few("ASA", "ACE", "PPI"), "S")}),
    (300, {"sexe": (few("H", "F"), "Q"), "thérapeute": (few(*FR), "D"), "diagnostic": (few("grippe", "asthme"), "S")}),
    (320, {"edad": (AGE, "Q"), "terapeuta": (few(*ES), "D"), "diagnóstico_por": (few(*ES), "D")}),
    (280, {"età": (AGE, "Q"), "terapista": (few(*IT), "D"), "farmacista": (few(*IT), "D"), "diagnosi": (ICD, "SQD")}),
    (310, {"leeftijd": (AGE, "Q"), "diagnosesteller": (few(*NL), "D"), "ziekte": (few("griep", "astma"), "S")}),
    (300, {"idade": (AGE, "Q"), "terapeuta_responsável": (few(*PT), "D"), "doença": (few("gripe", "asma"), "S")}),
    (450, {"age": (AGE, "Q"), "treatment_team_lead": (few(*EN), "D"), "result_reviewer": (few(*EN), "D")}),
    # -- when, in a word that says what -------------------------------------------------------------
    (400, {"age": (AGE, "Q"), "diagnosis_period": (few(*QUARTERS), "QD"), "diagnosis": (few("flu", "cold"), "S")}),
    (400, {"alter": (AGE, "Q"), "Erstdiagnose": (days("%m/%Y"), "QD"), "Behandlung_seit": (days("%Y-%m"), "QD")}),
    (300, {"sexe": (few("1", "2"), "Q"), "début_traitement": (days("%m.%Y"), "QD"), "âge": (AGE, "Q")}),
    (360, {"sexo": (few("V", "M"), "Q"), "inicio_enfermedad": (days("%b %Y"), "QD"), "edad": (AGE, "Q")}),
    (
        300,
        {
            "sesso": (few("M", "F"), "Q"),
            "esordio_malattia": (days("%Y/%m"), "QD"),
            "terapia_dal": (days("%d/%m/%y"), "QD"),
        },
    ),
    (350, {"leeftijd": (AGE, "Q"), "start_behandeling": (few("wk 12 2021", "wk 13 2021", "wk 40 2022"), "QD")}),
    (320, {"idade": (AGE, "Q"), "diagnostico_em": (days("%Y%m"), "QD"), "sexo": (SEX, "Q")}),
    (330, {"gender": (SEX, "Q"), "illness_onset": (days("%Y-W%V"), "QD"), "outcome": (few("ok", "bad"), "S")}),
    (
        300,
        {
            "gender": (SEX, "Q"),
            "surgery_treatment_at": (days("%d%m%Y"), "QD"),
            "therapy_start": (days("%y-%m-%d"), "QD"),
        },
    ),
    (
        300,
        {"alter": (AGE, "Q"), "Eingriff_Uhrzeit": (numbers(0, 24, "{:02}:30"), "QD"), "Eingriff": (few("A", "B"), "S")},
    ),
    # -- how old ---------------------------------------------------------------------------------------
    (700, {"sex": (SEX, "Q"), "diagnosis_onset": (numbers(2, 90), "QD"), "disease": (few("a", "b", "c"), "S")}),
    (
        600,
        {
            "Geschlecht": (few("w", "m"), "Q"),
            "Erkrankungsbeginn": (numbers(5, 88), "QD"),
            "Krankheitsgruppe": (AGES_DE, "QD"),
        },
    ),
    (500, {"sexo": (SEX, "Q"), "grupo_enfermedad": (few("<18", "18 a 40", "41 a 65", ">65"), "QD")}),
    (
        900,
        {"sesso": (SEX, "Q"), "insorgenza_malattia": (numbers(1, 80, "{} anni"), "QD"), "esito": (few("0", "1"), "S")},
    ),
    # -- where ---------------------------------------------------------------------------------------
    (
        400,
        {
            "age": (AGE, "Q"),
            "treatment_centre": (few("Leeds", "York", "Hull", "Derby"), "QD"),
            "cost_center": (numbers(100, 112), "QD"),
        },
    ),
    (
        400,
        {
            "alter": (AGE, "Q"),
            "Therapiezentrum": (few("Bonn", "Köln", "Trier"), "QD"),
            "Kostenstelle": (numbers(4100, 4125), "QD"),
        },
    ),
    (
        300,
        {
            "âge": (AGE, "Q"),
            "centre_traitement": (few("Lyon", "Lille", "Nice"), "QD"),
            "cabinet_diagnostic": (few("Nord", "Sud"), "QD"),
        },
    ),
    (
        300,
        {
            "edad": (AGE, "Q"),
            "centro_tratamiento": (few("Sevilla", "Lugo", "Soria"), "QD"),
            "juzgado_resultado": (few("1", "2"), "QD"),
        },
    ),
    (
        350,
        {
            "età": (AGE, "Q"),
            "centro_diagnosi": (few("Bari", "Pisa"), "QD"),
            "ambulatorio_terapia": (few("Est", "Ovest"), "QD"),
        },
    ),
    (
        300,
        {
            "leeftijd": (AGE, "Q"),
            "behandelcentrum": (few("Breda", "Delft"), "QD"),
            "praktijk_diagnose": (few("Oost", "West"), "QD"),
        },
    ),
    (
        300,
        {
            "idade": (AGE, "Q"),
            "centro_tratamento": (few("Braga", "Faro"), "QD"),
            "tribunal_resultado": (few("Porto", "Évora"), "QD"),
        },
    ),
    (
        500,
        {
            "age": (AGE, "Q"),
            "conviction_court": (few("Leeds", "York"), "QD"),
            "crime_scene": (few("park", "home", "mall"), "QDS"),
        },
    ),
    (
        400,
        {
            "age": (AGE, "Q"),
            "loan_branch": (few("Oxford St", "High St"), "QD"),
            "infection_acquired_in": (few("Kenya", "Brazil", "India", "Peru"), "QD"),
        },
    ),
    (
        600,
        {
            "sex": (SEX, "Q"),
            "outcome_zone": (few("01067", "04109", "09111", "02625"), "QD"),
            "result_gps": (floats(49.0, 54.0, 4), "QD"),
        },
    ),
    # -- who it is about -------------------------------------------------------------------------------
    (
        200,
        {
            "age": (AGE, "Q"),
            "result_for": (own("Client {0}"), "D"),
            "treatment_ref": (own("T-{n}"), "D"),
            "outcome": (few("y", "n"), "S"),
        },
    ),
    (
        240,
        {
            "sexo": (SEX, "Q"),
            "contacto_resultado": (own("p{0}@correo.es"), "D"),
            "tel_resultado": (own("6{0:02}{n:06}"), "D"),
        },
    ),
    (
        260,
        {
            "Alter": (AGE, "Q"),
            "Befundempfänger": (own("Fam. Nr. {0}"), "D"),
            "Gehaltskonto": (own("DE{0:02}37040044{n:010}"), "D"),
        },
    ),
    (300, {"age": (AGE, "Q"), "diagnosis_alias": (few("Jack", "Emily", "Oliver", "Sophie", "Harry", "Grace"), "D")}),
    (
        500,
        {
            "sexe": (SEX, "Q"),
            "compte_résultat": (own("FR76{n:010}{0:013}"), "D"),
            "maladie_commentaire": (few("RAS", "voir", ""), "D"),
        },
    ),
    # -- visits: what is the same for all records of a person -----------------------------------------
    (
        1000,
        {
            "patient": (visits("K{:04}", 20), "D"),
            "sex": (SEX, "Q"),
            "treatment_plan": (visits("plan {}", 20), "DQ"),
            "outcome": (few("a", "b"), "S"),
        },
    ),
    (
        900,
        {
            "PatNr": (visits("{:05}", 15), "D"),
            "Alter": (AGE, "Q"),
            "Therapieschema": (visits("Schema {}", 15), "DQ"),
            "Ergebnis": (few("1", "2"), "S"),
        },
    ),
    (800, {"id_paziente": (visits("{}", 16), "D"), "età": (AGE, "Q"), "codice_terapia": (visits("T{:03}", 16), "DQ")}),
    # -- nothing is wrong with these: what may be published is ---------------------------------------
    (
        500,
        {
            "age": (AGE, "Q"),
            "salary_band": (few("A", "B", "C", "D"), "S"),
            "religion": (few("x", "y", "z"), "QS"),
            "hiv_result": (few("pos", "neg"), "S"),
        },
    ),
    (
        500,
        {
            "alter": (AGE, "Q"),
            "Gehaltsgruppe": (few("E9", "E10", "E11"), "S"),
            "Diagnose": (ICD, "SQD"),
            "Urteil": (few("Haft", "Geld"), "S"),
        },
    ),
    (
        500,
        {
            "edad": (AGE, "Q"),
            "resultado": (few("apto", "no apto"), "S"),
            "medicamento": (few("omeprazol", "ibuprofeno"), "S"),
        },
    ),
    (
        500,
        {
            "idade": (AGE, "Q"),
            "rendimento": (few("até 1000", "1000 a 2000", "mais de 2000"), "S"),
            "doença": (few("diabetes", "hipertensão"), "S"),
        },
    ),
    (
        500,
        {
            "leeftijd": (AGE, "Q"),
            "uitkomst_behandeling": (few("goed", "matig", "slecht"), "S"),
            "inkomensklasse": (few("1", "2", "3"), "S"),
        },
    ),
]


def strangers(
    tables: list[tuple[int, dict[str, tuple[Maker, str]]]] = TABLES,
) -> list[tuple[pl.DataFrame, dict[str, str]]]:
    """Each table, its cells as texts, and the roles that are right for its columns."""
    made = []
    for number, (rows, columns) in enumerate(tables):
        r = Random(f"stranger {number}")
        cells = {name: [maker(r, row) for row in range(rows)] for name, (maker, _) in columns.items()}
        order = r.sample(range(rows), rows)
        frame = pl.DataFrame({name: [texts[row] for row in order] for name, texts in cells.items()})
        made.append((frame, {name: roles for name, (_, roles) in columns.items()}))
    return made


BLIND: Tables = [
    # -- known words alone, and cells that are something else ------------------------------------------
    (400, {"age": (AGE, "Q"), "outcome": (few("Jones", "Patel", "Brown", "unknown"), "D"), "result": (ICD, "SDQ")}),
    (
        400,
        {"alter": (AGE, "Q"), "Ergebnis": (few("März 2021", "April 2021", "Mai 2022"), "QD"), "Kosten": (ICD, "SDQ")},
    ),
    (400, {"edad": (AGE, "Q"), "resultado": (few("España", "Francia", "Italia"), "QD"), "renta": (numbers(1, 5), "S")}),
    (400, {"età": (AGE, "Q"), "esito": (few("dott. Rossi", "dott. Greco"), "D"), "costo": (few("basso", "alto"), "S")}),
    (400, {"sexe": (few("F", "H"), "Q"), "résultat": (few("moins de 18 ans", "18-25", "26-40"), "QD")}),
    (400, {"leeftijd": (AGE, "Q"), "uitslag": (few("1011 AB", "3511 XZ", "9712 CP"), "QD")}),
    (900, {"sex": (SEX, "Q"), "sentence": (numbers(1, 60), "QD"), "conviction": (few("theft", "fraud"), "S")}),
    (400, {"idade": (AGE, "Q"), "resultado_final": (few("08:30", "09:15", "14:00"), "QD"), "doenca": (ICD, "SQD")}),
    # -- other trades ------------------------------------------------------------------------------------
    (300, {"Schüler": (own("S{0:04}"), "D"), "Geschlecht": (few("w", "m"), "Q"), "Lehrkraft_Urteil": (few(*DE), "D")}),
    (300, {"matricola": (own("{0}"), "D"), "sesso": (few("M", "F"), "Q"), "reddito_intestatario": (few(*IT), "D")}),
    (300, {"employee": (own("E{0}"), "D"), "pay_manager": (few(*EN), "D"), "pay_grade": (few("P1", "P2", "P3"), "S")}),
    (
        300,
        {"age": (AGE, "Q"), "debt_holder": (few(*EN), "D"), "loan_officer": (few(*EN), "D"), "loan_status": (SEX, "S")},
    ),
    (300, {"âge": (AGE, "Q"), "frais_payeur": (few("CPAM", "Mutuelle"), "QD"), "payé_par": (few(*FR), "D")}),
    (
        300,
        {
            "age": (AGE, "Q"),
            "crime_victim": (few(*EN), "D"),
            "crime_suspect": (few(*EN), "D"),
            "crime_type": (ICD, "S"),
        },
    ),
    (300, {"edad": (AGE, "Q"), "delito_comisaría": (few("Norte", "Sur"), "QD"), "condena_juez": (few(*ES), "D")}),
    (
        300,
        {
            "alter": (AGE, "Q"),
            "Kreditgeber": (few("Sparkasse", "Volksbank"), "QD"),
            "Kreditnehmer": (own("Fa. {0}"), "D"),
        },
    ),
    (300, {"idade": (AGE, "Q"), "custo_unidade": (few("Norte", "Sul"), "QD"), "salário_chefe": (few(*PT), "D")}),
    (300, {"leeftijd": (AGE, "Q"), "kosten_afdeling": (few("A1", "B2"), "QD"), "salaris_ontvanger": (few(*NL), "D")}),
    (
        600,
        {
            "id": (visits("{}", 6), "D"),
            "sex": (few("1", "2"), "Q"),
            "salary": (visits("{}000", 6), "QD"),
            "hiv": (SEX, "S"),
        },
    ),
    (600, {"Pat": (visits("A{:03}", 6), "D"), "gebdat": (born(), "Q"), "Medikament": (visits("M{}", 6), "DQ")}),
    (
        500,
        {"age": (AGE, "Q"), "income_source_employer": (few("Acme", "Initech"), "QD"), "income_tax_office": (ICD, "QD")},
    ),
    (500, {"age": (AGE, "Q"), "drug_serial": (own("{n}-{0}"), "D"), "drug_lot": (visits("L{:05}", 3), "DQ")}),
    (500, {"alter": (AGE, "Q"), "Diagnose_Ort": (few("Ulm", "Jena"), "QD"), "Diagnose_durch": (few(*DE), "D")}),
    (500, {"age": (AGE, "Q"), "primary_diagnosis_code": (ICD, "S"), "secondary_diagnosis_group": (few("x", "y"), "S")}),
    (
        500,
        {
            "alter": (AGE, "Q"),
            "Nebendiagnosen": (ICD, "S"),
            "Kostenklasse": (few("1", "2"), "S"),
            "Befundart": (SEX, "S"),
        },
    ),
    (500, {"âge": (AGE, "Q"), "diagnostic_principal": (ICD, "S"), "niveau_de_revenu": (few("bas", "haut"), "S")}),
]
