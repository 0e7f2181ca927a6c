/// The ways to corrupt one file of a store.
enum CorruptionKind: String, CaseIterable, Sendable {
    case bitAtStart, bitInMiddle, bitAtEnd
    case byteZeroed, blockZeroed
    case cutToNothing, cutToFifty, cutToHalf, cutByOne
    case byteAppended, garbageAppended, zerosAppended
    case removed
    /// The file as it was after the first half of the transactions.
    case older
    /// The file of the same name from another store.
    case foreign
    case emptyDirectory, fifo
    /// A symbolic link to a file outside the store with other bytes.
    case linkOutside
    /// A symbolic link to a file outside the store with the same bytes.
    case linkToCopy
    /// A symbolic link whose target does not exist.
    case danglingLink
    /// A second copy of the file under the next name, such as the name of the next segment.
    case duplicated
    /// Two files with exchanged contents.
    case swapped
    /// A file without any permission to read or write it.
    case noPermission
    /// Changed header bytes with a matching checksum.
    case headerForged
}
