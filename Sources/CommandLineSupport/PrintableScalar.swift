extension Unicode.Scalar {
  /// Whether the character shows itself, takes its place in the line, and does nothing else.
  var isPrintable: Bool {
    if isASCII { return value >= 0x20 && value != 0x7F }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .privateUse, .unassigned, .surrogate:
      return false
    default:
      // Fillers, variation selectors and joiners are letters or marks by category, and invisible all the same.
      return !properties.isDefaultIgnorableCodePoint && value != 0x2800
    }
  }

  /// The columns that a printable character takes: 0 for a combining mark, 2 for a wide East Asian character or an emoji, else 1.
  var columns: Int {
    if isASCII { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    default: break
    }
    switch value {
    case 0x1100...0x115F, 0x231A...0x231B, 0x23E9...0x23EC, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
      0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
      0x16FE0...0x1B2FF, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default:
      return properties.isEmojiPresentation ? 2 : 1
    }
  }
}
