import Cambium
import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumStore

/// The journal from which a save learns what a transaction has changed since a record was read.
@Suite struct RecordJournalTests {
    private static let place = RecordJournal.Place(id: id(1), property: PropertyNumber(rawValue: 1))

    private static func id(_ serial: UInt64) -> ObjectID { ObjectID(root: EntityNumber(rawValue: 1), serial: serial) }

    /// Makes a random change to the members, and tracks it.
    private func change(_ members: inout [ObjectID], isOrdered: Bool, _ journal: inout RecordJournal, _ random: inout SplitMix64) {
        let member = Self.id(UInt64.random(in: 2..<9, using: &random))
        guard let index = members.firstIndex(of: member) else {
            members.insert(member, at: Int.random(in: 0...members.count, using: &random))
            if !isOrdered { members.sort() }
            return journal.track(Self.place, .added(member))
        }
        members.remove(at: index)
        guard isOrdered, random.isTrue(1, outOf: 2) else { return journal.track(Self.place, .removed(member, index: index)) }
        members.insert(member, at: Int.random(in: 0...members.count, using: &random))
        journal.track(Self.place, .moved(member, from: index))
    }

    @Test(arguments: [true, false])
    func `the members at each moment are those of a copy that was made at this moment`(isOrdered: Bool) {
        for seed in 0..<UInt64(200) {
            var (random, journal, members) = (SplitMix64(seed: seed), RecordJournal(), [ObjectID]())
            var copies: [(moment: Int, members: [ObjectID])] = []
            for _ in 0..<40 {
                if random.isTrue(1, outOf: 4) { copies.append((journal.beginRead(), members)) }
                change(&members, isOrdered: isOrdered, &journal, &random)
            }
            for copy in copies {
                let found = journal.members(Self.place, isOrdered: isOrdered, at: copy.moment, present: members)
                #expect(found == copy.members, "seed \(seed), moment \(copy.moment)")
            }
        }
    }

    @Test func `a change is tracked only for an object between those of records, and not in the first save`() {
        var journal = RecordJournal()
        #expect(!journal.isWatched(Self.id(2)))
        _ = journal.beginSave()
        for serial: UInt64 in [2, 5] { journal.watch(Self.id(serial)) }
        #expect(!journal.isWatched(Self.id(3)))
        journal.endSave()
        #expect(journal.isWatched(Self.id(3)) && !journal.isWatched(Self.id(6)))
    }
}
