"""The users that a service supports, and the times that it takes under a load."""
