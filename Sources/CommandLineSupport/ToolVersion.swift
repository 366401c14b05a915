/// The version of this software, the same for all commands.
package enum ToolVersion {
  package static let current = "0.1.0"
}
