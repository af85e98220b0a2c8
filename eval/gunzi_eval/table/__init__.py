"""The view from the table: game events as text, what a person types, and a bot's analysis."""
