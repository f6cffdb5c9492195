"""Largest values that a run may be given, from a form, a command or the API."""

MAX_CONCURRENCY = 4_096  # requests at once, of each worker
MAX_WORKERS = 256
MAX_REPLY_SECONDS = 86_400  # that a reply may take
MAX_PAIRS = 2**31 - 1  # what the columns hold
MAX_TOKENS = 2**63 - 1
MAX_MONEY = 10**12
MAX_PRICE = 10**12  # of a million tokens
