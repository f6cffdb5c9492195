"""The pairs behind a number, and one of them with everybody's spans over the text."""
