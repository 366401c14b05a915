import CommandLineSupport
import Foundation
import Synchronization
import Testing

/// A command to test with, run inside the test's process with files for its outputs.
enum Sample {
  struct Run {
    let code: ExitCode
    let output: String
    let error: String
    let invocation: Invocation?
  }

  /// Runs the sample's verb, or another body in its place, and gathers what it printed.
  static func run(_ words: [String], _ body: Verb.Run? = nil) throws -> Run {
    let caught = Mutex<Invocation?>(nil)
    let output = try Scratch()
    let error = try Scratch()
    let command = command { invocation, output in
      caught.withLock { $0 = invocation }
      return try body?(invocation, output) ?? .done
    }
    let code = command.run(words, standardOutput: output.descriptor, standardError: error.descriptor)
    return Run(code: code, output: try output.text(), error: try error.text(), invocation: caught.withLock { $0 })
  }

  static func command(_ body: @escaping Verb.Run) -> Command {
    Command(
      name: "sample", version: "4.5.6", summary: "Try things out.",
      verbs: [
        Verb(
          "publish", "Sign what has changed.",
          arguments: [Argument("DIR", "The folder with the models.", .optional)],
          options: [
            .repeated("--key", "FILE", "A secret key to sign with.", required: true),
            .integer("--threshold", "N", "How many signatures are needed.", in: 1...16, default: 1),
            .flag("--stage", "Copy the files too."),
            .value("--format", "FORMAT", "What the files must be.", kind: .choice(["gguf", "safetensors"])),
          ],
          discussion: ["Scans the folder, hashes every file and signs the result. Nothing becomes visible before all of it is there."],
          exitCodes: [.disk, .malformed],
          examples: [.init("sample publish --key k.pem models", "Sign the folder models.")], run: body),
        Verb(
          "check", "Check files.", arguments: [Argument("PATH", "What to check.", .oneOrMore)],
          options: [
            .flag("--all", "Everything."), .flag("--fresh", "Only what is fresh."),
            .integer("--offset", "N", "Where to begin.", in: -10...10),
          ], conflicts: [["--all", "--fresh"]], run: body),
        Verb("key generate", "Make a key.", arguments: [Argument("NAME", "Its name.")], run: body),
        Verb("key list", "List the keys.", run: body),
      ], explain: { Failure(.failure, "explained: \($0)") })
  }

  static let publishHelp = """
    sample publish — Sign what has changed.

    Usage:
      sample publish --key FILE [options] [DIR]

    Scans the folder, hashes every file and signs the result. Nothing becomes
    visible before all of it is there.

    Arguments:
      [DIR]  The folder with the models.

    Options:
      --key FILE       A secret key to sign with. (may be repeated)
      --threshold N    How many signatures are needed. (1 to 16; default: 1)
      --stage          Copy the files too.
      --format FORMAT  What the files must be. (gguf, safetensors)
      --json           Print the result as one JSON object.
      --quiet          No progress and no notes: only results, warnings and errors.
      -h, --help       Print this help.
      --version        Print the version.

    Exit codes:
      0    done, or nothing to do
      1    another failure
      2    the command line is wrong
      14   the disk failed, is full, or refuses access
      16   input is malformed, or the kept state damaged
      130  interrupted

    Examples:
      sample publish --key k.pem models
          Sign the folder models.

    """

  static let help = """
    sample — Try things out.

    Usage:
      sample VERB [options] [arguments]

    Verbs:
      publish       Sign what has changed.
      check         Check files.
      key generate  Make a key.
      key list      List the keys.

    Options of every verb:
      --json      Print the result as one JSON object.
      --quiet     No progress and no notes: only results, warnings and errors.
      -h, --help  Print this help.
      --version   Print the version.

    More:
      sample help VERB  What a verb does, its options, exit codes and examples.

    Exit codes:
      0    done, or nothing to do
      1    another failure
      2    the command line is wrong
      10   a signature is invalid, or too few are valid
      11   metadata has expired, or is older than what was trusted
      12   a file does not have its signed length or digest
      13   the network failed
      14   the disk failed, is full, or refuses access
      15   another process holds the lock
      16   input is malformed, or the kept state damaged
      17   a key or passphrase is missing or unusable
      18   nothing here for this device or its runtime
      19   the check ran to its end and found something
      130  interrupted

    """
}

/// A temporary file without a name that lasts.
final class Scratch {
  let descriptor: CInt
  private let path = FileManager.default.temporaryDirectory.appendingPathComponent("scratch-\(UUID().uuidString)").path

  init() throws {
    // The path's bytes live through the call.
    descriptor = unsafe path.withCString { unsafe open($0, O_RDWR | O_CREAT | O_EXCL, 0o600) }
    try #require(descriptor >= 0)
  }

  func text() throws -> String {
    let data = try #require(FileManager.default.contents(atPath: path))
    return String(decoding: data, as: UTF8.self)
  }

  deinit {
    close(descriptor)
    try? FileManager.default.removeItem(atPath: path)
  }
}
