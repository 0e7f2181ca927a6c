import CambiumModel

@testable import CambiumGraph

/// The stored pages of a timeline's newest version, which a test may forge.
struct StoredGraph {
    private let image: PageImage
    private let storage = ChunkStorage()
    private let catalog: SchemaCatalog
    private let fingerprint: UInt64

    init(_ timeline: Timeline) throws {
        let frozen = try timeline.freeze()
        storage.store(frozen.fresh, of: timeline)
        (image, catalog, fingerprint) = (frozen.image, timeline.head.schema.catalog, timeline.head.fingerprint)
    }

    /// The findings of the proof for the pages as they were stored.
    func flaws() throws -> [String] { try Self.flaws(image, storage, catalog, fingerprint) }

    /// Returns the findings of the proof for the pages with another number at an offset of a page.
    func flaws<Number: FixedWidthInteger>(_ page: PageRef, _ offset: Int, _ number: Number) throws -> [String] {
        let forged = storage.copy()
        let place = forged.chunk(Int(page >> 12)) + Int(page & 4095) * PageLayout.granule + offset
        place.storeBytes(of: number.littleEndian, as: Number.self)
        return try Self.flaws(image, forged, catalog, fingerprint)
    }

    private static func flaws(
        _ image: PageImage, _ chunks: ChunkStorage, _ catalog: SchemaCatalog, _ fingerprint: UInt64
    ) throws -> [String] {
        GraphProof.flaws(of: try Timeline(image, layout: fingerprint, schema: catalog, source: chunks))
    }
}
