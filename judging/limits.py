"""What a judge run may be told: the same for the form, the API and the commands."""

CONCURRENCY = 4_096  # requests at once, of each worker
WORKERS = 256
PAIRS = 2**31 - 1  # what the columns hold
TOKENS = 2**63 - 1
MONEY = 10**12
PRICE = 10**12  # of a million tokens
