"""What the quality pages of a campaign show."""
