import Digests
import Synchronization
import Testing

@Suite struct `Work that is shared out among cores` {
  @Test(arguments: [0, 1, 63, 64, 127, 128, 1000, 100_003], [1, 2, 3, 64])
  func `gives one result for each element, in their order`(count: Int, jobs: Int) {
    let calls = Mutex(0)
    let results = Cores.map(Array(0..<count), jobs: jobs) { element in
      calls.withLock { $0 += 1 }
      return 3 * element
    }
    #expect(results == (0..<count).map { 3 * $0 })
    #expect(calls.withLock { $0 } == count)
  }

  @Test(arguments: [0, 1, 1 << 20, Int.max])
  func `gives what both pieces give, each done once`(byteCount: Int) {
    let calls = Mutex<[String]>([])
    @Sendable func note(_ name: String) { calls.withLock { $0.append(name) } }
    let (first, second) = Cores.both(
      over: byteCount,
      {
        note("first")
        return 1
      },
      {
        note("second")
        return "2"
      })
    #expect(first == 1 && second == "2")
    #expect(calls.withLock { $0.sorted() } == ["first", "second"])
  }
}

@Suite struct `Work beside other work` {
  @Test func `gives its result, and has ended before its value is gone, asked or not`() {
    let ended = Mutex(0)
    @Sendable func work() -> Int {
      var sum = 0
      for number in 0..<1_000_000 { sum &+= number }
      ended.withLock { $0 += 1 }
      return sum
    }
    for round in 1...20 {
      do {
        let side = SideWork(work)
        if round.isMultiple(of: 2) { #expect(side.value == 499_999_500_000) }
      }
      #expect(ended.withLock { $0 } == round)
    }
  }
}
