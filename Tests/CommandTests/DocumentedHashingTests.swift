import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The examples of Documentation/large-catalogs.md, as they stand there but for the folders of a machine.
@Suite struct `The documented ways to hash where the data is` {
  /// A desk where the repository is, with a folder for each machine, which is its home.
  struct Desk {
    let folder: TemporaryFolder
    let page: String
    /// The shell commands of the section.
    let blocks: [[String]]

    init() throws {
      folder = try TemporaryFolder()
      let path = "Documentation/large-catalogs.md"
      page = try String(contentsOf: packageRoot.appending(path: path), encoding: .utf8)
      blocks = try #require(try DocumentedCommands(path).sections.first { $0.heading == "Hashing where the data is" }).blocks
      let key = try #require(blocks.first)
      for number in 1...2 {
        try folder.write("weights \(number)", to: "machine-\(number)/models/acme/tiny-\(number)/1.0/weights.bin")
        try run(["cd machine-\(number)"] + key.map { $0.replacing("machine-1", with: "machine-\(number)") })
      }
      try run(["manifest-sign init --no-passphrase", "cp machine-?/hasher/keys/machine-?.pem keys"])
      try folder.write(part(after: "```json\n", before: "```"), to: "keys/policy.json")
    }

    /// What stands between two marks of the page.
    func part(after beginning: String, before end: String) throws -> String {
      let rest = page.components(separatedBy: beginning).dropFirst().first
      return try #require(rest?.components(separatedBy: end).first)
    }

    func run(_ lines: [String], environment: [String: String] = [:]) throws {
      try require(0, try DocumentedCommands.run(lines, in: folder, environment: environment))
    }

    func block(of text: String) throws -> [String] {
      try #require(blocks.first { lines in lines.contains { $0.contains(text) } })
    }

    /// What is published, besides what describes it.
    var published: Set<String> {
      get throws {
        let newest = try FileManager.default.contentsOfDirectory(atPath: folder("manifests/metadata")).first {
          $0.hasSuffix("targets.json")
        }
        let signed = try json(of: folder("manifests/metadata/" + #require(newest)))["signed"] as? [String: Any]
        let paths = try #require(signed?["targets"] as? [String: Any]).keys
        return Set(paths.filter { !$0.hasSuffix(".json") })
      }
    }
  }

  /// Has `ssh` and `scp` reach an sshd of the tests' own, for which each machine's home is a folder of the desk. It needs neither a port nor root.
  static func layMachines(_ desk: Desk) throws {
    // What its service does, and what it insists on where it is root.
    if getuid() == 0 { try FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true) }
    let (folder, commands) = (desk.folder, URL(fileURLWithPath: try builtCommand("manifest-sign")).deletingLastPathComponent().path)
    for name in ["host", "user"] { _ = try runChild("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", folder(name)]).successful() }
    try folder.write(
      """
      HostKey \(folder("host"))
      AuthorizedKeysFile \(folder("user.pub"))
      StrictModes no
      UsePAM no
      PidFile none
      Subsystem sftp /usr/lib/openssh/sftp-server
      ForceCommand cd && PATH='\(commands)':$PATH exec sh -c "$SSH_ORIGINAL_COMMAND"

      """, to: "sshd_config")
    try folder.write(
      """
      Host machine-*
        ProxyCommand /usr/sbin/sshd -i -f '\(folder("sshd_config"))' -o SetEnv=HOME='\(folder.path)'/%n
        IdentityFile \(folder("user"))
        IdentitiesOnly yes
        BatchMode yes
        StrictHostKeyChecking no
        UserKnownHostsFile /dev/null
        LogLevel ERROR

      """, to: "ssh_config")
    for program in ["ssh", "scp"] {
      let text = "#!/bin/sh\nPATH=${PATH#*:}\nexec \(program) -F '\(folder("ssh_config"))' \"$@\"\n"
      try folder.write(Array(text.utf8), to: "bin/" + program, mode: 0o755)
    }
  }

  @Test func `with GNU parallel over ssh, one job a machine`() throws {
    let desk = try Desk()
    try Self.layMachines(desk)
    let lines = ["export PATH=$PWD/bin:$PATH"] + (try desk.block(of: "--sshlogin")).map { $0.replacing("/models", with: "models") }
    try desk.run(lines)
    #expect(try desk.published == ["acme/tiny-1/1.0/weights.bin", "acme/tiny-2/1.0/weights.bin"])
    // Of a machine that fails, what it made before is not published once more.
    try FileManager.default.removeItem(atPath: desk.folder("machine-2/models"))
    try desk.folder.write("new", to: "machine-1/models/acme/tiny-1/1.1/weights.bin")
    #expect(try DocumentedCommands.run(lines, in: desk.folder).status == 1)
    #expect(try desk.published.count == 2)
  }

  @Test func `with GNU parallel on one folder, each job a part of it`() throws {
    let desk = try Desk()
    for number in 0..<30 { try desk.folder.write("\(number)", to: "machine-1/models/acme/many/1.0/\(number).bin") }
    try desk.run(["cd machine-1"] + desk.block(of: "--part {}/4"))
    try desk.run([
      "manifest-sign publish $(printf -- '--fragment machine-1/part-%d.json ' 0 1 2 3)", "manifest-sign verify machine-1/models",
    ])
    #expect(try desk.published.count == 31)
  }

  @Test func `as an indexed Job of Kubernetes, one pod after another`() throws {
    let desk = try Desk()
    for number in 0..<30 { try desk.folder.write("\(number)", to: "machine-1/models/acme/many/1.0/\(number).bin") }
    // As Kubernetes lays a secret there.
    try desk.run(["mkdir -p key/..data out", "cp machine-1/hasher/secrets/machine-1.key key/..data", "chmod 644 key/..data/*"])
    try desk.run(["ln -s ..data/machine-1.key key/machine-1.key"])
    let job = Array(try desk.part(after: "```yaml\n", before: "```").utf8)
    let read = """
      import json, sys, yaml
      job = yaml.safe_load(sys.stdin)
      pod = job["spec"]["template"]["spec"]
      [container] = pod["containers"]
      assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
      assert all(mount["mountPath"] in container["command"][-1] for mount in container["volumeMounts"])
      json.dump({"pods": job["spec"]["completions"], "command": container["command"]}, sys.stdout)
      """
    let known = try json(try runChild(peerPython(), ["-c", read], input: job).successful().text)
    let (pods, command) = (try #require(known["pods"] as? Int), try #require(known["command"] as? [String]))
    try #require(command.count == 3 && command.starts(with: ["sh", "-ec"]))
    let script = command[2].replacing("/run/", with: "pod/").replacing("/key/", with: "key/").replacing("/out/", with: "out/")
      .replacing("/models", with: "machine-1/models")
    for index in 0..<pods {
      let environment = ["JOB_COMPLETION_INDEX": "\(index)", "SCRIPT": script]
      try desk.run(["mkdir pod", "sh -ec \"$SCRIPT\"", "rm -r pod"], environment: environment)
    }
    try desk.run([
      "manifest-sign publish " + desk.part(after: "Then publish with `", before: "`."), "manifest-sign verify machine-1/models",
    ])
    #expect(try desk.published.count == 31)
  }
}
