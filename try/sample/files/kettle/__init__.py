"""kettle: how long a tea wants to steep."""
