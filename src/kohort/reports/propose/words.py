"""What names of columns say, in English, German, French, Spanish, Italian, Dutch and Portuguese.

A word of five letters or more may be part of a longer one, as compounds have it (`patientennummer`); a shorter one must
stand alone. A word with a dash before it may also be the end of one (`vorname`); one with an equals sign stands alone,
however long it is (`idade` is no part of `necessidade`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal

Kind = Literal["direct", "person", "number", "text", "survey-weight", "date", "quasi", "sensitive"]

WORDS: dict[Kind, str] = {
    # names, contacts, documents, and other people
    "direct": """
        -name surname forename nom prenom nombre apellido cognome nome naam achternaam sobrenome apelido initials
        -mail courriel correo -phone mobile handy telefon telefono telefone telefoon -fax cell gsm movil cellulare
        telemovel address adresse adres street strasse direccion calle indirizzo straat endereco morada rue rua
        ssn nir dni nie nif nss cpf bsn passport reisepass pasaporte passeport passaporto paspoort passaporte
        personalausweis sozialversicherung securitesociale seguridadsocial codicefiscale burgerservice steuernummer
        steuerid versichertennummer utentenummer iban account konto kontonummer compte cuenta mrn uuid guid url ip
        licence license plate kennzeichen matricule matricula targa kenteken username login user password photo foto
        signature unterschrift doctor physician nurse surgeon therapist clinician arzt aerztin behandler medecin medico
        docteur dokter huisarts enfermer guardian witness contact fingerprint by provider operator author staff judge
        lawyer attorney teacher lehrer officer agent caseworker counselor betreuer sachbearbeiter
        attending attendant praticien facultativo behandelaar curante referente oberarzt chefarzt tel telef tfno
        manager supervisor vorgesetzt superviseur responsabile responsavel leidinggevend chefe caller anrufer appelant
        =mother =father =parent =mutter =vater eltern =mere
        =madre =padre =moeder =vader mae pai tutor guest hospede huesped
        spitzname nickname pflegekraft krankenschwester infirmier infermier enfermeir verpleegkundig maitre notar
        recapito bank bankverbindung bankrekening rekening bancaire bancari coordonnees vorname zuname voornaam correio
        courrier
    """,
    "person": """
        person patient pat paciente paziente client klient customer kunde cliente klant member mitglied subject proband
        participant teilnehmer deelnemer participante partecipante respondent insured versicherte assure asegurado
        assicurato verzekerde student pupil schueler eleve alumno alunno leerling aluno employee mitarbeiter
        medewerker empleado dipendente utente citizen buerger
        beneficiar beneficiair donor spender donante donatore donneur doador borrower entleiher applicant antragsteller
        demandeur solicitante richiedente aanvrager claimant tenant mieter locataire inquilin huurder resident inmate
        tessera karte card carte tarjeta kaart cartao
        prisoner haeftling detenu =preso holder inhaber titulaire titular voter waehler voyageur passenger fahrgast
        persona personne persoon pessoa probant bewoner asegurad
    """,
    "number": "id ids ident identifier pid uid key number num no nr nummer kennung numero codigo identifiant ref",
    "text": """
        note notes comment remark description narrative freetext freitext text memo verbatim bemerkung notiz kommentar
        anmerkung beschreibung anamnese arztbrief commentaire remarque observation nota notas comentario observacion
        commento osservazion opmerking toelichting observacao observacoes letter report bericht
        history verlauf evolucion evolution verslag relato resoconto rendu story epikrise
    """,
    "survey-weight": """
        wgt fnlwgt pweight wgtfinl surveyweight sampleweight samplingweight finalweight personweight gewichtung
        hochrechnung ponderation ponderacion ponderazione weegfactor ponderacao faktor expansion
        stichprobengewicht muestral campionario amostral sondage steekproef wegingsfactor weging hochrechnungs
    """,
    "date": """
        -date -datum fecha data dat day month year time timestamp -jahr tag monat annee jour mois ano mes dia anno
        giorno mese jaar maand dag dob doa birth geburt geb naissance nacimiento nascita nascimento geboorte born
        jahrgang heure uhrzeit week woche semaine semana settimana quarter quartal
        yob nac nasc born seen visited zeitpunkt horodatage tijdstip hora orario moment momento instant
    """,
    "quasi": """
        age ages -alter edad =idade eta leeftijd jahre sex sexe sexo sesso gender geschlecht genero genere geslacht
        zip zipcode postcode postal plz postleitzahl cap cep race raza raca ethnic etnia education bildung abschluss
        schulabschluss etudes diplome estudios educacion istruzione titolo opleiding escolaridade educacao degree
        marital familienstand etatcivil estadocivil statocivile burgerlijke civil occupation job profession beruf metier
        ocupacion ocupacao occupazione profesion professione profissao beroep country land pays pais paese
        nationality staatsangehoerig nationalitaet nationalit nacionalidad nazionalita nacionalidade citizenship
        cittadinanza herkunft herkomst city town stadt ville ciudad citta cidade stad -ort wohnort municipality gemeinde
        gemeente commune comune municipio concelho freguesia county kreis landkreis state bundesland region regione
        provinc provincia comunidad departement distrito district area neighborhood neighbourhood residence
        residencia residenza domicile woonplaats place location site religion religione religiao konfession geloof
        language sprache langue lengua idioma lingua taal workclass admission aufnahme admision admissao ricovero opname
        ingreso discharge entlassung sortie alta dimissione ontslag visit besuch height weight groesse gewicht taille
        poids peso altura altezza lengte bmi household haushalt menage hogar famiglia huishouden agregado family
        relationship children kinder enfants hijos figli kinderen filhos spouse employer arbeitgeber company hospital
        krankenhaus klinik clinic hopital ospedale ziekenhuis ward station facility department abteilung reparto
        afdeling school schule native birthplace latitude longitude lat lon lng geo coordinate hours veteran housing
        industry sector origin employment employee worker union migration unemployment emploi empleo impiego emprego
        famstand qualification habilitac situation situac familial niveau estudos functie funktion mestiere geschl lft
        mv mw wm hf mf fm profissional professional professionnel profesional professionale beroeps pc4
        ortsteil centre center centro zentrum store shop magasin tienda negozio winkel zivilstand zivil situatie
        anciennete antiguedad anzianita antiguidade betriebszugehoerigkeit dienstjahre imc munic
        branch office building filiale quartier quartiere barrio bairro wijk buurt viertel stadtteil bezirk borough
        arrondissement sede standort site edificio gebouw gebaeude batiment bureau oficina ufficio escritorio kantoor
        zone zona zonas prefecture canton kanton kommune constituency wahlkreis parish paroisse parrocchia parroquia
        educ schooling female male weiblich maennlich gerant division team squad unit shift schicht cohort
        jahrgangsstufe klassenstufe classe clase turma turno brigade abteilungen titulacion qualifica grade tenure
        seniority nivel
        localidad localite lugar luogo domicilio faith glaube stature koerpergroesse estatura civile raca lieu woon wohn
    """,
    "sensitive": """
        diagnos disease illness icd icd9 icd10 hiv drug medication medicine condition symptom sintom treatment procedure
        therap salary salaries income wage earnings cost costs charge charges debt result outcome verdict crime offence
        conviction credit loan allerg infection cancer krankheit erkrankung medikament arznei behandlung eingriff
        gehalt einkommen lohn kosten schulden ergebnis befund straftat urteil kredit maladie medicament traitement
        salaire revenu cout frais resultat dette enfermedad medicamento tratamiento salario sueldo ingresos renta coste
        costo resultado deuda malattia farmaco trattamento stipendio reddito esito risultato debito ziekte medicijn
        medicatie behandeling salaris inkomen loon uitslag resultaat schuld doenca tratamento rendimento custo divida
        alergia reato delikt tatbestand disabil disability handicap behinder discapac incapac invalid deficien pregnan
        schwanger grossesse embaraz gravid zwanger injury injuries verletz blessure lesion lesione letsel orientation
        smoker smoking raucher rauchen fumeur tabac fumador fumatore roker alcohol alkohol alcool vaccin impf vacuna
        absence absent fehlzeit krankmeldung ausencia assenza verzuim ausencia vote voto votes wahl party partei partido
        partito partij default arrears mahnstufe suicid therapieart comorbid
        pathologie patolog aandoening vencimento remunerac honorar morbid syndrom beschwerde leiden
    """,
}


_OTHERS = """
    doctor physician nurse surgeon therapist clinician arzt aerztin behandler medecin medico docteur dokter huisarts
    infirmier infermier enfermer enfermeir verpleegkundig pflegekraft krankenschwester guardian witness contact by
    provider operator author staff judge lawyer attorney avvocato abogado avocat anwalt advocaat advogado teacher lehrer
    officer agent caseworker counselor betreuer sachbearbeiter attending attendant praticien facultativo behandelaar
    curante oberarzt chefarzt manager supervisor vorgesetzt superviseur responsabile responsavel leidinggevend chefe
    father mother parent eltern mere madre padre moeder vader mae pai tutor hospital clinic krankenhaus
    hopital ospedale ziekenhuis finess site station employer arbeitgeber school schule device sender einsender
    ordering referrer ueberweiser enseignant insegnante docente profesor professor maestro leraar
"""
_CODES = """
    zip zipcode postcode postal plz postleitzahl cap cep cp code cod codigo codice kode kennziffer schluessel isco naics
    nace sic icd cim cie cid ags fips nuts insee msa occ industry branche
"""
_LASTING = """
    sex gender geschl genero genere birth geburt gebdat geboren naissance nacimiento nascita nascimento geboorte dob yob
"""
_AMOUNTS = """
    age alter edad idade eta leeftijd income salary wage einkommen gehalt revenu salaire salario reddito stipendio
    inkomen salaris rendimento cost costs kosten charge amount betrag montant weight gewicht poids peso height groesse
    taille altura hours stunden heures horas ore uren distance duration count anzahl nombre numero days tage jours year
    years
"""


def is_code_name(name: str) -> bool:
    """Whether a name says that digits are those of a code, such as a postcode."""
    return not tokens_of(name).isdisjoint(_CODES.split())


def is_of_others(name: str) -> bool:
    """Whether a name says that it is not whom a record is about: a doctor, a parent, a hospital."""
    return any(
        token in _OTHERS.split() or any(len(word) > 4 and word in token for word in _OTHERS.split())
        for token in tokens_of(name)
    )


def is_weight(name: str) -> bool:
    """Whether a name says that numbers are weights, of bodies or of records."""
    return any(word in token for token in tokens_of(name) for word in ("weight", "gewicht", "poids", "peso", "ponder"))


def is_lasting(name: str) -> bool:
    """Whether a name says that it is what a person keeps: the sex, the day or place of birth."""
    return any(word in token for token in tokens_of(name) for word in _LASTING.split())


def is_amount(name: str) -> bool:
    """Whether a name says that digits are an amount."""
    return not tokens_of(name).isdisjoint(_AMOUNTS.split())


def kinds_of(name: str) -> frozenset[Kind]:
    """What the words in the name of a column say.

    Examples
    --------
    >>> sorted(kinds_of("PatientenNr")), sorted(kinds_of("date_of_birth")), sorted(kinds_of("Vorname"))
    (['number', 'person'], ['date'], ['direct'])
    >>> sorted(kinds_of("diagnosis_date")), sorted(kinds_of("q17"))
    (['date', 'sensitive'], [])
    """
    tokens = tokens_of(name)
    return frozenset(kind for kind in WORDS if any(_says(token, kind) for token in tokens))


def words_of(name: str) -> list[str] | None:
    """The words of a name in order, without digits; None if it has letters that are not Latin."""
    plain = "".join(map(_plain, name))
    if any(letter.isalpha() and not letter.isascii() for letter in plain):
        return None
    return re.findall("[a-z]+", _split(plain))


def _split(plain: str) -> str:
    """A name in small letters, its words apart."""
    return re.sub(r"([a-z])([A-Z])", r"\1 \2", plain).lower()


def tokens_of(name: str) -> frozenset[str]:
    """The words of a name, with and without digits at their ends, and all of them as one."""
    parts = re.findall(r"[a-z]+[0-9]*", _split("".join(map(_plain, name))))
    bare = [part.rstrip("0123456789") for part in parts]
    return frozenset({*parts, *bare, "".join(bare)})


def _plain(letter: str) -> str:
    """A letter without its accents; umlauts as two."""
    two = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
    return two.get(letter) or "".join(
        part for part in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(part)
    )


def _says(token: str, kind: Kind) -> bool:
    alone, parts, ends = _lists(kind)
    return token in alone or token.endswith(ends) or any(part in token for part in parts)


@cache
def _lists(kind: Kind) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    words = WORDS[kind].split()
    plain = [word.lstrip("-=") for word in words]
    ends = tuple(word[1:] for word in words if word[0] == "-" and len(word) > 4)
    parts = tuple(word.lstrip("-") for word in words if len(word.lstrip("-")) >= 5 and word[0] != "=")
    return frozenset(plain), parts, ends
