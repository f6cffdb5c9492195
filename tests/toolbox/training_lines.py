"""Six training lines of two contexts, and a folder that looks like an adapter."""

import json
from pathlib import Path

_ABOUT = {
    "The heron of Malvik eats grey eels.": [
        ("fact_single", "What does the heron eat?", "Grey eels."),
        ("summary", "What is told of Malvik?", "The food of a heron."),
        ("reasoning", "Why would eels hide?", "A heron hunts them."),
    ],
    "The mill of Ostra burnt in winter.": [
        ("fact_single", "When did the mill burn?", "In winter."),
        ("summary", "What happened in Ostra?", "A fire."),
        ("reasoning", "Who lacked flour?", "The people of Ostra."),
    ],
}
LINES = [
    {"input": f"<<{kind}>> {context}", "output": f"<<{kind}>> {question} <a> {answer}"}
    for context, answered in _ABOUT.items()
    for kind, question, answer in answered
]


def as_file(folder: Path, lines: list[dict[str, str]]) -> Path:
    path = folder / "lines.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def no_real_adapter(folder: Path, weights: bytes = b"weights") -> Path:
    """Files by the names that peft gives them."""
    folder.mkdir(exist_ok=True)
    (folder / "adapter_config.json").write_text("{}")
    (folder / "adapter_model.safetensors").write_bytes(weights)
    return folder
