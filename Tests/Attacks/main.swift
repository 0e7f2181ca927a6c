import Foundation

// Attacks the command line from outside: corrupt files, commands side by side, killed commands, forged bytes with right checksums.
//
//     Attacks --cambium PATH [--only PREFIX] [--seed N] [--full] [--rounds N] [--work DIRECTORY]
//
// Prints one line for each matrix. Each finding has a name; `--only NAME` with the same seed runs the same attack again. The directory of
// a finding stays in the work directory. The exit code is 1 after a finding.

do {
    let options = try AttackOptions(Array(CommandLine.arguments.dropFirst()))
    let attack = try Attack(options)
    attack.say("attacks: seed \(options.seed), \(options.cambium)")
    for matrix in AttackMatrix.all where attack.isWanted(matrix: matrix.name) {
        try matrix.run(attack)
        attack.say(attack.summary(of: matrix.name))
    }
    let findingCount = attack.findingCount
    if findingCount == 0 { try attack.removeWork() }
    exit(findingCount == 0 ? 0 : 1)
} catch {
    print("attacks: \(error)")
    exit(64)
}
