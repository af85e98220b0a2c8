"""Self-play training for Da Gunzi."""
