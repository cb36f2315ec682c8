"""Canonical JSON (RFC 8785): one document has one sequence of bytes, so that it can be signed and compared.

No blanks; keys sorted by their UTF-16 code units; numbers as ECMAScript writes them; of characters, only quotes,
backslashes and control characters are escaped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from kohort.errors import InternalError

_LARGEST = 2**53
"""Whole numbers beyond it are not the same for every reader of JSON, but for some that are doubles."""


def canonical(value: Any) -> str:
    r"""Write plain data as canonical JSON.

    Examples
    --------
    >>> print(canonical({"b": [1.0, 1e-7, True, None], "a": "é\n"}))
    {"a":"é\n","b":[1,1e-7,true,null]}
    """
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, Mapping):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in keys) + "}"
    if isinstance(value, Sequence):
        return "[" + ",".join(map(canonical, value)) + "]"
    raise InternalError(f"{type(value).__name__} has no canonical form.")


def number(value: float) -> str:
    """Write a number as ECMAScript does (`Number::toString`).

    Examples
    --------
    >>> [number(one) for one in (-0.0, 1e21, 1e20, 1e-6, 1.5e-7, 4.35, -123456789.0)]
    ['0', '1e+21', '100000000000000000000', '0.000001', '1.5e-7', '4.35', '-123456789']
    """
    large = isinstance(value, int) and abs(value) > _LARGEST
    if not math.isfinite(value) or (large and number(float(value)) != str(value)):
        raise InternalError("such a number has no canonical form.")
    if value == 0:
        return "0"
    # Python finds the same shortest digits; only where the point and the exponent stand differs
    sign, figures, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    digits = "".join(map(str, figures))
    point = len(digits) + int(exponent)
    if 0 < point <= 21:
        text = digits.ljust(point, "0") if len(digits) <= point else f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{rest}e{point - 1:+d}"
    return f"-{text}" if sign else text
