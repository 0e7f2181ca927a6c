import CambiumTesting
import Foundation

/// Applies each kind of corruption to each file of each shape of store, and runs commands of every kind.
struct CorruptionMatrix {
    private let attack: Attack

    init(_ attack: Attack) { self.attack = attack }

    func run() throws {
        let kinds = SampleKind.allCases.filter { attack.isWanted("corruptions/\($0.rawValue)") }
        for kind in kinds {
            let store = try SoundStore(kind, attack)
            let attack = attack
            try attack.forEach(try corruptions(store)) { try CorruptionRun($0, store, attack)?.run() }
        }
    }

    private func corruptions(_ store: SoundStore) throws -> [Corruption] {
        let archived = try store.kind == .archived ? Tree(store.site + "/archive").files.map { "archive/" + $0 } : []
        let files = try Tree(store.site + "/store").files.filter { $0 != "keep.txt" }.map { "store/" + $0 } + archived
        let all = files.flatMap { file in
            CorruptionKind.allCases.map { Corruption(kind: $0, sample: store.kind, file: file) }
        }
        return all.filter { attack.isWanted($0.name) }
    }
}
