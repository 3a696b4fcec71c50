"""Two kinds of identifiers that are easily confused.

A *user id* belongs to a person who signs in. An *account identifier* belongs
to the company that gets the invoice. One account has many users.
"""

import hashlib
import unicodedata


def normalise_user_id(raw):
    """Clean up the login name of a person: trim, fold case, drop the mail tag.

    ``" Ana+shop@Example.org "`` becomes ``"ana@example.org"``.
    """
    text = unicodedata.normalize("NFC", raw).strip().casefold()
    name, at, domain = text.partition("@")
    return name.split("+", 1)[0] + at + domain


def canonical_account_identifier(raw):
    """Write a company's customer number the one official way: ``PW-000123-7``.

    Leading zeros are filled in and the trailing check digit is recomputed.
    """
    digits = "".join(ch for ch in raw if ch.isdigit())[:6].zfill(6)
    return f"PW-{digits}-{account_check_digit(digits)}"


def account_check_digit(digits):
    weighted = sum((index + 2) * int(digit) for index, digit in enumerate(digits))
    return weighted % 10


def pseudonym(user_id):
    """Stand-in for a person in analytics exports; cannot be reversed."""
    return hashlib.sha256(normalise_user_id(user_id).encode()).hexdigest()[:12]
