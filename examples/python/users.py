"""The users that the server answers with."""

KNOWN = {
    1: {"id": 1, "name": "Ada Lovelace", "email": "ada@example.org"},
    2: {"id": 2, "name": "Alan Turing", "email": "alan@example.org"},
}


def find(number):
    """The user of that number; nothing when nobody has it."""
    return KNOWN.get(number)
