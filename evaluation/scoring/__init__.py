"""What every run, system and reference scores under one source of grades."""
