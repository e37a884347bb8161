"""Parameters of statements that are built once and sent often: to build a large one costs more than to send it.

A function with `@cache` gives such a statement; whoever executes it names the values.
"""

from collections.abc import Sequence

from sqlalchemy import BigInteger, BindParameter, ColumnElement, DateTime, Integer, bindparam
from sqlalchemy.dialects.postgresql import ARRAY

# A person by number, or the parameter of a statement that is built once for all people.
PersonId = int | ColumnElement[int]
PERSON: BindParameter[int] = bindparam("person", type_=BigInteger)
NOW = bindparam("now", type_=DateTime(timezone=True))
MOST: BindParameter[int] = bindparam("most", type_=Integer)


def numbers(name: str) -> BindParameter[Sequence[int]]:
    """A list of numbers under this name, for `one_of`."""
    return bindparam(name, type_=ARRAY(BigInteger))
