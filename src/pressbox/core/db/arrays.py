"""Conditions on lists that are sent as one parameter, however many values they have."""

from collections.abc import Collection, Sequence

from sqlalchemy import BigInteger, BindParameter, Text, any_, literal
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.sql.expression import CollectionAggregate


def one_of(numbers: Collection[int] | BindParameter[Sequence[int]]) -> CollectionAggregate[bool]:
    """For `column == one_of(ids)`."""
    return any_(numbers if isinstance(numbers, BindParameter) else literal(list(numbers), ARRAY(BigInteger)))


def one_of_texts(texts: Collection[str]) -> CollectionAggregate[bool]:
    """For `column == one_of_texts(names)`."""
    return any_(literal(list(texts), ARRAY(Text)))
