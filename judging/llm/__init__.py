"""Clients of language models: servers with OpenAI's API, vLLM in this process. No Django."""
