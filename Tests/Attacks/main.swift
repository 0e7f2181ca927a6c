import Foundation

// Attacks the command line from outside: with corrupt files, concurrent commands, killed commands, and forged bytes with right checksums.
//
//     Attacks --cambium PATH [--only PREFIX] [--seed N] [--full] [--rounds N] [--work DIRECTORY]
//
// Prints one line for each matrix. Each finding has a name: `--only NAME` with the same seed repeats the attack. The work directory keeps
// the files of each finding. The exit code is 1 if there is a finding.

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
