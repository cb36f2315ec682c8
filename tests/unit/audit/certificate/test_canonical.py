"""Canonical JSON is that of RFC 8785."""

import json
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.audit.certificate.canonical import canonical, number
from kohort.errors import InternalError

# RFC 8785, appendix B: the bits of a double, and how it is written
SAMPLES = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), SAMPLES.items())
def test_numbers_of_the_standard(bits, text):
    assert number(struct.unpack(">d", bytes.fromhex(bits))[0]) == text


def test_keys_and_texts_of_the_standard():
    # section 3.2.3: sorted by UTF-16 code units, not by code points
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    written = canonical(dict.fromkeys(keys, 0))
    assert list(json.loads(written)) == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    # section 3.2.2.2
    assert canonical('\u20ac$\x0f\nA\'B"\\"/') == '"€$\\u000f\\nA\'B\\"\\\\\\"/"'


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(-1e15, 1e15)
    | st.floats(1e21, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner),
)


@given(PLAIN)
def test_what_is_written_is_read_as_it_was(value):
    text = canonical(value)
    assert json.loads(text) == value
    assert canonical(json.loads(text)) == text
    assert "\n" not in text


@given(st.floats(2**53, 1e21))
def test_large_numbers_keep_their_form(value):
    assert float(json.loads(number(value))) == value
    assert number(json.loads(number(value))) == number(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, 2**53 + 1, {1, 2}])
def test_what_readers_of_json_would_not_agree_on_is_refused(value):
    with pytest.raises(InternalError):
        canonical(value)
