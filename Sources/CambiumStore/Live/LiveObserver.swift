import CambiumGraph
import CambiumModel

/// The state of one consumer of a live query: the last result, and the number of the query in the `LiveRegistry`.
final class LiveObserver {
    private let store: Store
    private let query: Query
    private let sections: SortKey?
    private var number: Int?
    private var result: LiveResult?
    private var isFinished = false

    init(_ sequence: LiveQuery) { (store, query, sections) = (sequence.store, sequence.query, sequence.sections) }

    deinit { leave() }

    func next() async throws -> LiveUpdate? {
        if isFinished { return nil }
        do {
            try Task.checkCancellation()
            if let update = try await update() { return update }
        } catch {
            leave()
            throw error
        }
        leave()
        return nil
    }

    private func leave() {
        isFinished = true
        result = nil
        if let number { store.liveQueries.remove(number) }
        number = nil
    }

    private func update() async throws -> LiveUpdate? {
        guard let number else { return try first() }
        while let news = try await store.liveQueries.news(number) {
            if let update = try advance(news, number) { return update }
        }
        return nil
    }

    /// Runs the query for the first time.
    private func first() throws -> LiveUpdate {
        let (number, graph) = store.liveQueries.add({ [store] in store.graph }, { store.pump(after: $0, number: $1) })
        self.number = number
        var first = try LiveResult(query, sections: sections, in: graph)
        let update = try first.whole(in: graph)
        store.liveQueries.set(first.keys, of: number)
        result = first
        return update
    }

    private func advance(_ news: LiveRegistry.News, _ number: Int) throws -> LiveUpdate? {
        // Moves the result out of the property. If the property kept the result, each change would first copy the result.
        guard var known = result else { return nil }
        result = nil
        let update = news.isWhole ? try known.reload(in: news.graph) : try known.advance(news.touched, to: news.graph)
        if update?.isWhole == true { store.liveQueries.set(known.keys, of: number) }
        result = known
        return update
    }
}

extension Store {
    /// Starts the task that reports the changes after a graph to the registry of live queries. The registry cancels the task when there are
    /// no live queries.
    func pump(after graph: Graph, number: Int) -> Task<Void, Never> {
        // Passes `graph` to `changes`, because the newest graph may already be a later one, and a store in memory cannot replay the changes
        // in between. Keeps only the iterator, because the sequence would keep its first graph alive.
        let iterator = changes(from: graph.transaction, .coalesced, graph).makeAsyncIterator()
        let registry = liveQueries
        // The task serves all live queries, so it gets neither the priority nor the task-local values of the task that began the first
        // query.
        return Task.detached {
            do {
                while let committed = try await iterator.observer.next(knowing: registry.newest) {
                    registry.track(TouchedObjects(committed.changes), committed.graph, from: number)
                }
                registry.end(nil, from: number)
            } catch {
                // If the registry has cancelled this task, this call has no effect: `number` is the number of an earlier task, or no live
                // query remains.
                registry.end(error, from: number)
            }
        }
    }
}
