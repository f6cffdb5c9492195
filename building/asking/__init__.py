"""Clients for embedding, reranking and listwise models behind servers. No Django here."""
