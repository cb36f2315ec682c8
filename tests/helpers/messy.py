"""Messy tables as stewards have them, in seven languages: seeded cells, and roles that were written by hand.

`NAMES` has what columns of each kind are called, `ROLES` what `init` should propose for them, and `TABLES` which kinds
stand together. Nothing here is taken from the code that proposes roles.
"""

from __future__ import annotations

import datetime as dt
from random import Random

import polars as pl

ROLES: dict[str, str] = {
    "person": "identifier",
    "email": "identifier",
    "phone": "identifier",
    "street": "identifier",
    "iban": "identifier",
    "ssn": "identifier",
    "id": "identifier",
    "visitor": "identifier",
    "doctor": "identifier",
    "notes": "identifier",
    "survey weight": "identifier",
    "born": "quasi",
    "event": "quasi",
    "age": "quasi",
    "sex": "quasi",
    "zip": "quasi",
    "city": "quasi",
    "marital": "quasi",
    "job": "quasi",
    "illness": "sensitive",
    "drug": "sensitive",
    "income": "quasi",
    "income class": "sensitive",
    "illness date": "quasi",
    "illness age": "quasi",
    "illness notes": "identifier",
    "unknown codes": "identifier",
}
IDENTIFYING = frozenset(ROLES) - {"illness", "drug", "income class", "unknown codes"}
"""Kinds that must never be proposed as published as they are."""

NAMES: dict[str, dict[str, list[str]]] = {
    "en": {
        "person": ["name", "PatientName"],
        "email": ["email", "contact"],
        "phone": ["phone", "mobile"],
        "street": ["address", "street"],
        "iban": ["iban", "payee"],
        "ssn": ["ssn", "nat_no"],
        "id": ["id", "record_no"],
        "visitor": ["patient_id", "subject_id"],
        "doctor": ["treating_doctor", "physician"],
        "notes": ["notes", "free_text"],
        "survey weight": ["survey_weight", "pweight"],
        "born": ["date_of_birth", "dob"],
        "event": ["admission_date", "visit_date"],
        "age": ["age", "age_years"],
        "sex": ["sex", "gender"],
        "zip": ["zip_code", "postcode"],
        "city": ["city", "town"],
        "marital": ["marital_status", "marital"],
        "job": ["occupation", "job_title"],
        "illness": ["diagnosis", "disease"],
        "drug": ["medication", "drug_name"],
        "income": ["income", "annual_salary"],
        "income class": ["salary_class", "income_group"],
        "illness date": ["diagnosis_date", "procedure_date"],
        "illness age": ["age_at_diagnosis", "diagnosis_age"],
        "illness notes": ["treatment_notes", "diagnosis_comment"],
        "unknown codes": ["q7", "var_x"],
    },
    "de": {
        "person": ["Name", "Nachname"],
        "email": ["E-Mail", "Kontakt"],
        "phone": ["Telefon", "Handynummer"],
        "street": ["Anschrift", "Straße"],
        "iban": ["IBAN", "Bankverbindung"],
        "ssn": ["SVNummer", "Versichertennummer"],
        "id": ["lfd_nr", "Fallnummer"],
        "visitor": ["PatientenNr", "patienten_id"],
        "doctor": ["Arzt", "behandelnder_arzt"],
        "notes": ["Bemerkung", "Freitext"],
        "survey weight": ["Hochrechnungsfaktor", "Gewichtung"],
        "born": ["Geburtsdatum", "geb_dat"],
        "event": ["Aufnahmedatum", "Entlassungsdatum"],
        "age": ["Alter", "alter_jahre"],
        "sex": ["Geschlecht", "sex"],
        "zip": ["PLZ", "Postleitzahl"],
        "city": ["Wohnort", "Stadt"],
        "marital": ["Familienstand", "fam_stand"],
        "job": ["Beruf", "beruf_aktuell"],
        "illness": ["Diagnose", "Hauptdiagnose"],
        "drug": ["Medikament", "Arzneimittel"],
        "income": ["Einkommen", "Bruttogehalt"],
        "income class": ["Einkommensklasse", "Gehaltsstufe"],
        "illness date": ["Diagnosedatum", "Behandlungsdatum"],
        "illness age": ["Alter_bei_Diagnose", "diagnosealter"],
        "illness notes": ["Diagnosetext", "Befundbericht"],
        "unknown codes": ["f12", "merkmal"],
    },
    "fr": {
        "person": ["nom", "nom_prenom"],
        "email": ["courriel", "contact"],
        "phone": ["téléphone", "tel_portable"],
        "street": ["adresse", "rue"],
        "iban": ["iban", "compte"],
        "ssn": ["nir", "num_secu"],
        "id": ["identifiant", "num"],
        "visitor": ["id_patient", "numero_patient"],
        "doctor": ["medecin", "médecin_traitant"],
        "notes": ["commentaire", "remarques"],
        "survey weight": ["ponderation", "ponderation_finale"],
        "born": ["date_naissance", "ddn_naissance"],
        "event": ["date_admission", "date_sortie"],
        "age": ["âge", "age"],
        "sex": ["sexe", "genre_sexe"],
        "zip": ["code_postal", "cp_postal"],
        "city": ["ville", "commune"],
        "marital": ["état_civil", "etat_civil"],
        "job": ["profession", "métier"],
        "illness": ["diagnostic", "maladie"],
        "drug": ["médicament", "traitement"],
        "income": ["revenu", "salaire_annuel"],
        "income class": ["classe_revenu", "tranche_salaire"],
        "illness date": ["date_diagnostic", "date_traitement"],
        "illness age": ["age_diagnostic", "âge_maladie"],
        "illness notes": ["commentaire_diagnostic", "observation_traitement"],
        "unknown codes": ["v03", "item_b"],
    },
    "es": {
        "person": ["nombre", "apellidos"],
        "email": ["correo", "contacto"],
        "phone": ["teléfono", "movil"],
        "street": ["dirección", "calle"],
        "iban": ["iban", "cuenta"],
        "ssn": ["dni", "nss"],
        "id": ["id", "num_registro"],
        "visitor": ["id_paciente", "numero_paciente"],
        "doctor": ["médico", "medico_responsable"],
        "notes": ["observaciones", "comentarios"],
        "survey weight": ["ponderacion", "factor_expansion"],
        "born": ["fecha_nacimiento", "nacimiento"],
        "event": ["fecha_ingreso", "fecha_alta"],
        "age": ["edad", "edad_anos"],
        "sex": ["sexo", "género"],
        "zip": ["código_postal", "cod_postal"],
        "city": ["ciudad", "municipio"],
        "marital": ["estado_civil", "est_civil"],
        "job": ["ocupación", "profesion"],
        "illness": ["diagnóstico", "enfermedad"],
        "drug": ["medicamento", "tratamiento"],
        "income": ["salario", "renta_anual"],
        "income class": ["tramo_salario", "clase_renta"],
        "illness date": ["fecha_diagnostico", "fecha_tratamiento"],
        "illness age": ["edad_diagnostico", "edad_enfermedad"],
        "illness notes": ["notas_tratamiento", "comentario_diagnostico"],
        "unknown codes": ["p11", "variable"],
    },
    "it": {
        "person": ["nome", "cognome"],
        "email": ["posta_mail", "contatto"],
        "phone": ["telefono", "cellulare"],
        "street": ["indirizzo", "indirizzo_residenza"],
        "iban": ["iban", "conto"],
        "ssn": ["codice_fiscale", "cf"],
        "id": ["id", "numero_pratica"],
        "visitor": ["id_paziente", "numero_paziente"],
        "doctor": ["medico", "medico_curante"],
        "notes": ["note", "osservazioni"],
        "survey weight": ["ponderazione", "ponderazione_finale"],
        "born": ["data_nascita", "nascita"],
        "event": ["data_ricovero", "data_dimissione"],
        "age": ["età", "eta_anni"],
        "sex": ["sesso", "genere"],
        "zip": ["cap", "codice_postale"],
        "city": ["città", "comune"],
        "marital": ["stato_civile", "stato_civile_attuale"],
        "job": ["professione", "occupazione"],
        "illness": ["diagnosi", "malattia"],
        "drug": ["farmaco", "trattamento"],
        "income": ["reddito", "stipendio"],
        "income class": ["classe_reddito", "fascia_stipendio"],
        "illness date": ["data_diagnosi", "data_trattamento"],
        "illness age": ["eta_diagnosi", "età_malattia"],
        "illness notes": ["note_diagnosi", "commento_trattamento"],
        "unknown codes": ["d05", "voce"],
    },
    "nl": {
        "person": ["naam", "achternaam"],
        "email": ["e-mail", "contact"],
        "phone": ["telefoon", "gsm"],
        "street": ["adres", "straat"],
        "iban": ["iban", "rekening"],
        "ssn": ["bsn", "burgerservicenummer"],
        "id": ["id", "volgnummer"],
        "visitor": ["patient_id", "patientnummer"],
        "doctor": ["huisarts", "behandelend_arts"],
        "notes": ["opmerkingen", "toelichting"],
        "survey weight": ["weegfactor", "weegfactor_eind"],
        "born": ["geboortedatum", "geboorte"],
        "event": ["opnamedatum", "ontslagdatum"],
        "age": ["leeftijd", "leeftijd_jaren"],
        "sex": ["geslacht", "gesl_geslacht"],
        "zip": ["postcode", "post_code"],
        "city": ["woonplaats", "gemeente"],
        "marital": ["burgerlijke_staat", "burgerlijkestaat"],
        "job": ["beroep", "beroep_huidig"],
        "illness": ["diagnose", "ziekte"],
        "drug": ["medicatie", "medicijn"],
        "income": ["inkomen", "salaris"],
        "income class": ["inkomensklasse", "salarisschaal"],
        "illness date": ["diagnosedatum", "behandeldatum"],
        "illness age": ["leeftijd_diagnose", "diagnoseleeftijd"],
        "illness notes": ["opmerking_diagnose", "toelichting_ziekte"],
        "unknown codes": ["v19", "kenmerk"],
    },
    "pt": {
        "person": ["nome", "sobrenome"],
        "email": ["e-mail", "contacto"],
        "phone": ["telefone", "telemóvel"],
        "street": ["morada", "endereço"],
        "iban": ["iban", "conta_iban"],
        "ssn": ["nif", "cpf"],
        "id": ["id", "numero_registo"],
        "visitor": ["id_paciente", "numero_utente"],
        "doctor": ["médico", "medico_assistente"],
        "notes": ["observações", "comentários"],
        "survey weight": ["ponderacao", "ponderação_final"],
        "born": ["data_nascimento", "nascimento"],
        "event": ["data_admissao", "data_alta"],
        "age": ["idade", "idade_anos"],
        "sex": ["sexo", "género"],
        "zip": ["código_postal", "cep"],
        "city": ["cidade", "concelho"],
        "marital": ["estado_civil", "est_civil"],
        "job": ["profissão", "ocupacao"],
        "illness": ["diagnóstico", "doença"],
        "drug": ["medicamento", "tratamento"],
        "income": ["rendimento", "salario"],
        "income class": ["classe_rendimento", "escalao_salario"],
        "illness date": ["data_diagnostico", "data_tratamento"],
        "illness age": ["idade_diagnostico", "idade_doenca"],
        "illness notes": ["notas_tratamento", "comentario_diagnostico"],
        "unknown codes": ["p02", "campo"],
    },
}
TABLES = (
    ("person", "born", "sex", "zip", "event", "illness", "income"),
    ("visitor", "event", "age", "city", "drug", "doctor", "illness notes"),
    ("id", "age", "sex", "marital", "job", "survey weight", "income class", "unknown codes"),
    ("email", "phone", "born", "zip", "job", "income"),
    ("ssn", "person", "street", "city", "iban", "income class"),
    ("visitor", "illness date", "illness age", "illness", "drug", "notes", "sex"),
    ("id", "born", "event", "illness date", "doctor", "illness notes", "zip", "illness"),
    ("person", "email", "age", "marital", "notes", "income class"),
    ("phone", "street", "sex", "illness age", "drug", "unknown codes", "survey weight"),
)
PEOPLE = {
    "en": ["John Smith", "Mary Jones", "Susan Clark", "David Brown", "Emily Young"],
    "de": ["Hans Weber", "Petra Schulz", "Jürgen Wolf", "Sabine Krause", "Uwe Lange"],
    "fr": ["Jean Moreau", "Marie Laurent", "Pierre Girard", "Sylvie Roux", "Camille Petit"],
    "es": ["Juan García", "María López", "Carlos Ruiz", "Lucía Moreno", "Pablo Sanz"],
    "it": ["Marco Rossi", "Giulia Ferrari", "Paolo Conti", "Chiara Greco", "Luca Bruno"],
    "nl": ["Piet de Vries", "Sanne Bakker", "Kees Visser", "Femke Smit", "Joost Mulder"],
    "pt": ["João Silva", "Maria Santos", "Pedro Costa", "Inês Ferreira", "Rui Sousa"],
}
DATES = {
    "en": "%m/%d/%Y",
    "de": "%d.%m.%Y",
    "fr": "%d/%m/%Y",
    "es": "%d/%m/%Y",
    "it": "%d/%m/%Y",
    "nl": "%d-%m-%Y",
    "pt": "%Y-%m-%d",
}
FEW = {
    "sex": ["1", "2"],
    "city": [f"Town {c}" for c in "ABCDEFGHIJKL"],
    "marital": ["a", "b", "c", "d"],
    "job": [f"trade {n}" for n in range(25)],
    "illness": ["J45", "I10", "E11", "F32", "K21", "M54"],
    "drug": ["aspirin", "metformin", "ibuprofen", "insulin"],
    "income class": ["low", "middle", "high"],
    "unknown codes": ["A", "B", "C"],
}


def corpus() -> list[tuple[str, pl.DataFrame, dict[str, str]]]:
    """The tables: what each is called, its cells as texts, and the kind of every column."""
    made = []
    for number, kinds in enumerate(TABLES):
        for language, names in NAMES.items():
            r = Random(f"{language} {number}")
            called = {names[kind][(number + place) % 2]: kind for place, kind in enumerate(kinds)}
            rows = r.choice([120, 300, 700])
            cells = {name: _cells(kind, language, rows, r) for name, kind in called.items()}
            made.append((f"{language}-{number}", pl.DataFrame(cells), called))
    return made


def _cells(kind: str, language: str, rows: int, r: Random) -> list[str | None]:
    gaps = 0.0 if kind in ("visitor", "id") else r.choice([0.0, 0.0, 0.05])
    cells = [_cell(kind, language, row, r) for row in range(rows)]
    if kind == "visitor":
        r.shuffle(cells)
    return [None if r.random() < gaps else cell for cell in cells]


def _cell(kind: str, language: str, row: int, r: Random) -> str:
    digits = "".join(r.choice("0123456789") for _ in range(12))
    person = f"{r.choice(PEOPLE[language]).split()[0]} {r.choice(PEOPLE[language]).split(maxsplit=1)[1]}"
    day = dt.date(1935, 1, 1) + dt.timedelta(r.randrange(29_000))
    recent = dt.date(2021, 1, 1) + dt.timedelta(r.randrange(1_400))
    match kind:
        case "person":
            return f"{person}{r.choice(['', ' ' + digits[:2], ''])}".strip()
        case "doctor":
            return r.choice(PEOPLE[language])
        case "email":
            return f"{person.split()[0].lower()}{digits[:4]}@example.org"
        case "phone":
            return f"0{digits[:3]} {digits[3:9]}"
        case "street":
            street = {
                "en": f"{digits[:2]} Mill Road",
                "de": f"Lindenstraße {digits[:2]}",
                "fr": f"rue du Lac {digits[:2]}",
                "es": f"Calle Mayor {digits[:2]}",
                "it": f"Via Roma {digits[:2]}",
                "nl": f"Kerkstraat {digits[:2]}",
                "pt": f"Rua Nova {digits[:2]}",
            }
            return street[language]
        case "iban":
            return f"DE{digits[:2]}{digits}{digits[:6]}"
        case "ssn":
            return f"{digits[:9]}{r.choice('ABCDEFGH')}"
        case "id":
            return str(10_000 + row)
        case "visitor":
            return f"P{1 + row // 4:05}"
        case "notes" | "illness notes":
            return f"{person} came in on {recent} and said that it had been worse since week {digits[:2]}."
        case "survey weight":
            return f"{r.uniform(50, 900):.3f}"
        case "born":
            return day.strftime(DATES[language])
        case "event" | "illness date":
            return recent.strftime(DATES[language])
        case "age" | "illness age":
            return str(r.randrange(18, 95))
        case "zip":
            return f"{r.randrange(1_000, 99_999):05}"
        case "income":
            return str(r.randrange(12_000, 180_000))
        case _:
            return r.choice(FEW[kind])
