public import CambiumGraph
public import CambiumModel

extension Store {
    /// Returns the result of a query, and then the exact differences of the result after each transaction that concerns the query.
    ///
    /// ```swift
    /// let query = try Query("Note", where: "rating > 3", sort: "title", limit: 50)
    /// for try await update in store.live(query) {
    ///     update.apply(to: &ids)
    /// }
    /// ```
    ///
    /// A transaction concerns a query if it inserts, deletes or changes an object of the query's entity. If the condition or a sort key
    /// reads a property of other objects, a transaction that changes this property also concerns the query. All other transactions cost the
    /// query nothing. A consumer that is slower than the writers receives one update for several transactions. The store keeps only a
    /// limited number of changes for a consumer that stops reading.
    ///
    /// The sequence ends after the last update if the store is closed. If the task is cancelled, the sequence throws `CancellationError`.
    /// The first update throws as `Graph.find(_:)` does. It also throws `.invalidInput` for a query with a cursor. If a change to the
    /// schema removes a name in the query, the sequence throws `.unknownName` or `.invalidInput`. After an error, the sequence ends. See
    /// Docs/Use/LIVE.md.
    ///
    /// Each iterator of the sequence begins with the whole result. As long as a sequence or an iterator exists, the store stays open,
    /// unless the program closes it.
    ///
    /// Complexity of an update: O(d log n + n) for a result of n objects, and d objects whose position in the result may differ. The
    /// complexity is at most that of the query.
    ///
    /// - Parameters:
    ///   - query: The query, without a cursor.
    ///   - sections: A key by which the result is sorted first, and by which it is divided into sections; `nil` for no sections. The key
    ///     must have no folding, because objects with different texts belong to different sections.
    public func live(_ query: Query, sections: SortKey? = nil) -> some AsyncSequence<LiveUpdate, any Error> & Sendable {
        LiveQuery(store: self, query: query, sections: sections)
    }
}

/// The results of a query, from transaction to transaction.
package struct LiveQuery: AsyncSequence, Sendable {
    package let store: Store
    package let query: Query
    package let sections: SortKey?

    package init(store: Store, query: Query, sections: SortKey?) {
        (self.store, self.query, self.sections) = (store, query, sections)
    }

    package struct Iterator: AsyncIteratorProtocol {
        let observer: LiveObserver

        /// Waits for the next update. Returns `nil` if the store was closed and everything was delivered. Throws as
        /// `Store.live(_:sections:)` describes.
        package mutating func next() async throws -> LiveUpdate? { try await observer.next() }
    }

    package func makeAsyncIterator() -> Iterator { Iterator(observer: LiveObserver(self)) }
}
