/// A line made of parts, of which the least important give way where a terminal is too narrow for all of them: each to a shorter form of its
/// own, or altogether. So nothing is cut in the middle.
package struct FittedLine: Sendable {
  private struct Part {
    let forms: [EscapedText]
    let importance: Int
  }

  private var parts: [Part] = []

  package init() {}

  /// Adds a part at the end.
  /// - Parameters:
  ///   - forms: from the longest to the shortest; an empty one leaves the part out.
  ///   - importance: the lower it is, the sooner the part gives way.
  package mutating func append(_ forms: EscapedText..., importance: Int) { append(forms, importance: importance) }

  package mutating func append(_ forms: [EscapedText], importance: Int) { parts.append(Part(forms: forms, importance: importance)) }

  /// The line, in at most so many columns as far as the parts' shortest forms allow.
  package func text(columns: Int) -> EscapedText {
    var chosen = [Int](repeating: 0, count: parts.count)
    for index in parts.indices.sorted(by: { parts[$0].importance < parts[$1].importance }) {
      while joined(chosen).columns > columns, chosen[index] + 1 < parts[index].forms.count { chosen[index] += 1 }
    }
    return joined(chosen)
  }

  private func joined(_ chosen: [Int]) -> EscapedText {
    let shown = zip(parts, chosen).map { $0.forms[$1] }.filter { !$0.text.isEmpty }
    return shown.dropFirst().reduce(shown.first ?? "") { $0 + EscapedText.spaces(2) + $1 }
  }

  /// A name, with shorter beginnings of it as shorter forms, and last nothing.
  package static func shortened(_ name: EscapedText) -> [EscapedText] {
    let shorter = [40, 24, 12].filter { $0 < name.columns }.map { name.prefix(columns: $0 - 3) + "..." }
    return [name] + shorter + [""]
  }

  /// `[####------] 40 %`, with narrower bars as shorter forms, and last the number alone.
  /// - Parameter widths: of the bars, the widest first.
  package static func bars(_ fraction: Double, widths: [Int]) -> [EscapedText] {
    let fraction = max(0, min(1, fraction))
    let number: EscapedText = "\(Int(fraction * 100)) %"
    return widths.map { width in
      let filled = Int(fraction * Double(width))
      return "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: width - filled))] \(number)"
    } + [number]
  }
}
