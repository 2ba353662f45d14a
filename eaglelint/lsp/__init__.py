"""The language server: findings while one types, fixes at the place, and what a list of ids means.

`service` runs the checks and knows nothing of the protocol, `wire` turns places into those of the protocol, `server`
speaks it. Only `server` and `wire` need pygls (`pip install "eaglelint[lsp]"`).
"""
