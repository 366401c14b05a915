import CommandLineSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A command with one verb for each thing that only shows in a process of its own: terminals, signals, broken outputs.
@main
struct Probe {
  static func main() {
    Command(
      name: "probe", version: "1.2.3", summary: "Show what only a process can show.",
      verbs: [
        Verb("lines", "Print many lines.", options: [.integer("--count", "N", "How many.", in: 0...1_000_000, default: 10)]) {
          for number in 0..<$0.requiredInteger("--count") { $1.line("line \(number)") }
          $1.report("count", .count($0.requiredInteger("--count")))
          return .done
        },
        Verb("work", "Show progress.") { _, output in
          let progress = output.progress("Hashing", bytes: 40_000_000, files: 4)
          progress.begin("a\u{1B}[31m.gguf")
          for _ in 0..<40 {
            progress.advance(bytes: 1_000_000)
            usleep(10_000)
          }
          output.note("half-time note")
          usleep(120_000)
          progress.advance(bytes: 0, files: 4)
          progress.finish()
          output.line("finished", style: .good)
          return .done
        },
        Verb("wait", "Wait to be interrupted.", options: [.flag("--stubborn", "Do not look.")]) { invocation, output in
          output.note("waiting")
          for _ in 0..<1000 {
            if !invocation.flag("--stubborn") { try Interruption.check() }
            usleep(10_000)
          }
          return .failure
        },
        Verb("secret", "Ask for a secret.", options: [.integer("--limit", "N", "Room for it.", in: 0...100, default: 16)]) {
          var room = [UInt8](repeating: 0, count: $0.requiredInteger("--limit"))
          var count = 0
          var failure: PromptError?
          // The pointer is used within the closure only.
          unsafe room.withUnsafeMutableBytes { buffer in
            do throws(PromptError) {
              // As above.
              count = try unsafe Prompt.secret("Passphrase", into: buffer, insteadOf: "--passphrase-file")
            } catch {
              failure = error
            }
          }
          if let failure { throw failure }
          $1.line("sum \(room.prefix(count).reduce(0) { $0 + Int($1) }) of \(count)")
          return .done
        },
        Verb("confirm", "Ask whether to go on.") { _, output in
          output.line(try Prompt.confirm("Replace 1.root.json?", insteadOf: "--yes") ? "agreed" : "declined")
          return .done
        },
        Verb("fail", "Fail.", options: [.value("--text", "TEXT", "What to say.", default: "bad")]) { invocation, output in
          output.line("before")
          output.report("before", true)
          throw Failure(
            .signature, "text \(invocation.required("--text"))", expected: "2 keys", found: "1 key", at: "targets.json", hint: "sign again")
        },
      ], explain: { Failure(.failure, "\($0)") }
    ).main()
  }
}
