/// Rows of cells in aligned columns.
package struct Table: Sendable {
  /// How the cells of a column stand.
  package enum Alignment: Sendable {
    case left, right
  }

  private let alignments: [Alignment]
  private var rows: [[EscapedText]] = []
  let hasHeader: Bool

  /// A table with a header row.
  package init(_ columns: [(title: EscapedText, alignment: Alignment)]) {
    alignments = columns.map(\.alignment)
    rows = [columns.map(\.title)]
    hasHeader = true
  }

  /// A table without a header row.
  package init(_ alignments: [Alignment]) {
    self.alignments = alignments
    hasHeader = false
  }

  package mutating func append(_ row: [EscapedText]) { rows.append(row) }

  /// The rows as lines, two spaces between the columns and none at the end.
  package var lines: [EscapedText] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in rows.reduce(0) { max($0, column < $1.count ? $1[column].columns : 0) } }
    return rows.map { row in
      var line: EscapedText = ""
      for (column, cell) in row.enumerated() {
        let padding = EscapedText.spaces(widths[column] - cell.columns)
        let isRight = column < alignments.count && alignments[column] == .right
        if column > 0 { line = line + EscapedText.spaces(2) }
        if isRight {
          line = line + padding + cell
        } else {
          line = line + cell + (column == row.count - 1 ? "" : padding)
        }
      }
      return line
    }
  }
}
