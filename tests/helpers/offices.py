"""Tables as offices, clinics and firms export them, in the form of `helpers.strangers`.

They come from two sets that were written before anybody had seen how `init` fares with them; headers, forms of dates
and numbers, and the roles behind each column are as they were written then.
"""

from __future__ import annotations

from random import Random

from helpers.strangers import Maker, Tables, days, few, floats, numbers, own, visits

FIRST = (
    "Tariq",
    "Priya",
    "Blodwen",
    "Waltraud",
    "Detlef",
    "Océane",
    "Thibault",
    "Begoña",
    "Ornella",
    "Sjoerd",
    "Graça",
)
LAST = (
    "Pemberton",
    "Llewellyn",
    "Krawczyk",
    "Obermaier",
    "Benguigui",
    "Zamorano",
    "Fumagalli",
    "Dijkgraaf",
    "Quintela",
)
TOWNS = ("Leicester", "Kassel", "Angers", "Albacete", "Bergamo", "Zwolle", "Évora", "Truro")
MONTHS = ("janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "décembre")


def people(form: str = "{first} {last}") -> Maker:
    """A person whose name no list of frequent ones has."""
    return lambda r, row: form.format(first=r.choice(FIRST), last=r.choice(LAST))


def shaped(form: str) -> Maker:
    """A text with a digit for each # and a letter for each @."""
    letters = {"#": "0123456789", "@": "ABCDEFGHJKLMNPRSTUVWXYZ"}
    return lambda r, row: "".join(r.choice(letters[sign]) if sign in letters else sign for sign in form)


def money(low: int, high: int, form: str = "{whole}.{thousand:03},{cent:02}") -> Maker:
    """An amount with marks."""
    return lambda r, row: form.format(whole=r.randrange(low, high), thousand=r.randrange(1000), cent=r.randrange(100))


def prose(words: str) -> Maker:
    """Some words in any order, at times with a name among them."""

    def cell(r: Random, row: int) -> str:
        said = r.choices(words.split(), k=r.randrange(6, 15))
        return " ".join([*said, r.choice(LAST)] if r.random() < 0.3 else said)

    return cell


def at_times(maker: Maker, share: float) -> Maker:
    """Cells of which a share is empty."""
    return lambda r, row: "" if r.random() < share else maker(r, row)


ENGLISH, GERMAN = (
    "the patient said pain in knee after work with neighbour",
    "die Patientin kam mit Schmerz im Knie heim",
)
FRENCH, DUTCH = (
    "le patient revient avec douleur au genou après travail",
    "de patiënt zegt dat pijn in knie na werk komt",
)
BIRTHS = {"first": 1940, "years": 60}

OFFICES: Tables = [
    (
        400,
        {
            "Pat.-Nr.": (own("7{0:04}"), "D"),
            "Patient": (people("{last}, {first}"), "D"),
            "geb.": (days("%d.%m.%Y", **BIRTHS), "Q"),
            "Kasse": (few("AOK", "TK", "privat"), "SQD"),
            "Telefon privat": (shaped("0###/######"), "D"),
            "Befund": (few("Karies", "o.B.", "Fraktur"), "SD"),
            "Rechnungsbetrag": (money(1, 9), "QD"),
            "letzter Besuch": (days("%d.%m.%y", 2021, 3), "Q"),
            "Anmerkungen": (at_times(prose(GERMAN), 0.6), "D"),
        },
    ),
    (
        500,
        {
            "N° adhérent": (own("ADH-{0:06}"), "D"),
            "Né(e) le": (days("%d/%m/%Y", **BIRTHS), "Q"),
            "Civilité": (few("M.", "Mme", "Mlle"), "Q"),
            "Code postal": (shaped("#####"), "Q"),
            "Montant remboursé": (money(1, 9, "{whole} {thousand:03},{cent:02}"), "QD"),
            "Acte médical": (few("consultation", "radiologie", "chirurgie"), "SD"),
            "médecin prescripteur": (people("Dr {last}"), "D"),
        },
    ),
    (
        300,
        {
            "customer_ref": (own("CU-{n:06}-{0}"), "D"),
            "account_no": (shaped("########"), "D"),
            "DOB": (days("%d %b %Y", **BIRTHS), "Q"),
            "postcode": (shaped("LE# #@@"), "Q"),
            "balance": (floats(-500, 9000), "QD"),
            "defaulted": (few("Y", "N"), "S"),
            "relationship_manager": (people(), "D"),
        },
    ),
    (
        600,
        {
            "MRN": (visits("40{0:06}", 4), "D"),
            "birth_dt": (days("%Y-%m-%d", **BIRTHS), "Q"),
            "collected_at": (days("%m/%d/%Y 03:15 PM", 2022, 2), "Q"),
            "hemoglobin": (floats(9, 17, 1), "QD"),
            "hiv_status": (few("neg", "neg", "neg", "pos"), "S"),
            "comment": (at_times(prose(ENGLISH), 0.8), "D"),
        },
    ),
    (
        480,
        {
            "appelant": (visits("+336{0:08}", 6), "D"),
            "appelé": (shaped("+337########"), "D"),
            "début": (days("%Y-%m-%d 12:30:00", 2022, 2), "Q"),
            "durée_s": (numbers(1, 4000), "QD"),
            "cellule": (shaped("208-01-####"), "QD"),
        },
    ),
    (
        250,
        {
            "Employee ID": (own("3{0:04}"), "D"),
            "Birth Date": (days("%m/%d/%y", 1960, 39), "Q"),
            "Zip+4": (shaped("#####-####"), "QD"),
            "Race/Ethnicity": (few("White", "Black", "Asian", "Hispanic"), "QS"),
            "Annual Base Pay": (numbers(30000, 190000, "${:,}.00"), "QD"),
            "SSN": (shaped("###-##-####"), "D"),
        },
    ),
    (
        400,
        {
            "age": (numbers(1, 99), "Q"),
            "diagnosed_by": (people(), "D"),
            "medication_since": (days("%m/%Y", 2000, 20), "QD"),
            "surgery_report": (prose(ENGLISH), "D"),
            "hiv_clinic_nurse": (few(*FIRST), "D"),
            "test_result_number": (floats(0, 99, 3), "QD"),
            "allergy": (few("none", "nuts", "pollen"), "S"),
        },
    ),
    (
        400,
        {
            "Erkrankungsalter": (numbers(1, 99), "Q"),
            "Diagnose gestellt von": (people("Dr. {last}"), "D"),
            "Therapieort": (few(*TOWNS), "QD"),
            "Medikation seit": (days("%m.%Y", 2000, 20), "QD"),
            "OP-Bericht": (prose(GERMAN), "D"),
            "Pflegekraft": (few(*FIRST), "D"),
            "Behandlungskosten": (money(1, 9), "QD"),
            "Allergie": (few("keine", "Nüsse", "Pollen"), "S"),
        },
    ),
    (
        500,
        {
            "finess": (few("750100018", "690000880", "130000999"), "QD"),
            "nda": (shaped("#########"), "D"),
            "âge": (numbers(0, 100), "Q"),
            "dp": (few("C110", "I102", "J121", "K131"), "SQD"),
            "duree_sejour": (numbers(0, 30), "QD"),
            "mois_sortie": (numbers(1, 13), "Q"),
        },
    ),
    (
        400,
        {
            "staff_number": (own("S{0:05}"), "D"),
            "line_manager": (people(), "D"),
            "absence_start": (days("%d-%m-%y", 2022, 2), "Q"),
            "absence_reason": (few("flu", "stress", "back pain", "pregnancy"), "S"),
            "disability": (few("Y", "N"), "S"),
            "sexual_orientation": (few("hetero", "gay", "bi"), "S"),
            "office": (few("Leeds", "Bath", "York"), "Q"),
        },
    ),
    (
        250,
        {
            "enfant": (people(), "D"),
            "date de naissance": (days("%d %m %Y", 2019, 4), "Q"),
            "mère": (people(), "D"),
            "allergies": (few("aucune", "lait", "œuf"), "S"),
            "quartier": (few("Nord", "Centre", "Gare"), "Q"),
            "tél. urgence": (shaped("02.##.##.##.##"), "D"),
        },
    ),
    (
        400,
        {
            "age": (numbers(1, 99), "Q"),
            "diagnosis": (lambda r, row: f"seen {r.randrange(1, 29)}/{r.randrange(1, 13)}/2021: flu", "D"),
            "result": (people(), "D"),
            "treatment": (shaped("(0##) ### ####"), "D"),
            "outcome": (shaped("LS## #@@"), "QD"),
            "condition": (numbers(20, 90, "aged {}"), "QD"),
            "symptoms": (prose(ENGLISH), "D"),
            "illness": (days("%b %Y", 2020, 3), "QD"),
            "treatment_type": (shaped("GB## BARC #### #### ####"), "D"),
            "allergies": (few("none", "latex", "penicillin"), "S"),
        },
    ),
    (
        350,
        {
            "Antragsteller/in": (people("{last}, {first}"), "D"),
            "Geburtstag": (days("%d.%m.%y", **BIRTHS), "Q"),
            "Haushaltsgröße": (numbers(1, 8), "Q"),
            "Gesamteinkommen": (money(1, 4), "QD"),
            "Sachbearbeiter": (few(*LAST), "D"),
            "Ortsteil": (few(*TOWNS), "Q"),
            "Konto-Inhaber": (people(), "D"),
        },
    ),
    (
        300,
        {
            "cliënt": (people("{first[0]}. {last}"), "D"),
            "geb.dat.": (days("%d-%m-%Y", **BIRTHS), "Q"),
            "wijk": (few("Centrum", "Noord", "Zuid"), "Q"),
            "schuldbedrag": (money(1, 60), "QD"),
            "contactpersoon": (people(), "D"),
            "gespreksverslag": (prose(DUTCH), "D"),
        },
    ),
    (
        300,
        {
            "minute": (own("12{0:02}"), "D"),
            "vendeur": (people(), "D"),
            "né le": (lambda r, row: f"{r.randrange(1, 29)} {r.choice(MONTHS)} {r.randrange(1930, 2000)}", "Q"),
            "prix": (money(60, 900, "{whole} {thousand:03},{cent:02}"), "QD"),
            "notaire": (people("Me {last}"), "D"),
        },
    ),
    (
        300,
        {
            "AHV-Nr": (shaped("756.####.####.##"), "D"),
            "Jahrgang": (numbers(1955, 2004), "Q"),
            "Kanton": (few("ZH", "BE", "GE"), "Q"),
            "Lohn CHF": (money(40, 190, "{whole}'{thousand:03}.{cent:02}"), "QD"),
            "Zivilstand": (few("led.", "verh.", "gesch."), "Q"),
        },
    ),
    (
        300,
        {
            "consent_date": (days("%d%b%Y", 2021, 2), "Q"),
            "age_at_consent": (numbers(18, 85), "Q"),
            "prior_therapy": (few("none", "chemo", "radio"), "SD"),
            "investigator": (people("Dr {last}"), "D"),
            "death_date": (at_times(days("%d%b%Y", 2022, 2), 0.7), "Q"),
            "narrative": (prose(ENGLISH), "D"),
        },
    ),
    (
        320,
        {
            "prison_number": (shaped("A####@@"), "D"),
            "alias": (people(), "D"),
            "index_offence": (few("theft", "assault", "fraud"), "S"),
            "reception": (days("%d/%m/%Y", 2020, 4), "Q"),
            "next_of_kin": (people(), "D"),
            "home_area": (few("North", "Mids", "South"), "Q"),
        },
    ),
    (
        400,
        {
            "loyalty card": (visits("6338{0:015}", 4), "D"),
            "purchased": (days("%m/%d/%Y 11:05:09 AM", 2022, 2), "Q"),
            "till operator": (few(*FIRST), "D"),
            "basket_total": (floats(3, 90), "QD"),
            "postcode district": (few("LS1", "LS2", "BD3"), "Q"),
        },
    ),
    (
        250,
        {
            "NUMHISTORIA": (own("{0}"), "D"),
            "FECHANAC": (days("%d/%m/%Y", **BIRTHS), "Q"),
            "CODPOSTAL": (shaped("280##"), "Q"),
            "DIAGPPAL": (few("J18", "I50", "N39"), "SQD"),
            "MEDICORESP": (few(*LAST), "D"),
            "DIASESTANCIA": (numbers(1, 30), "QD"),
            "TFNO1": (shaped("91#######"), "D"),
        },
    ),
]
