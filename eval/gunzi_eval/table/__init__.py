"""One table in words: game events, input of a player, and analysis by bots."""
