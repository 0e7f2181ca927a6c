/// What one thread hands to another, so much of it at a time that neither waits long nor memory grows.
///
/// Each element has a weight, which counts from `put` until it is given back.
public final class BoundedQueue<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var weight = 0
        var isEnded = false
        var isClosed = false
        /// How many threads sleep, or are about to.
        var waiterCount = 0
    }

    private let countMax: Int
    private let weightMax: Int
    private let state = Guarded(State())
    /// Goes on with every change of the state.
    private let turn = WaitWord(0)

    public init(countMax: Int, weightMax: Int = .max) {
        self.countMax = countMax
        self.weightMax = weightMax
    }

    // MARK: Who puts

    /// Waits until fewer elements wait than the most, and less weight is under way. Returns false where nobody takes any more.
    public func waitForRoom() -> Bool {
        wait { state in
            if state.isClosed { return false }
            return state.elements.count < countMax && state.weight < weightMax ? true : nil
        }
    }

    /// Adds an element, whether there is room or not.
    public func put(_ element: Element, weight: Int = 0) {
        change { state in
            state.weight += weight
            state.elements.append(element)
        }
    }

    /// Says that nothing follows.
    public func end() { change { $0.isEnded = true } }

    // MARK: Who takes

    /// Waits for an element, and leaves it there. Returns false where nothing follows.
    @discardableResult
    public func waitForElement() -> Bool {
        wait { state in state.elements.isEmpty ? (state.isEnded ? false : nil) : true }
    }

    /// Waits for the next element; nil where nothing follows.
    public func take() -> Element? {
        var element: Element?
        if waitForElement() { change { element = $0.elements.isEmpty ? nil : $0.elements.removeFirst() } }
        return element
    }

    public func giveBack(weight: Int) { change { $0.weight -= weight } }

    /// Says that nothing is taken any more; what waits is let go.
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

    /// Sleeps until `body` returns something.
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
