// Edits are made of graphs and committed to stores, so a program that imports this module can use both.
@_exported public import CambiumStore
