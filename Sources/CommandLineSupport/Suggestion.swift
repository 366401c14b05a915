/// The candidate that a mistyped word most likely means: at most a third of its letters away, else none.
func nearest(to word: String, among candidates: [String]) -> String? {
  let letters = Array(word.utf8)
  let ranked = candidates.compactMap { candidate -> (distance: Int, candidate: String)? in
    let other = Array(candidate.utf8)
    let limit = max(1, other.count / 3)
    guard abs(other.count - letters.count) <= limit else { return nil }
    let distance = editDistance(letters, other)
    return distance <= limit ? (distance, candidate) : nil
  }
  return ranked.min { $0.distance < $1.distance }?.candidate
}

/// The least number of letters to insert, delete, replace or swap with their neighbour.
private func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
  var beforePrevious: [Int] = []
  var previous = Array(0...second.count)
  for row in first.indices {
    var current = [row + 1]
    for column in second.indices {
      let isSame = first[row] == second[column]
      var best = min(previous[column] + (isSame ? 0 : 1), previous[column + 1] + 1, current[column] + 1)
      if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
        best = min(best, beforePrevious[column - 1] + 1)
      }
      current.append(best)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[second.count]
}
