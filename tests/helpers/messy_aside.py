"""More messy tables, with other names and cells than those of `helpers.messy`: kept aside while rules were written.

`ALLOWED` was written by hand: the roles that a careful steward could give a column of each kind.
"""

from __future__ import annotations

import datetime as dt
from random import Random

import polars as pl

from helpers.messy import PEOPLE

D, Q, S = "identifier", "quasi", "sensitive"
ALLOWED: dict[str, set[str]] = {
    "full name": {D},
    "mail": {D},
    "phone": {D},
    "iban": {D},
    "person": {D},
    "case": {D},
    "carer": {D},
    "story": {D},
    "weighting": {D},
    "birthday": {Q},
    "birth year": {Q},
    "day": {Q},
    "moment": {Q, D},
    "years": {Q},
    "years with sentinels": {Q},
    "gender": {Q},
    "postcode": {Q},
    "place": {Q},
    "land": {Q},
    "school": {Q},
    "family": {Q},
    "trade": {Q},
    "faith": {Q, S},
    "tall": {Q},
    "icd": {S, Q, D},
    "ill": {S},
    "therapy": {S},
    "wage": {Q, D},
    "wage class": {S},
    "day of illness": {Q},
    "place of treatment": {Q, D},
    "result": {Q, D},
    "grade": {S, D, Q},
    "answer": {D, S, Q},
}
DANGEROUS = frozenset(kind for kind, roles in ALLOWED.items() if S not in roles)
"""Kinds of which nobody would publish a cell as it is."""
CELLS_IN_GERMAN_STYLE = ("de", "fr", "es", "it", "nl", "pt")
NAMES: dict[str, dict[str, str]] = {
    "en": {
        "full name": "client_full_name", "mail": "e_mail_address", "phone": "tel_no", "iban": "bank_details",
        "person": "participant_no", "case": "episode_ref", "carer": "attending", "story": "history",
        "weighting": "person_weight", "birthday": "birth_dt", "birth year": "yob", "day": "seen_on",
        "moment": "checked_in", "years": "age_at_entry", "years with sentinels": "AGE_Y", "gender": "sex_code",
        "postcode": "post_code", "place": "municipality_of_residence", "land": "country_of_birth",
        "school": "highest_qualification", "family": "civil_status", "trade": "job", "faith": "religious_group",
        "tall": "height_cm", "icd": "icd10_main", "ill": "principal_diagnosis", "therapy": "procedure",
        "wage": "yearly_income_gbp", "wage class": "income_band", "day of illness": "date_of_diagnosis",
        "place of treatment": "treating_hospital", "result": "creatinine", "grade": "outcome", "answer": "item07",
    },
    "de": {
        "full name": "Vor- und Zuname", "mail": "Mailadresse", "phone": "Tel.", "iban": "Kontoverbindung",
        "person": "Pat-ID", "case": "Vorgangsnr", "carer": "Oberarzt", "story": "Verlauf",
        "weighting": "Hochrechnungsgewicht", "birthday": "GebDatum", "birth year": "Geburtsjahr", "day": "Besuchstag",
        "moment": "Zeitpunkt", "years": "Lebensalter", "years with sentinels": "alter_befr", "gender": "geschl",
        "postcode": "plz_wohnort", "place": "Gemeindename", "land": "Geburtsland", "school": "Bildungsabschluss",
        "family": "Familienstand_neu", "trade": "Berufsgruppe", "faith": "Religionszugehörigkeit",
        "tall": "Körpergröße", "icd": "ICD", "ill": "Erkrankung", "therapy": "Therapie", "wage": "Jahresgehalt",
        "wage class": "Einkommensgruppe", "day of illness": "Erkrankungsdatum", "place of treatment": "Behandlungsort",
        "result": "Kreatinin", "grade": "Ergebnis", "answer": "frage_12",
    },
    "fr": {
        "full name": "prenom_nom", "mail": "adresse_mail", "phone": "tel", "iban": "coordonnees_bancaires",
        "person": "no_patient", "case": "dossier", "carer": "praticien", "story": "compte_rendu",
        "weighting": "poids_sondage", "birthday": "ne_le", "birth year": "annee_naissance", "day": "date_visite",
        "moment": "horodatage", "years": "age_annees", "years with sentinels": "age_declare", "gender": "genre",
        "postcode": "cp", "place": "commune_residence", "land": "pays_naissance", "school": "niveau_etudes",
        "family": "situation_familiale", "trade": "categorie_professionnelle", "faith": "religion", "tall": "taille_cm",
        "icd": "cim10", "ill": "pathologie", "therapy": "traitement_suivi", "wage": "salaire_brut",
        "wage class": "tranche_revenus", "day of illness": "date_du_diagnostic", "place of treatment": "hopital",
        "result": "creatinine", "grade": "resultat", "answer": "q12",
    },
    "es": {
        "full name": "nombre_completo", "mail": "email_contacto", "phone": "tfno", "iban": "datos_bancarios",
        "person": "cod_paciente", "case": "num_expediente", "carer": "facultativo", "story": "evolucion",
        "weighting": "peso_muestral", "birthday": "f_nac", "birth year": "año_nacimiento", "day": "fecha_visita",
        "moment": "fecha_hora", "years": "edad_ingreso", "years with sentinels": "edad_decl", "gender": "genero",
        "postcode": "cp_domicilio", "place": "localidad", "land": "pais_origen", "school": "nivel_estudios",
        "family": "estado_civil_actual", "trade": "profesión", "faith": "religion", "tall": "talla_cm", "icd": "cie10",
        "ill": "diagnostico_principal", "therapy": "terapia", "wage": "salario_bruto", "wage class": "nivel_ingresos",
        "day of illness": "fecha_del_diagnostico", "place of treatment": "hospital_tratamiento",
        "result": "creatinina", "grade": "resultado", "answer": "preg_12",
    },
    "it": {
        "full name": "cognome_nome", "mail": "mail", "phone": "recapito", "iban": "coordinate_bancarie",
        "person": "cod_paziente", "case": "n_cartella", "carer": "medico_referente", "story": "anamnesi",
        "weighting": "peso_campionario", "birthday": "dt_nascita", "birth year": "anno_nascita", "day": "data_visita",
        "moment": "ora_arrivo", "years": "eta_ingresso", "years with sentinels": "eta_dich", "gender": "genere_sesso",
        "postcode": "cap_residenza", "place": "comune_residenza", "land": "paese_nascita", "school": "titolo_studio",
        "family": "stato_civ", "trade": "mestiere", "faith": "religione", "tall": "altezza_cm", "icd": "icd9",
        "ill": "patologia", "therapy": "terapia", "wage": "reddito_annuo", "wage class": "fascia_reddito",
        "day of illness": "data_della_diagnosi", "place of treatment": "ospedale", "result": "creatinina",
        "grade": "esito", "answer": "dom12",
    },
    "nl": {
        "full name": "voornaam_achternaam", "mail": "mailadres", "phone": "tel_nr", "iban": "bankrekening",
        "person": "patientnr", "case": "dossiernr", "carer": "behandelaar", "story": "verslag",
        "weighting": "wegingsfactor", "birthday": "geb_datum", "birth year": "geboortejaar", "day": "bezoekdatum",
        "moment": "tijdstip", "years": "leeftijd_opname", "years with sentinels": "lft", "gender": "gender",
        "postcode": "postcode_woon", "place": "gemeentenaam", "land": "geboorteland", "school": "opleidingsniveau",
        "family": "burgerlijke staat", "trade": "functie", "faith": "geloof", "tall": "lengte_cm", "icd": "icd_code",
        "ill": "aandoening", "therapy": "behandeling", "wage": "bruto_salaris", "wage class": "inkomensgroep",
        "day of illness": "datum_diagnose", "place of treatment": "ziekenhuis", "result": "kreatinine",
        "grade": "uitslag", "answer": "vraag12",
    },
    "pt": {
        "full name": "nome_completo", "mail": "correio_eletronico", "phone": "telef", "iban": "dados_bancarios",
        "person": "n_utente", "case": "processo", "carer": "médico_responsável", "story": "relato",
        "weighting": "peso_amostral", "birthday": "dt_nasc", "birth year": "ano_nascimento", "day": "data_consulta",
        "moment": "data_hora", "years": "idade_admissao", "years with sentinels": "idade_decl", "gender": "genero",
        "postcode": "cod_postal", "place": "freguesia_residencia", "land": "pais_nascimento", "school": "habilitacoes",
        "family": "situacao_conjugal", "trade": "profissao", "faith": "religiao", "tall": "altura_cm", "icd": "cid10",
        "ill": "patologia", "therapy": "terapêutica", "wage": "vencimento", "wage class": "escalao_rendimento",
        "day of illness": "data_do_diagnostico", "place of treatment": "hospital", "result": "creatinina",
        "grade": "resultado", "answer": "perg12",
    },
}  # fmt: skip
TABLES = (
    ("full name", "birthday", "gender", "postcode", "day", "icd", "wage"),
    ("person", "day", "years", "place", "therapy", "carer", "story", "result"),
    ("case", "years with sentinels", "gender", "family", "trade", "weighting", "wage class", "answer"),
    ("mail", "phone", "birth year", "land", "school", "faith", "grade"),
    ("iban", "full name", "place", "wage class", "tall", "moment"),
    ("person", "day of illness", "years", "ill", "therapy", "gender", "place of treatment"),
    ("case", "birthday", "moment", "story", "icd", "postcode", "ill"),
    ("phone", "mail", "school", "land", "trade", "wage", "tall", "ill"),
    ("person", "years with sentinels", "birth year", "carer", "weighting", "result", "answer"),
)
FEW = {
    "gender": ["f", "m", "x"],
    "place": [f"{start}{end}" for start in ("Nor", "Sud", "Wes") for end in ("burg", "ville", "dorp", "mar")],
    "land": ["FR", "DE", "PT", "MA", "TR", "PL", "BR"],
    "school": ["ISCED 1", "ISCED 2", "ISCED 3", "ISCED 5"],
    "family": ["1", "2", "3", "4", "9"],
    "trade": [f"{n}{m}" for n in range(1, 9) for m in range(1, 4)],
    "faith": ["RK", "EV", "none"],
    "ill": ["asthma", "diabetes", "HIV", "hypertension", "depression"],
    "therapy": ["surgery", "drugs", "watchful waiting"],
    "wage class": ["< 20k", "20k-40k", "> 40k"],
    "place of treatment": ["St. Mary", "North", "University"],
    "grade": ["better", "same", "worse"],
    "answer": ["1", "2", "3", "4", "5", "-9"],
}


def aside() -> list[tuple[str, pl.DataFrame, dict[str, str]]]:
    """The tables: what each is called, its cells as texts, and the kind of every column."""
    made = []
    for number, kinds in enumerate(TABLES):
        for language, names in NAMES.items():
            r = Random(f"aside {number} {language}")
            rows = r.choice([150, 400, 900])
            cells = {names[kind]: [_cell(kind, language, row, r) for row in range(rows)] for kind in kinds}
            for kind in kinds:
                if kind not in ("person", "case") and r.random() < 0.3:
                    cells[names[kind]] = [None if r.random() < 0.04 else cell for cell in cells[names[kind]]]
            made.append((f"aside-{language}-{number}", pl.DataFrame(cells), {names[kind]: kind for kind in kinds}))
    return made


def _cell(kind: str, language: str, row: int, r: Random) -> str:
    person = f"{r.choice(PEOPLE[language]).split()[0]} {r.choice(PEOPLE[language]).split(maxsplit=1)[1]}"
    born = dt.date(1930, 1, 1) + dt.timedelta(r.randrange(30_000))
    lately = dt.datetime(2022, 1, 1) + dt.timedelta(minutes=r.randrange(1_400_000))
    style = {"en": "%d %b %Y", "de": "%d.%m.%Y", "nl": "%Y%m%d"}.get(language, "%d/%m/%Y")
    match kind:
        case "full name":
            return person if r.random() < 0.6 else ", ".join(reversed(person.split(maxsplit=1)))
        case "mail":
            return f"{person.split()[0].lower()}.{row}@mail.example"
        case "phone":
            return f"+{r.randrange(30, 60)} {r.randrange(100, 999)} {r.randrange(10**5, 10**6)}"
        case "iban":
            return f"NL{r.randrange(10, 99)}ABNA{r.randrange(10**9, 10**10)}"
        case "person":
            return str(50_000 + row // 3)
        case "case":
            return f"{2020 + row % 4}/{row:05}"
        case "carer":
            return "Dr " + r.choice(PEOPLE[language]).split(maxsplit=1)[1]
        case "story":
            return f"{person}: {' '.join(r.choice(['stable', 'pain', 'home', 'review']) for _ in range(9))} {row}"
        case "weighting":
            return _number(r.uniform(0.2, 4.0), 4, language)
        case "birthday":
            return born.strftime(style)
        case "birth year":
            return str(born.year)
        case "day" | "day of illness":
            return lately.strftime(style)
        case "moment":
            return lately.strftime("%H:%M" if language == "it" else "%Y-%m-%d %H:%M")
        case "years":
            return str(r.randrange(0, 99))
        case "years with sentinels":
            return r.choice(["999", "-99", "."]) if r.random() < 0.06 else str(r.randrange(18, 90))
        case "postcode":
            return f"{r.choice('ABCDEFGH')}{r.randrange(1, 20)} {r.randrange(1, 10)}{r.choice('ABDE')}{r.choice('XYZ')}"
        case "tall":
            return str(round(r.gauss(170, 9)))
        case "icd":
            return f"{r.choice('ABCEFIJKM')}{r.randrange(10, 60)}.{r.randrange(10)}"
        case "wage":
            return _number(r.uniform(9_000, 90_000), 2, language)
        case "result":
            return _number(r.uniform(0.4, 3.0), 2, language)
        case _:
            return r.choice(FEW[kind])


def _number(value: float, places: int, language: str) -> str:
    plain = f"{value:,.{places}f}"
    return plain if language == "en" else plain.translate(str.maketrans(",.", ".,"))
