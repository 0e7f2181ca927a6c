import CambiumGraph
public import CambiumModel

extension Store {
    /// Returns the transactions after `last` with their changes: first the existing transactions, and then each new transaction once
    /// readers see it.
    ///
    /// ```swift
    /// for try await committed in store.changes(from: last) {
    ///     for object in committed.changes { print(object.kind, object.id) }
    ///     last = committed.transaction
    /// }
    /// ```
    ///
    /// No transaction is buffered for a consumer. A consumer that lags receives the transactions that it has missed from a replay of the
    /// log. A consumer that requests nothing for a minute no longer holds graphs. If it later requests more, it continues after its last
    /// transaction.
    ///
    /// If the store is closed, the sequence ends after the last transaction. If the task is cancelled, the sequence throws
    /// `CancellationError`. The sequence throws `.notFound` if there is no transaction `last`, and `.corrupted` if the log to be replayed
    /// is corrupt. It throws `.expired` if the transactions after `last` were retired, or if another store has taken the place of this
    /// store. After `.expired`, read the newest graph, and continue after its transaction. After an error, the sequence ends.
    ///
    /// There is one exception: `.none` with `.coalesced` never needs retired transactions. The graph before the first transaction is empty,
    /// so the first difference is the whole newest graph.
    ///
    /// A store in memory has no log, and keeps transactions only while a sequence exists. So a sequence that begins at an earlier
    /// transaction, such as `.none`, can throw `.expired`. The same applies if a consumer lags by more than 4,096 transactions or 64 MiB of
    /// changes. It also applies if the consumer requests nothing for a minute, and a transaction is committed after that minute.
    ///
    /// Each iterator of the sequence begins at the same transaction. As long as a sequence or an iterator exists, the store stays open,
    /// unless the program closes it.
    ///
    /// A transaction is delivered once it is as durable as the store promises. After a crash, the last transactions of a `buffered` store
    /// may be missing, although they were delivered. See Docs/Use/OBSERVATION.md.
    ///
    /// Complexity of a delivery: that of `Graph.changes(since:)`; if transactions are replayed, also O(bytes of the replayed log).
    ///
    /// - Parameters:
    ///   - last: The last transaction that the consumer knows; `.none` to begin with the first transaction.
    ///   - delivery: Whether a slow consumer receives each transaction or one difference.
    public func changes(
        from last: TransactionNumber, _ delivery: ChangeDelivery = .every
    ) -> some AsyncSequence<CommittedChanges, any Error> & Sendable {
        begin(delivery, after: last, knowing: graph)
    }

    /// Returns the transactions that readers see after this call, with their changes. Otherwise does the same as `changes(from:_:)`.
    ///
    /// This call, and not `makeAsyncIterator()` or the first `next()`, determines where the sequence begins. So a program that calls this
    /// method before a write receives the transaction of the write, even if it asks for the first element later.
    ///
    /// ```swift
    /// var updates = store.changes().makeAsyncIterator()
    /// try store.save(&note)
    /// let committed = try await updates.next()
    /// ```
    public func changes(_ delivery: ChangeDelivery = .every) -> some AsyncSequence<CommittedChanges, any Error> & Sendable {
        begin(delivery, after: nil, knowing: nil)
    }

    /// - Parameter graph: A graph that readers have seen. If this graph is the graph after `last`, the first difference is computed from
    ///   this graph, without a replay.
    func changes(from last: TransactionNumber, _ delivery: ChangeDelivery, _ graph: Graph) -> ChangeSequence {
        begin(delivery, after: last, knowing: graph)
    }

    /// - Parameters:
    ///   - last: The last transaction that the consumer knows; `nil` for the newest one.
    ///   - known: A graph that readers have seen; `nil` for the newest one.
    private func begin(_ delivery: ChangeDelivery, after last: TransactionNumber?, knowing known: Graph?) -> ChangeSequence {
        let seat = ObserverSeat(self, delivery)
        // The store begins to keep versions for the observer before the graph is read. Otherwise, the store could lack the version of a
        // transaction that is committed after the graph was read. A store in memory cannot replay that transaction.
        if delivery == .every { seat.leave(ObserverSeat.Held()) }
        let graph = known ?? graph
        let last = last ?? graph.transaction
        // Keeps the graph for the observer, because a store in memory cannot replay the transactions between this call and the first
        // delivery.
        if delivery == .coalesced { seat.leave(ObserverSeat.Held(graph: graph.transaction == last ? graph : nil)) }
        return ChangeSequence(store: self, last: last, delivery: delivery, seat: seat)
    }
}

/// The transactions of a store with their changes, in order.
struct ChangeSequence: AsyncSequence, Sendable {
    let store: Store
    let last: TransactionNumber
    let delivery: ChangeDelivery
    let seat: ObserverSeat

    struct Iterator: AsyncIteratorProtocol {
        let observer: ChangeObserver

        /// Waits for the next delivery. Returns `nil` if the store was closed and everything was delivered. Throws as
        /// `Store.changes(from:_:)` describes.
        mutating func next() async throws -> CommittedChanges? { try await observer.next() }
    }

    func makeAsyncIterator() -> Iterator { Iterator(observer: ChangeObserver(self)) }
}
