"""The audit of the convention tables: what the source of an engine's releases says, beside what the tables say."""
