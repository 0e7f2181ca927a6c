/// What is done to one file of a store.
enum CorruptionKind: String, CaseIterable, Sendable {
    case bitAtStart, bitInMiddle, bitAtEnd
    case byteZeroed, blockZeroed
    case cutToNothing, cutToFifty, cutToHalf, cutByOne
    case byteAppended, garbageAppended, zerosAppended
    case removed
    /// The file as it was half-way.
    case older
    /// The file of the same name of another store.
    case foreign
    case emptyDirectory, fifo
    /// A symbolic link to a file outside of the store with other bytes.
    case linkOutside
    /// A symbolic link to a file outside of the store with the same bytes.
    case linkToCopy
    /// A symbolic link that leads nowhere.
    case danglingLink
    /// The file under the next name, too.
    case duplicated
    /// Two files change places.
    case swapped
    /// Nobody may read or write it.
    case noPermission
    /// Bytes of its header changed, and its checksum made to fit.
    case headerForged
}
