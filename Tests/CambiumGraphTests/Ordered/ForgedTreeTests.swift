import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Forged pages of ordered indexes.
@Suite struct ForgedTreeTests {
    private struct Stored {
        let image: PageImage
        let storage = ChunkStorage()
        let catalog: SchemaCatalog
        let fingerprint: UInt64
        /// The nodes and the directory of the indexes.
        let pages: [PageRef]

        init() throws {
            var people = try OrderedIndexTests.People()
            var random = SplitMix64(seed: 8)
            var ops: [Op] = []
            for number in 0..<800 {
                let name = String(repeating: "n", count: Int.random(in: 0...40, using: &random)) + "\(number)"
                ops.append(people.insert(["name": .string(name), "born": .int(Int64(number % 7)), "weight": .double(Double(number))]))
            }
            try ProgramRun.commit(ops, to: people.timeline)
            let timeline = people.timeline
            let frozen = try timeline.freeze()
            storage.store(frozen.fresh, of: timeline)
            image = frozen.image
            catalog = timeline.head.schema.catalog
            fingerprint = timeline.head.fingerprint
            pages = Self.pages(of: timeline.head)
        }

        private static func pages(of graph: Graph) -> [PageRef] {
            let reader = graph.reader
            var pages = [reader.indexDirectoryReference(of: graph.layout)]
            for index in graph.layout.ordered {
                let tree = reader.record(of: index, graph.layout).tree
                var pending = tree.height > 0 ? [(tree.root, tree.height)] : []
                while let (page, height) = pending.popLast() {
                    pages.append(page)
                    if height == 1 { continue }
                    let node = reader.chunks.inner(page)
                    for child in 0..<node.count { pending.append((node.references[child], height - 1)) }
                }
            }
            return pages
        }

        /// Returns the findings of the proof for the pages with some bytes replaced.
        func flaws(_ changes: [(page: PageRef, offset: Int, byte: UInt8)]) throws -> [String] {
            let forged = storage.copy()
            for change in changes {
                let chunk = forged.chunk(Int(change.page >> 12))
                (chunk + Int(change.page & 4095) * 16 + change.offset).storeBytes(of: change.byte, as: UInt8.self)
            }
            return GraphProof.flaws(of: try Timeline(image, layout: fingerprint, schema: catalog, source: forged))
        }

        func byte(_ page: PageRef, _ offset: Int) -> UInt8 {
            (storage.chunk(Int(page >> 12)) + Int(page & 4095) * 16 + offset).load(as: UInt8.self)
        }

        /// Returns the number of bytes from the start of a page to the end of its used part.
        func usedByteCount(_ page: PageRef) -> Int {
            let pointer = storage.chunk(Int(page >> 12)) + Int(page & 4095) * 16
            switch PageKind(rawValue: byte(page, PageHeader.kindOffset)) {
            case .indexLeaf: return OrderedLeaf(pointer).end
            case .indexDirectory: return IndexDirectory.byteCount(IndexDirectory(pointer).count) - 8
            default: return OrderedInner.referencesOffset + 16 * OrderedInner(pointer).count - 8
            }
        }
    }

    @Test func `the proof finds a forged tree and does not end the process`() throws {
        let stored = try Stored()
        #expect(try stored.flaws([]) == [])
        #expect(stored.pages.count > 10)
        var random = SplitMix64(seed: 6)
        for round in 0..<LongTests.caseCount(2000, usual: 60) {
            let page = round % 5 == 0 ? stored.pages[0] : random.pick(stored.pages) ?? 0
            let offset = Int.random(in: PageLayout.header..<stored.usedByteCount(page), using: &random)
            let byte = random.isTrue(1, outOf: 3) ? 0xFF : UInt8(truncatingIfNeeded: random.next())
            if byte == stored.byte(page, offset) || isPadding(page, offset, stored) { continue }
            #expect(try !stored.flaws([(page, offset, byte)]).isEmpty, "round \(round): page \(page), offset \(offset), byte \(byte)")
        }
    }

    /// Whether the proof ignores a byte: nothing reads the byte, or it only states which index a record describes and
    /// how far that index is built.
    private func isPadding(_ page: PageRef, _ offset: Int, _ stored: Stored) -> Bool {
        guard page == stored.pages[0] else { return offset >= 22 && offset < 24 && stored.byte(page, PageHeader.kindOffset) == 13 }
        let place = (offset - IndexDirectory.recordsOffset) % IndexDirectory.stride
        return offset < IndexDirectory.recordsOffset ? offset >= 20 : place < 8 || place >= 24
    }

    @Test func `the proof finds leaves that were exchanged`() throws {
        let stored = try Stored()
        let leaves = stored.pages.filter { stored.byte($0, PageHeader.kindOffset) == PageKind.indexLeaf.rawValue }
        var random = SplitMix64(seed: 7)
        for _ in 0..<5 {
            guard let first = random.pick(leaves), let second = random.pick(leaves), first != second else { continue }
            var changes: [(PageRef, Int, UInt8)] = []
            for offset in PageLayout.header..<OrderedNode.byteCount {
                changes.append((first, offset, stored.byte(second, offset)))
                changes.append((second, offset, stored.byte(first, offset)))
            }
            #expect(try !stored.flaws(changes.map { (page: $0.0, offset: $0.1, byte: $0.2) }).isEmpty)
        }
    }
}
