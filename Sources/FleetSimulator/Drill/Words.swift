/// Numbers in the sentences of a report.
enum Words {
  static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  /// Whole days, or hours where there are fewer than two.
  static func duration(_ seconds: Int64) -> String {
    let days = seconds / 86_400
    if days >= 2 || days <= -2 { return "\(days) days" }
    let hours = seconds / 3600
    return hours == 1 ? "1 hour" : "\(hours) hours"
  }
}
