#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Command {
  /// Does what the process's command line asks, and ends the process with the exit code.
  /// - Parameter first: what has to be done before the command line is looked at, whatever it asks.
  package func main(first: () throws -> Void = {}) -> Never {
    SystemCalls.occupyClosedStandardDescriptors()
    SystemCalls.ignoreBrokenPipes()
    Interruption.install()
    do { try first() } catch {
      let output = Output(program: name)
      let failure = failure(of: error)
      output.show(failure)
      exit(output.finish(failure.code).rawValue)
    }
    do throws(UsageError) {
      exit(run(try SystemCalls.commandLineWords()).rawValue)
    } catch {
      let output = Output(program: name)
      output.show(error.failure(program: name, verb: nil))
      exit(output.finish(.usage).rawValue)
    }
  }

  /// Does what the words of a command line ask.
  /// - Parameters:
  ///   - words: Without the program's name.
  ///   - standardOutput: The descriptor for results.
  ///   - standardError: The descriptor for everything else.
  package func run(_ words: [String], standardOutput: CInt = 1, standardError: CInt = 2) -> ExitCode {
    // Looked for before the line is understood, so that a wrong line is answered in the wanted form too.
    let beforeEnd = words.prefix { $0 != "--" }
    let output = Output(
      program: name, json: beforeEnd.contains(Option.json.name), quiet: beforeEnd.contains(Option.quiet.name),
      standardOutput: standardOutput, standardError: standardError)
    var parser = CommandLineParser(self)
    let parsed = Result { () throws(UsageError) in try parser.parse(words) }
    if verbs.first(where: { $0.name == parser.verbName })?.hasEvents == true { output.expectEvents() }
    do throws(UsageError) {
      switch try parsed.get() {
      case .version:
        output.line("\(name) \(version)")
        output.report("name", .string(name))
        output.report("version", .string(version))
        return output.finish(.done)
      case .help(let topic):
        let help = HelpText(self, topic: topic)
        for line in help.lines { output.line(line.text, style: line.style) }
        output.report("help", .string(help.lines.map(\.text.text).joined(separator: "\n")))
        return output.finish(.done)
      case .run(let verb, let invocation):
        return output.finish(run(verb, invocation, output))
      }
    } catch {
      output.show(error.failure(program: name, verb: parser.verbName))
      return output.finish(.usage)
    }
  }

  private func run(_ verb: Verb, _ invocation: Invocation, _ output: Output) -> ExitCode {
    do {
      return try verb.run(invocation, output)
    } catch {
      let failure = failure(of: error)
      output.show(failure)
      return failure.code
    }
  }

  private func failure(of error: any Error) -> Failure {
    let interrupted = Failure(.interrupted, "interrupted", hint: "run the command again: it goes on from what is there")
    if error is Interrupted { return interrupted }
    if let failure = error as? Failure { return failure }
    if let error = error as? PromptError { return error.failure }
    let failure = explain(error)
    // A work that was cancelled fails in its own words, which are of no interest beside the reason.
    return failure.code == .failure && Interruption.isRequested ? interrupted : failure
  }
}
