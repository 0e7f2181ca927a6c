// Records are read from graphs and saved in transactions and edits, so a program that imports this module can use all of them.
@_exported public import CambiumEdits
@_exported public import CambiumStore
