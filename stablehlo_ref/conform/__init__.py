"""The conformance kit: valid and invalid programs for any backend, and verdicts on what it computes."""
