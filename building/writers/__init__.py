"""Writers at work in this process: orders in, outcomes out. No database, no Django."""
