"""A language server for StableHLO text: `stablehlo-interp lsp`.

`server` speaks the protocol; the other modules know neither the protocol nor pygls.
"""
