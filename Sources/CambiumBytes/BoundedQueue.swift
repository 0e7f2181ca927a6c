/// A queue from one thread to another, with limits on the number and the weight of its elements.
///
/// Each element has a weight. It counts as in use from the call of `put` until the consumer calls `release(weight:)`.
public final class BoundedQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var weight = 0
        var isEnded = false
        var isClosed = false
        /// The number of threads that sleep or are about to sleep.
        var waiterCount = 0
    }

    private let countMax: Int
    private let weightMax: Int
    private let state = Guarded(State())
    /// A counter that every change of the state increments.
    private let turn = Futex(0)

    public init(countMax: Int, weightMax: Int = .max) {
        self.countMax = countMax
        self.weightMax = weightMax
    }

    // MARK: Producer

    /// Waits until fewer than `countMax` elements are in the queue and the weight in use is less than `weightMax`. Returns `false` if the
    /// queue is closed.
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

    /// Marks the end of the queue.
    public func end() { change { $0.isEnded = true } }

    // MARK: Consumer

    /// Waits for an element and leaves it in the queue. Returns `false` at the end of the queue.
    @discardableResult
    public func waitForElement() -> Bool {
        wait { state in state.elements.isEmpty ? (state.isEnded ? false : nil) : true }
    }

    /// Waits for the next element and removes it. Returns `nil` at the end of the queue.
    public func take() -> Element? {
        var element: Element?
        if waitForElement() { change { element = $0.elements.isEmpty ? nil : $0.elements.removeFirst() } }
        return element
    }

    public func release(weight: Int) { change { $0.weight -= weight } }

    /// Marks that the consumer takes no more elements, and drops the elements in the queue.
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

    /// Sleeps until `body` returns a value.
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
