/// A queue from one thread to another, with limits on the number of its elements and on their total weight.
///
/// The weight of an element is a number that the producer passes, such as its number of bytes. The weight counts toward the limit from the
/// call to `put` until the consumer calls `release(weight:)`.
public final class BoundedQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var weight = 0
        var isEnded = false
        var isClosed = false
        /// The number of threads that sleep, or have decided to sleep, until the queue changes.
        var waiterCount = 0
    }

    private let countMax: Int
    private let weightMax: Int
    private let state = Guarded(State())
    /// A counter that each change to the queue increments. Waiting threads sleep on the counter.
    private let turn = Futex(0)

    public init(countMax: Int, weightMax: Int = .max) {
        self.countMax = countMax
        self.weightMax = weightMax
    }

    // MARK: Producer

    /// Waits until the queue has fewer than `countMax` elements and the total weight is less than `weightMax`. Returns `false` if the
    /// consumer has closed the queue.
    public func waitForCapacity() -> Bool {
        wait { state in
            if state.isClosed { return false }
            return state.elements.count < countMax && state.weight < weightMax ? true : nil
        }
    }

    /// Adds an element, even if the queue is full.
    public func put(_ element: Element, weight: Int = 0) {
        change { state in
            state.weight += weight
            state.elements.append(element)
        }
    }

    /// States that the producer adds no more elements.
    public func end() { change { $0.isEnded = true } }

    // MARK: Consumer

    /// Waits for an element and leaves it in the queue. Returns `false` if the queue is empty and no more elements will be added.
    @discardableResult
    public func waitForElement() -> Bool {
        wait { state in state.elements.isEmpty ? (state.isEnded ? false : nil) : true }
    }

    /// Waits for the next element and removes it. Returns `nil` if the queue is empty and no more elements will be added.
    public func take() -> Element? {
        var element: Element?
        if waitForElement() { change { element = $0.elements.isEmpty ? nil : $0.elements.removeFirst() } }
        return element
    }

    public func release(weight: Int) { change { $0.weight -= weight } }

    /// States that the consumer takes no more elements. Drops the elements in the queue.
    public func close() {
        change { state in
            state.isClosed = true
            state.elements = []
        }
    }

    // MARK: Waiting

    private func change(_ body: (inout State) -> Void) {
        let hasWaiters = state.withLock { state in
            body(&state)
            turn.value = turn.value &+ 1
            return state.waiterCount > 0
        }
        if hasWaiters { turn.wakeAll() }
    }

    /// Sleeps until `body` returns a value other than `nil`, and returns this value.
    private func wait(until body: (inout State) -> Bool?) -> Bool {
        var isWaiting = false
        while true {
            let (result, seen) = state.withLock { state in
                let result = body(&state)
                if isWaiting { state.waiterCount -= 1 }
                isWaiting = result == nil
                if isWaiting { state.waiterCount += 1 }
                return (result, turn.value)
            }
            if let result { return result }
            turn.wait(while: seen)
        }
    }
}
