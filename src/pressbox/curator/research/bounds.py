"""What a person may ask of one research; apart from the rest, so that help shows it without loading anything."""

MOST_ROUNDS = 10
LEAST_TOKENS, MOST_TOKENS = 1_000, 1_000_000
LONGEST_MINUTES = 24 * 60
