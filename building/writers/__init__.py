"""Writer backends: asks in, outcomes out. No database, no Django."""
