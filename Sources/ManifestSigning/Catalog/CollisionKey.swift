/// Two names with equal keys are, or may be, one name on a file system that ignores letter case or Unicode spelling.
///
/// The key folds case fully (ß like ss), and is compared as Swift compares strings, by canonical equivalence, so that composed and
/// decomposed spellings are equal; characters that a file system may ignore are left out. That is what APFS, HFS+ and ext4 with
/// `casefold` do; NTFS does less.
package struct CollisionKey: Hashable {
  private let text: String

  /// - Parameter name: any text; a path or one segment of it.
  package init(_ name: String) {
    // Most names, and a hundred times faster: ASCII has one mapping a letter, no accents and nothing that is ignored.
    guard !name.utf8.allSatisfy({ $0 < 0x80 }) else {
      text = name.lowercased()
      return
    }
    var folded = String.UnicodeScalarView()
    // A subscript iota folds to a letter. Canonical order has it after all other accents, and so must its letter stand.
    var waitingIotas = 0
    for scalar in name.unicodeScalars where !scalar.properties.isDefaultIgnorableCodePoint {
      if scalar.properties.canonicalCombiningClass == .notReordered {
        folded.append(contentsOf: repeatElement(Self.iota, count: waitingIotas))
        waitingIotas = 0
      }
      var letters = Array(Self.fold(scalar))
      if Self.endsInSubscriptIota(scalar), letters.last == Self.iota {
        letters.removeLast()
        waitingIotas += 1
      }
      folded.append(contentsOf: letters)
    }
    folded.append(contentsOf: repeatElement(Self.iota, count: waitingIotas))
    text = String(folded)
  }

  private static let iota: Unicode.Scalar = "\u{3B9}"

  private static func endsInSubscriptIota(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value == 0x345 || (0x1F80...0x1FFC).contains(scalar.value) && scalar.properties.uppercaseMapping.unicodeScalars.count > 1
  }

  /// Full case folding out of the mappings that the standard library has: to lower case first for letters such as the Kelvin sign
  /// and ẞ, then to upper case and back for those such as ſ and ς.
  private static func fold(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
    if scalar.isASCII { return String(scalar).lowercased().unicodeScalars }
    let lower = map(scalar.properties.lowercaseMapping) { $0.uppercaseMapping }
    return map(lower) { $0.lowercaseMapping }.unicodeScalars
  }

  private static func map(_ text: String, _ mapping: (Unicode.Scalar.Properties) -> String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { result.append(contentsOf: mapping(scalar.properties).unicodeScalars) }
    return String(result)
  }
}
