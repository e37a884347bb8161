"""Which clip sources bill their requests, and the least that one of them bills."""

X_API = "x-api"
# Their canary would cost something every hour.
BILLING = frozenset({X_API})
# Posts on the smallest page that X's API gives.
SMALLEST_PAGE = 10
