"""HLO text, as XLA prints modules before and after its passes, as an input format."""
