"""Turn what people type into an address the sorting belt can work with."""

import re
import unicodedata
from dataclasses import dataclass

from .errors import InvalidAddress

_ABBREVIATIONS = {"st": "street", "rd": "road", "ave": "avenue", "apt": "apartment"}
_POSTCODE = {
    "GB": re.compile(r"^[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}$"),
    "DE": re.compile(r"^\d{5}$"),
    "JP": re.compile(r"^\d{3}-\d{4}$"),
}


@dataclass(frozen=True)
class Address:
    line: str
    city: str
    postcode: str
    country: str

    def label_lines(self):
        return [self.line.title(), f"{self.postcode} {self.city.title()}", self.country]


def fold_width(text):
    """Replace full-width and other compatibility characters by plain ones."""
    # 全角数字や全角ハイフンを半角にそろえる(日本の住所入力でよく使われる)
    return unicodedata.normalize("NFKC", text)


def collapse_spaces(text):
    return " ".join(text.split())


def expand_abbreviations(line):
    """Spell out short street words: ``st`` becomes ``street``."""
    words = [_ABBREVIATIONS.get(word.rstrip("."), word) for word in line.split()]
    return " ".join(words)


def normalise_address(line, city, postcode, country):
    """Produce the one spelling under which an address is stored.

    Two people who type the same place differently end up with equal values,
    so duplicates can be found by comparison.
    """
    country = country.strip().upper()
    clean_line = expand_abbreviations(collapse_spaces(fold_width(line)).lower())
    clean_city = collapse_spaces(fold_width(city)).lower()
    return Address(clean_line, clean_city, format_postcode(postcode, country), country)


def format_postcode(raw, country):
    """Bring a postal code into its national layout or fail with PW-4203."""
    compact = re.sub(r"[^A-Z0-9]", "", fold_width(raw).upper())
    if country == "GB":
        compact = f"{compact[:-3]} {compact[-3:]}"
    elif country == "JP":
        compact = f"{compact[:3]}-{compact[3:]}"
    pattern = _POSTCODE.get(country)
    if pattern and not pattern.match(compact):
        raise InvalidAddress(f"{raw!r} is no postcode of {country}", field="postcode")
    return compact
