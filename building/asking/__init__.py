"""What models behind servers are asked about texts, and how their answers are read. No Django here."""
