package import CambiumModel

/// The touches of a range of transactions, in memory. A touch is a pair of an object and a transaction that changed it.
package struct TouchSet: Sendable {
    struct Touch: Sendable {
        let serial: UInt64
        let transaction: UInt64
        let root: UInt16

        static func precedes(_ left: Self, _ right: Self) -> Bool {
            if left.root != right.root { return left.root < right.root }
            if left.serial != right.serial { return left.serial < right.serial }
            return left.transaction < right.transaction
        }
    }

    /// Consecutive serials that one transaction changed.
    struct Run: Sendable {
        let root: UInt16
        let first: UInt64
        let last: UInt64
        let transaction: UInt64

        static func precedes(_ left: Self, _ right: Self) -> Bool {
            if left.root != right.root { return left.root < right.root }
            if left.first != right.first { return left.first < right.first }
            return left.transaction < right.transaction
        }
    }

    /// At least this number of consecutive serials that one transaction changed is a run.
    static let runCountMin = 8

    var touches: [Touch] = []
    var runs: [Run] = []
    /// The transactions that changed the schema, in ascending order.
    package private(set) var schemas: [TransactionNumber] = []
    /// The number of touches, including those in runs.
    package private(set) var touchCount = 0

    package init() {}

    /// The number of touches and runs, each of which takes 24 or 32 bytes of memory.
    package var entryCount: Int { touches.count + runs.count }

    package mutating func trackSchema(_ transaction: TransactionNumber) { schemas.append(transaction) }

    package mutating func track(_ id: ObjectID, _ transaction: TransactionNumber) {
        touches.append(Touch(serial: id.serial, transaction: transaction.rawValue, root: id.root.rawValue))
        touchCount += 1
    }

    /// Records the objects that a transaction changed, in ascending order.
    package mutating func track(_ ids: some Sequence<ObjectID>, _ transaction: TransactionNumber) {
        var run: (root: UInt16, first: UInt64, last: UInt64)?
        for id in ids {
            if let own = run, own.root == id.root.rawValue, own.last &+ 1 == id.serial {
                run?.last = id.serial
            } else {
                track(run, transaction)
                run = (id.root.rawValue, id.serial, id.serial)
            }
        }
        track(run, transaction)
    }

    private mutating func track(_ run: (root: UInt16, first: UInt64, last: UInt64)?, _ transaction: TransactionNumber) {
        guard let run else { return }
        let count = Int(clamping: run.last - run.first) + 1
        touchCount += count
        if count >= Self.runCountMin {
            runs.append(Run(root: run.root, first: run.first, last: run.last, transaction: transaction.rawValue))
        } else {
            for serial in run.first...run.last {
                touches.append(Touch(serial: serial, transaction: transaction.rawValue, root: run.root))
            }
        }
    }

    /// Returns the transactions that changed an object, in ascending order. Complexity: O(touches and runs of all objects).
    package func transactions(of id: ObjectID) -> [TransactionNumber] {
        var numbers: Set<UInt64> = []
        for touch in touches where touch.serial == id.serial && touch.root == id.root.rawValue { numbers.insert(touch.transaction) }
        for run in runs where run.root == id.root.rawValue && run.first <= id.serial && id.serial <= run.last {
            numbers.insert(run.transaction)
        }
        return numbers.sorted().map { TransactionNumber(rawValue: $0) }
    }

    /// Adds the touches of a part whose transactions precede those of this set.
    mutating func prepend(_ touches: [Touch], _ runs: [Run], of part: TouchPart) {
        self.touches += touches
        self.runs += runs
        schemas = part.schemas + schemas
        touchCount += part.touchCount
    }

    /// Sorts the touches by object, and then by transaction. If an object has several touches by one transaction, keeps one of them.
    mutating func sort() {
        touches.sort(by: Touch.precedes)
        runs.sort(by: Run.precedes)
        var end = 0
        for place in touches.indices {
            let touch = touches[place]
            if end > 0, !Touch.precedes(touches[end - 1], touch) { continue }
            touches[end] = touch
            end += 1
        }
        touchCount -= touches.count - end
        touches.removeSubrange(end...)
    }
}
