"""Log patterns: data (one TOML file a family), their loader and their matcher."""
