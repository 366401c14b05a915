import Foundation
import Testing

@Suite("A process behaves on terminals, pipes, full disks and signals")
struct ProcessTests {
  /// Runs the probe as a script says, and returns what the script printed as JSON.
  private func run(_ script: String) throws -> [String: Any] {
    let text = try Peer.python(Self.prelude + script, [try Peer.probe()])
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test func aFullDiskIsAnErrorAndNotSilent() throws {
    for words in ["'lines'", "'lines', '--count', '100000'", "'lines', '--json'", "'--version'", "'--help'"] {
      let result = try run(
        "p = subprocess.run([probe, \(words)], stdout=open('/dev/full', 'w'), stderr=subprocess.PIPE)\nshow(p.returncode, b'', p.stderr)")
      #expect(result["code"] as? Int == 14)
      #expect((result["error"] as? String)?.contains("No space left on device") == true)
    }
  }

  @Test func aReaderThatWentAwayIsAnErrorAndNoSignal() throws {
    let result = try run(
      """
      r, w = os.pipe(); os.close(r)
      p = subprocess.run([probe, 'lines', '--count', '100000'], stdout=w, stderr=subprocess.PIPE)
      show(p.returncode, b'', p.stderr)
      """)
    #expect(result["code"] as? Int == 14)
    #expect((result["error"] as? String)?.contains("Broken pipe") == true)
  }

  @Test func aClosedStandardOutputIsAnError() throws {
    let result = try run(
      "p = subprocess.run(['sh', '-c', 'exec \"$0\" lines >&-', probe], stderr=subprocess.PIPE)\nshow(p.returncode, b'', p.stderr)")
    #expect(result["code"] as? Int == 14)
  }

  @Test func aFailureKeepsItsCodeOnAFullDisk() throws {
    let result = try run("p = subprocess.run([probe, 'fail'], stdout=open('/dev/full', 'w'), stderr=subprocess.PIPE)\nshow(p.returncode)")
    #expect(result["code"] as? Int == 10)
  }

  @Test func anArgumentThatIsNotUTF8IsRefused() throws {
    let result = try run(
      "p = subprocess.run([probe, 'fail', b'--text=\\xff'], capture_output=True)\nshow(p.returncode, p.stdout, p.stderr)")
    #expect(result["code"] as? Int == 2)
    #expect((result["error"] as? String)?.contains("argument 2 is not UTF-8") == true)
  }

  @Test func progressIsDrawnOnATerminalOnly() throws {
    let piped = try run("p = subprocess.run([probe, 'work'], capture_output=True)\nshow(p.returncode, p.stdout, p.stderr)")
    #expect(piped["output"] as? String == "finished\n")
    #expect(piped["error"] as? String == "half-time note\n")
    let drawn = try run("show(*terminal(['work']))")
    let text = try #require(drawn["output"] as? String)
    #expect(drawn["code"] as? Int == 0)
    #expect(text.contains("\r\u{1B}[KHashing [") && text.contains(" of 40 MB") && text.contains("\\u{1B}[31m.gguf"))
    #expect(text.contains("half-time note\r\n"))
    #expect(text.hasSuffix("\r\u{1B}[K\u{1B}[32mfinished\u{1B}[0m\r\n"))
    // About half a second of work at ten updates a second.
    #expect((2...12).contains(text.components(separatedBy: "Hashing [").count - 1))
  }

  @Test("a bar never takes more than its line", arguments: [20, 40, 80])
  func aBarStaysInItsLine(columns: Int) throws {
    let text = try #require(try run("show(*terminal(['work'], columns=\(columns)))")["output"] as? String)
    let bars = text.components(separatedBy: "\r\u{1B}[K").filter { $0.hasPrefix("Hashing") && !$0.contains("\n") }
    #expect(!bars.isEmpty)
    for bar in bars { #expect(bar.count < columns) }
  }

  @Test("no bar where none is wanted", arguments: ["['work', '--quiet']", "['work', '--json']", "['work'], {'TERM': 'dumb'}"])
  func noBarWhereNoneIsWanted(arguments: String) throws {
    let text = try #require(try run("show(*terminal(\(arguments)))")["output"] as? String)
    #expect(!text.contains("Hashing") && !text.contains("\u{1B}[K"))
  }

  @Test func noColorIsHonoured() throws {
    let text = try #require(try run("show(*terminal(['fail'], {'NO_COLOR': '1'}))")["output"] as? String)
    #expect(!text.contains("\u{1B}[") && text.contains("probe: error: text bad"))
    #expect(try #require(try run("show(*terminal(['fail']))")["output"] as? String).contains("\u{1B}[31mprobe: error: "))
  }

  @Test func noArgumentActsOnTheTerminal() throws {
    let text = try #require(try run("show(*terminal(['fail', '--text', 'x\\x1b[2J\\u202e'], {'NO_COLOR': '1'}))")["output"] as? String)
    #expect(text.contains("text x\\u{1B}[2J\\u{202E}"))
  }

  @Test("SIGINT and SIGTERM end with 130", arguments: ["SIGINT", "SIGTERM"])
  func interruption(signal: String) throws {
    let result = try run(
      """
      p = subprocess.Popen([probe, 'wait'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
      p.stderr.readline(); p.send_signal(signal.\(signal)); out, err = p.communicate(timeout=10)
      show(p.returncode, out, err)
      """)
    #expect(result["code"] as? Int == 130)
    #expect((result["error"] as? String)?.contains("probe: error: interrupted") == true)
  }

  @Test func aSecondSignalEndsAtOnce() throws {
    let result = try run(
      """
      p = subprocess.Popen([probe, 'wait', '--stubborn'], stderr=subprocess.PIPE)
      p.stderr.readline(); p.send_signal(signal.SIGINT); time.sleep(0.2); first = p.poll()
      p.send_signal(signal.SIGTERM); p.communicate(timeout=5)
      assert first is None
      show(p.returncode)
      """)
    #expect(result["code"] as? Int == -15)
  }

  @Test func anIgnoredSignalStaysIgnored() throws {
    let result = try run(
      """
      p = subprocess.Popen([probe, 'wait'], stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
      p.stderr.readline(); p.send_signal(signal.SIGINT); time.sleep(0.3); alive = p.poll() is None
      p.send_signal(signal.SIGTERM); p.communicate(timeout=5)
      show(p.returncode if alive else -1)
      """)
    #expect(result["code"] as? Int == 130)
  }

  @Test func aSecretIsReadWithoutEcho() throws {
    let result = try run("show(*terminal(['secret'], answer=b'hunter2\\n', prompt=b'Passphrase: '))")
    #expect(result["output"] as? String == "Passphrase: \r\nsum \("hunter2".utf8.reduce(0) { $0 + Int($1) }) of 7\r\n")
    #expect(result["echo"] as? Bool == true)
    #expect(result["hidden"] as? Bool == true)
  }

  @Test(
    "a secret has a length and an end",
    arguments: [
      ("seventeen letters", 2, "the answer is too long"), ("\u{4}", 2, "no answer was given"), ("\u{3}", 130, "interrupted"),
    ])
  func secretsThatFail(answer: String, code: Int, says: String) throws {
    let line = answer.utf8.count > 1 ? answer + "\\n" : "\\x0\(answer.utf8.first ?? 0)"
    let result = try run("show(*terminal(['secret'], answer=b'\(line)', prompt=b'Passphrase: '))")
    #expect(result["code"] as? Int == code)
    #expect((result["output"] as? String)?.contains(says) == true)
    #expect((result["output"] as? String)?.contains("seventeen") == false)
    #expect(result["echo"] as? Bool == true)
  }

  @Test func anEmptySecretIsAnAnswer() throws {
    #expect(
      try run("show(*terminal(['secret'], answer=b'\\n', prompt=b'Passphrase: '))")["output"] as? String == "Passphrase: \r\nsum 0 of 0\r\n"
    )
  }

  @Test("only yes agrees", arguments: [("y", "agreed"), ("YES", "agreed"), ("", "declined"), ("n", "declined"), ("yesterday", "declined")])
  func confirmation(answer: String, outcome: String) throws {
    let result = try run("show(*terminal(['confirm'], answer=b'\(answer)\\n', prompt=b'[y/N] '))")
    #expect((result["output"] as? String)?.hasSuffix("\(outcome)\r\n") == true)
  }

  @Test("nothing is asked without a terminal", arguments: [("secret", "--passphrase-file"), ("confirm", "--yes")])
  func noTerminal(verb: String, option: String) throws {
    let result = try run(
      "p = subprocess.run([probe, '\(verb)'], capture_output=True, start_new_session=True)\nshow(p.returncode, p.stdout, p.stderr)")
    #expect(result["code"] as? Int == 2)
    #expect((result["error"] as? String)?.contains("use \(option)\n") == true)
  }

  /// Python: `show` prints a result; `terminal` runs the probe as the leader of a new session on a terminal of its own, waits for the prompt,
  /// answers, and looks whether echo was off while the question stood and is on again at the end.
  private static let prelude = """
    import fcntl, json, os, pty, select, signal, subprocess, sys, termios, time
    probe = sys.argv[1]
    # Whoever runs the tests may have blocked or ignored signals, and children inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_DFL)
    def show(code, output=b'', error=b'', echo=None, hidden=None):
        print(json.dumps(dict(code=code, output=output.decode('utf-8'), error=error.decode('utf-8'), echo=echo, hidden=hidden)))
    def echoes(fd):
        return bool(termios.tcgetattr(fd)[3] & termios.ECHO)
    def terminal(words, environment={}, answer=None, prompt=None, columns=120):
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, columns))
        env = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'TERM')}
        env.update({'TERM': 'xterm'}, **environment)
        pid = os.fork()
        if pid == 0:
            os.close(master); os.setsid(); fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in range(3): os.dup2(slave, fd)
            os.execve(probe, [probe] + words, env)
        output, hidden, sent = b'', None, answer is None
        code = None
        deadline = time.time() + 20
        while time.time() < deadline:
            if select.select([master], [], [], 0.05)[0]:
                output += os.read(master, 65536)
                if not sent and prompt in output:
                    hidden, sent = not echoes(slave), True
                    os.write(master, answer)
                continue
            if code is None:
                done, status = os.waitpid(pid, os.WNOHANG)
                if done: code = os.waitstatus_to_exitcode(status)
            else:
                break
        else:
            os.kill(pid, signal.SIGKILL)
            raise Exception('no end: %r' % output)
        return code, output, b'', echoes(slave), hidden

    """
}
