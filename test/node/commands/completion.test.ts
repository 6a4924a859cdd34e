// The completion scripts in the shells themselves: each shell sources its script and is asked what it offers.

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Shell, shells } from "../../../src/command-line/complete.ts";
import { dist, missingBuild } from "../../lab/plexus.ts";
import { command, missing } from "../../lab/requires.ts";

/** The words that a shell offers for a line whose cursor is at its end. */
type Ask = (line: string) => readonly string[];

const zshSetup = `PS1=
autoload -U compinit; compinit -u -D
source <(plexusctl completion zsh)
bindkey '^I' complete-word
zstyle ':completion:*' list-grouped false
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
  local -a found
  builtin compadd -A found "$@"
  (( $#found )) && print -rl -- "<"\${^found}">"
  builtin compadd "$@"
}
comppostfuncs=(exit)
print READ""Y
`;

describe.skipIf(missing("plexusctl's completion", () => missingBuild()))("plexusctl completion", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-completion-"));
    const program = join(directory, "plexusctl");
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${join(dist, "plexusctl.cjs")}' "$@"\n`);
    chmodSync(program, 0o755);
    mkdirSync(join(directory, "place"));
    writeFileSync(join(directory, "place.conflist"), "{}");
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  function run(program: string, args: readonly string[], script: string): readonly string[] {
    const environment = { PATH: `${directory}:${process.env["PATH"]}`, HOME: directory, TERM: "xterm" };
    const { stdout, stderr } = spawnSync(program, [...args, script], {
      cwd: directory,
      encoding: "utf8",
      env: environment,
      timeout: 120_000,
    });
    expect(stderr).toBe("");
    return stdout.split("\n").filter((line) => line !== "");
  }

  const asks: Readonly<Record<Shell, Ask>> = {
    bash: (line) => {
      // Bash itself splits the line: "=" is a word.
      const words = line.split(/(?<==)|(?==)| /).filter((word, index, all) => word !== "" || index === all.length - 1);
      const script = `eval "$(plexusctl completion bash)"
        COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
        _plexusctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return run("bash", ["--norc", "-c"], script).toSorted();
    },
    zsh: (line) => {
      // zsh completes in its editor only, so the shell gets a terminal. The shell prints each match in angle brackets, and ends.
      const setup = join(directory, "setup.zsh");
      writeFileSync(setup, zshSetup);
      const script = `zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell 'source ${setup}'
        zpty -r shell text '*READY*'
        zpty -w -n shell '${line}'$'\\t'
        text=; while zpty -r shell part; do text+=$part; done
        print -r -- "$text"`;
      const text = run("zsh", ["-f", "-c"], script).join("\n");
      // zsh itself adds a directory twice (for the patterns of files and of directories) and offers the match once: compstate[nmatches] is 1.
      return [...new Set([...text.matchAll(/<([^<>\r\n]+)>/g)].map(([, word]) => word ?? ""))].toSorted();
    },
    fish: (line) => {
      const found = run("fish", ["--no-config", "-c"], `plexusctl completion fish | source; complete -C '${line}'`);
      return found.map((each) => each.split("\t")[0] ?? "").toSorted();
    },
  };

  for (const shell of shells) {
    describe.skipIf(missing(`completion in ${shell}`, command(shell, "--version")))(`in ${shell}`, () => {
      const ask = asks[shell];

      test("E-21: commands, options and values are offered", () => {
        expect(ask("plexusctl at")).toEqual(["attachments"]);
        expect(ask("plexusctl component pu")).toEqual(["pull", "push"]);
        expect(ask("plexusctl uninstall --w")).toEqual(["--wait"]);
        expect(ask("plexusctl errors STORE_F")).toEqual(["STORE_FAILED"]);
        expect(ask("plexusctl -o json stat")).toEqual(["status"]);
        expect(ask("plexusctl status -o ").toSorted()).toEqual(["json", "name", "table", "wide", "yaml"]);
      });

      test("E-21: a value after = is offered", () => {
        expect(ask("plexusctl status --output=j").map((each) => each.replace("--output=", ""))).toEqual(["json"]);
      });

      test("E-21: files are the shell's own", () => {
        expect(
          ask("plexusctl explain pla")
            .map((each) => each.replace("/", ""))
            .toSorted(),
        ).toEqual(["place", "place.conflist"]);
        expect(ask("plexusctl install --home pla").map((each) => each.replace("/", ""))).toEqual(["place"]);
      });
    });
  }
});
