// The operations extend `Store`, and the proofs contain signed notes and trees, so a program that imports this module can use all of them.
@_exported public import CambiumProofs
@_exported public import CambiumStore
