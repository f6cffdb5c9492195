"""Tables (CSV, XLSX, JSON, Parquet), converted to rows of a study. No Django."""
