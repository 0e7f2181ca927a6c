import Cambium
import CambiumLog
import CambiumModel
import CambiumTesting
import Foundation
import FuzzTargets
import Testing

/// Stores with forged logs and forged pages, with matching checksums.
@Suite struct ForgeryTests {
    private static let sample = Result { try ForgedSample() }

    @Test func `the sample opens from its checkpoint, and all of its pages are found`() throws {
        let sample = try Self.sample.get()
        let (store, volume) = try ForgedSample.open(sample.files)
        #expect(store.recovery.notes == [] && store.recovery.checkpoint == sample.checkpoint && store.graph.digest() == sample.digest)
        try store.close()
        #expect(try Verification(volume).findings == [])
        let pages = try ForgedPages(sample.files)
        #expect(Set(pages.pages.map(\.kind)).isSuperset(of: [1, 2, 3, 4, 5, 6, 8, 9, 10, 11]))
        #expect(try pages.files() == sample.files && PageMutation.all(of: pages).count > 10_000)
    }

    @Test func `a forged transaction without forged ops is applied`() throws {
        let sample = try Self.sample.get()
        let (store, _) = try ForgedSample.open(ForgedLog.append([[]], to: sample.files))
        #expect(store.recovery.notes == [] && store.graph.digest() == sample.digest)
        try store.close()
    }

    /// Returns the error that refuses to open the store of these files, or `nil` if the store opens.
    private static func refusal(of files: [String: [UInt8]]) throws -> CambiumError? {
        do {
            try ForgedSample.open(files).store.close()
            return nil
        } catch let error as CambiumError {
            return error
        }
    }

    @Test func `a forged value is refused wherever an op holds it, with its file and transaction`() throws {
        let sample = try Self.sample.get()
        let forgeries = try ForgedOps.values()
        for index in stride(from: 0, to: forgeries.count, by: Self.count < forgeries.count ? 11 : 1) {
            let forgery = forgeries[index]
            let files = try ForgedLog.append([forgery.payload], to: sample.files)
            let error = try Self.refusal(of: files)
            let file = error?.place?.file ?? ""
            #expect(error?.code == .corrupted && file.hasPrefix("log/"), "\(forgery): \(error?.description ?? "it opens")")
            #expect(error?.message.contains("Transaction \(sample.checkpoint.rawValue + 2) ") == true, "\(forgery)")
            #expect(try !Verification(MemoryVolume(contents: files)).isSound, "\(forgery)")
        }
        let sound = try #require(try ForgedOps.soundClone())
        #expect(try Self.refusal(of: ForgedLog.append([sound.payload], to: sample.files)) == nil)
    }

    @Test func `a forged label that no caller may set is refused by the store and the log, with its file and transaction`() throws {
        let sample = try Self.sample.get()
        for forgery in ForgedOps.labels() {
            let files = try ForgedLog.append([forgery.payload], to: sample.files)
            let error = try Self.refusal(of: files)
            #expect(error?.code == .corrupted && error?.place?.file?.hasPrefix("log/") == true, "\(forgery)")
            #expect(
                error?.message.contains("Transaction \(sample.checkpoint.rawValue + 2) ") == true,
                "\(forgery): \(String(describing: error))")
            let log = try TransactionLog(MemoryVolume(contents: files))
            let other = #expect(throws: CambiumError.self, "\(forgery)") { try log.forEach { _ = try $0.isRetired ? [] : $0.ops() } }
            #expect(other?.code == .corrupted && other?.place?.file?.hasPrefix("log/") == true, "\(forgery)")
        }
    }

    @Test func `the log reports no value that no attribute can have`() throws {
        let sample = try Self.sample.get()
        let forgeries = try ForgedOps.values().filter { $0.description.hasPrefix("set tree") || $0.description.hasPrefix("set when") }
        for forgery in forgeries {
            let log = try TransactionLog(MemoryVolume(contents: ForgedLog.append([forgery.payload], to: sample.files)))
            let error = #expect(throws: CambiumError.self, "\(forgery)") { try log.forEach { _ = try $0.isRetired ? [] : $0.ops() } }
            #expect(error?.code == .corrupted && error?.place?.file?.hasPrefix("log/") == true)
        }
        #expect(forgeries.count > 10)
    }

    @Test(arguments: [0, 1]) func `a forged number in an op is refused or does no harm`(kind: Int) throws {
        let sample = try Self.sample.get()
        let forgeries = try kind == 0 ? ForgedOps.limits() : ForgedOps.bytes()
        for index in stride(from: 0, to: forgeries.count, by: kind == 0 ? 1 : max(1, forgeries.count / Self.count)) {
            let files = try ForgedLog.append([forgeries[index].payload], to: sample.files)
            do {
                try Exercise.run(MemoryVolume(contents: files))
            } catch let error as CambiumError where [.corrupted, .limitExceeded].contains(error.code) {
                continue  // The op was refused, or no serial is left.
            } catch {
                Issue.record("\(forgeries[index]): \(error)")
            }
        }
    }

    @Test func `forged pages are skipped, and the log produces the same graph`() throws {
        let sample = try Self.sample.get()
        let pages = try ForgedPages(sample.files)
        for mutation in Self.mutations(of: pages, Self.count) {
            var forged = pages
            forged.apply(mutation)
            let files = try forged.files()
            do {
                let outcome = try Exercise.run(MemoryVolume(contents: files))
                let isUsed = outcome.checkpoint == sample.checkpoint
                #expect(isUsed || outcome.digest == sample.digest && outcome.notes.count == 1, "\(mutation): \(outcome.notes)")
                #expect(
                    try Verification(MemoryVolume(contents: files)).isSound == (isUsed && outcome.digest == sample.digest), "\(mutation)")
            } catch let error as CambiumError where [.ruleViolated, .invalidInput].contains(error.code) {
                continue  // A forged value violates a rule of the schema.
            } catch {
                Issue.record("\(mutation): \(error)")
            }
        }
    }

    @Test func `forged pages that are read one by one end the process with a message, and the next process uses the log`() throws {
        let sample = try Self.sample.get()
        let pages = try ForgedPages(sample.files)
        for mutation in Self.mutations(of: pages, Self.count / 3) {
            var forged = pages
            forged.apply(mutation)
            let reader = try ForgedReader(forged.files())
            let (code, message) = try reader.run()
            #expect(code == 0 || code == 74, "\(mutation): \(code) \(message)")
            if code == 0 { continue }
            #expect(message.contains("Open the store again to use an older checkpoint or the log."), "\(mutation): \(message)")
            #expect(try reader.run().code == 0, "\(mutation)")
        }
    }

    /// Returns mutations at random: a third of them from `PageMutation.random`, the others from the list of all mutations.
    private static func mutations(of pages: ForgedPages, _ count: Int) -> [PageMutation] {
        let all = PageMutation.all(of: pages)
        var random = SplitMix64(seed: seed)
        return (0..<count).compactMap { $0 % 3 == 0 ? PageMutation.random(of: pages, using: &random) : all.randomElement(using: &random) }
    }

    private static let seed = TestSettings.seed ?? 1

    /// The number of forgeries of each kind that the tests try.
    private static let count = TestSettings.number("forgeries") ?? (LongTests.areWanted ? 15 : 8)
}
