"""What may be proposed as published as it is: names of columns that are known from end to end, and harmless cells.

A name that has a sensitive word and another one, unknown, may say anything: a therapist is no therapy, and a treatment
centre is a place. So every word must be known, those of compounds, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from kohort.policy.hierarchy.suggest.countries import code_of
from kohort.reports.propose.looks import Look
from kohort.reports.propose.patterns import share_of, share_of_known_names
from kohort.reports.propose.words import words_of

_SUBJECTS_WORDS = """
    diagnosis diagnoses diagnostic diagnostics diag dx disease diseases illness illnesses condition conditions
    symptom symptoms syndrome syndromes comorbidity comorbidities morbidity disorder disorders hiv aids infection
    infections cancer tumor tumour allergy allergies drug drugs medication medications medicine medicines meds
    treatment treatments therapy therapies procedure procedures surgery operation salary salaries income incomes
    wage wages earnings pay cost costs charge charges debt debts result results outcome outcomes verdict crime
    crimes offence offences offense conviction convictions sentence credit loan loans icd prescription
    prescriptions diagnose diagnosen krankheit krankheiten erkrankung erkrankungen leiden beschwerde beschwerden
    syndrom befund befunde medikament medikamente medikation arznei arzneien arzneimittel wirkstoff behandlung
    behandlungen therapie therapien eingriff eingriffe operationen gehalt gehaelter einkommen lohn loehne
    verdienst kosten schulden ergebnis ergebnisse straftat straftaten urteil urteile kredit kredite allergie
    allergien infektion infektionen krebs maladie maladies pathologie pathologies symptome symptomes medicament
    medicaments traitement traitements salaire salaires revenu revenus cout couts frais resultat resultats dette
    dettes delit infraction remuneration honoraires diagnostico diagnosticos enfermedad enfermedades patologia
    patologias sintoma sintomas sindrome medicamento medicamentos farmaco farmacos tratamiento tratamientos
    terapia terapias salario salarios sueldo sueldos ingresos renta rentas coste costes costo costos resultado
    resultados deuda deudas delito condena credito alergia alergias infeccion diagnosi malattia malattie sintomo
    sintomi farmaci trattamento trattamenti terapie stipendio stipendi reddito redditi costi esito esiti risultato
    risultati debito debiti reato condanna allergia infezione remunerazione ziekte ziekten ziektes aandoening
    aandoeningen symptoom symptomen syndroom medicatie medicijn medicijnen geneesmiddel behandeling behandelingen
    salaris salarissen inkomen inkomens loon uitslag uitslagen resultaat resultaten uitkomst uitkomsten schuld
    disability disabilities handicap impairment behinderung behinderungen schwerbehinderung invaliditaet invalidite
    discapacidad incapacidad invalidez disabilita invalidita deficiencia incapacidade invaliditeit pregnancy pregnant
    schwangerschaft schwanger grossesse embarazo gravidanza gravidez zwangerschap injury injuries verletzung
    verletzungen blessure blessures lesion lesiones lesione lesioni letsel lesao lesoes orientation orientierung
    orientacion orientamento orientacao geaardheid smoker smoking raucher rauchen fumeur tabac tabagisme fumador
    fumatore roker fumo tabaco alcohol alkohol alcool vaccination vaccinations vaccine impfung impfungen vaccin
    vaccins vacuna vacunas vaccinazione vaccino vacina vacinas absence fehlzeit ausencia assenza verzuim vote voto
    stimme party partei partido partito partij default defaulted arrears mahnstufe delikt straftatbestand
    delict vonnis krediet infectie kanker doenca doencas tratamento tratamentos terapeutica rendimento rendimentos
    vencimento vencimentos remuneracao honorario honorarios custo custos divida dividas condenacao infecao
    infeccao
"""
SUBJECTS = frozenset(_SUBJECTS_WORDS.split())
"""What must not be learned about a person, in words that mean nothing else."""
_QUALIFIERS_WORDS = """
    main primary principal secondary first second third last initial final current present previous prior other
    additional index serious reason reasons grund motif motivo reden cause causes ursache causa oorzaak sexual sexuelle
    sexuale seksuele physical political politische politique politica
    chief code codes group groups grp grouped class classes classification category categories cat type
    types kind level levels lvl band bands bracket brackets range ranges tier quartile quintile decile percentile
    status stage grade severity degree score flag positive negative pos neg confirmed suspected known any label
    labels value val test tests lab blood clinical medical mental health annual yearly monthly weekly hourly gross
    net total new old recoded rec bin binned overall arm regimen form of the and or in is has eur euro euros usd
    gbp chf name haupt neben erst zweit letzte letzter letztes aktuell aktuelle gruppe gruppen klasse klassen
    stufe stufen kategorie art typ bereich spanne niveau schluessel kode brutto netto jahres monats gesamt grad
    schwere schweregrad wert labor klinisch klinische positiv negativ sonstige weitere und der die das des
    principale secondaire associe associee actuel actuelle groupe classe tranche tranches categorie niveau brut
    brute nette annuel annuelle mensuel mensuelle global statut stade gravite suivi medicale clinique valeur nom
    de du la le les et secundario secundaria actual grupo clase tramo tramos categoria tipo nivel niveles codigo
    bruto bruta neto neta anual mensual estado grado gravedad estadio clinico clinica prueba valor del el los las
    secondaria secondario iniziale finale attuale gruppo fascia fasce livello codice lordo lorda annuo annua
    annuale mensile totale stato gravita stadio clinico valore di della dello dei delle il hoofd neven eerste
    tweede laatste huidig huidige groep schaal soort jaar totaal graad ernst stadium waarde van het en atual
    escalao escaloes faixa liquido mensal grau gravidade teste do da dos das
"""
QUALIFIERS = frozenset(_QUALIFIERS_WORDS.split())
"""What may stand beside them and says nothing else about a person."""
_LINKS = frozenset(("s", "n", "en", "es", "e"))
"""Letters between the words of a compound."""
_SHORT = frozenset(("art", "typ", "hiv"))
"""Words of three letters that compounds have."""
_MOST_NAMES = 0.3
_AGES = 12
"""Whole numbers of one or two digits that are more than these may be ages."""
_MONTH_NAMES = """
    january february march april may june july august september october november december januar februar märz
    maerz mai juni juli oktober dezember janvier février fevrier mars avril juin juillet août aout septembre
    octobre novembre décembre decembre enero febrero marzo abril mayo junio julio agosto septiembre setiembre
    octubre noviembre diciembre gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre januari
    februari maart mei augustus janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
"""
_MONTHS = "|".join(_MONTH_NAMES.split())
_SHORT_NAMES = """
    jan janv feb fév févr fev mar mrz apr avr abr jun jui juil jul aug ago sept? set oct okt ott out nov dec déc dez dic
    ene gen
"""
_SHORT_MONTHS = "|".join(_SHORT_NAMES.split())
_STEPS = "q|t|w|s|h|kw|wk|week|woche|semaine|semana|settimana|trim|sem"
_TIMES = (
    rf"^(19|20)\d\d ?[-/. ] ?({_STEPS})?[. -]?\d{{1,2}}$",
    rf"^(19|20)\d\d ?({_STEPS})[. -]?\d{{1,2}}$",
    rf"^({_STEPS})?[. -]?\d{{1,2}}\.?(st|nd|rd|th)? ?[-/. ] ?(19|20)\d\d$",
    rf"^(\d{{1,2}}\.? )?({_MONTHS})[-/., ]{{0,2}}'?((19|20)?\d\d)?$",
    rf"^(\d{{1,2}}\.? )?({_SHORT_MONTHS})\.?[-/., ]{{0,2}}'?(19|20)?\d\d$",
    r"^\d{1,2}[-./]\d{1,2}[-./]?(\d\d)?$",
    r"^(19|20)\d\d(s|er|-(19|20)?\d\d)?$",
    r"^\d{1,2}[:.h]\d\d(:\d\d)?( ?[ap]m)?$",
    r"^(19|20)\d\d(0[1-9]|1[0-2])([0-3]\d)?$",
)
"""Parts of dates: months, quarters, weeks, decades, and times of day."""
_YEARS = r"1?\d?\d"
_BELOW = "under|over|unter|über|ab|bis|moins de|plus de|menos de|mas de|más de|meno di|mais de"
_BANDS = (
    rf"^\[?\(?{_YEARS} ?(-|–|~|,|to|bis|a|à|al|tot|até|e|und|et|y) ?{_YEARS}[\])]?",
    rf"^(<|>|≤|≥|<=|>=|{_BELOW}) ?{_YEARS}\b",
    rf"^{_YEARS} ?(\+|plus|and over|years?|yrs?|jahre?|ans|años|anni|jaar|anos)\b",
)
"""Ages, and groups of them."""
_PLACES = (
    r"^0\d{3,5}$",
    r"^[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}$",
    r"^\d{4} ?[A-Z]{2}$",
    r"^\d{4}-\d{3}$|^\d{5}-\d{3,4}$|^[A-Z]-?\d{4,5}$",
    r"^-?\d{1,3}\.\d{4,}$",
)
"""Postcodes, and coordinates."""


def doubt(look: Look) -> str | None:
    """Why a column with a sensitive word in its name may not be proposed as published as it is; None if it may be."""
    if not is_known_name(look.name):
        return "another word of its name is not known"
    return next((reason for is_so, reason in _DANGERS if is_so(look)), None)


@cache
def is_known_name(name: str) -> bool:
    """Whether every word in a name is known, and one of them is a subject.

    Examples
    --------
    >>> [is_known_name(name) for name in ("Hauptdiagnose", "salary_band_2", "Therapeut", "result_reviewer")]
    [True, True, False, False]
    """
    words = words_of(name)
    if words is None:
        return False
    found = [_parts(word) for word in words if len(word) > 1]
    return all(parts is not None for parts in found) and any(
        part in SUBJECTS for parts in found for part in parts or ()
    )


@cache
def _parts(word: str) -> tuple[str, ...] | None:
    """The known words that make a word, links left out; None if it is made of anything else."""
    if word in SUBJECTS or word in QUALIFIERS:
        return (word,)
    for end in range(len(word) - 1, 2, -1):
        if _is_part(word[:end]):
            for link in ("", *_LINKS):
                rest = word[end:].removeprefix(link) if word[end:].startswith(link) else ""
                after = _parts(rest) if len(rest) > 3 or rest in _SHORT else None
                if after is not None:
                    return (word[:end], *after)
    return None


def _is_part(word: str) -> bool:
    """Whether a compound may have this word in it; short ones stand in many others."""
    return (word in SUBJECTS or word in QUALIFIERS) and (len(word) > 3 or word in _SHORT)


def _names(look: Look) -> bool:
    return look.is_text and share_of_known_names(look.texts) >= _MOST_NAMES


def _times(look: Look) -> bool:
    return look.is_of_days or look.is_of_years or share_of(look.texts, *_TIMES) >= 0.5


def _ages(look: Look) -> bool:
    if look.is_number:
        numbers = look.plain.cast(str).str.strip_chars().cast(float, strict=False).drop_nulls()
        return look.distinct > _AGES and bool(((numbers >= 0) & (numbers <= 120) & (numbers == numbers.round())).all())
    return share_of(look.texts, *_BANDS) >= 0.5


def _places(look: Look) -> bool:
    if share_of(look.texts, *_PLACES) >= 0.5:
        return True
    countries = sum(len(text) > 2 and code_of(text) is not None for text in look.texts)
    return countries >= 2 and countries >= 0.5 * len(look.texts)


_DANGERS: tuple[tuple[Callable[[Look], bool], str], ...] = (
    (_names, "its cells may be names of people"),
    (_ages, "its cells may be ages"),
    (_times, "its cells may be dates or times"),
    (_places, "its cells may be places"),
)
