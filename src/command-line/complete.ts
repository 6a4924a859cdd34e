// The words that a shell offers at the cursor, and the scripts that ask for them.

import { type CommandSpec, type Completion, type OptionSpec, optionsOf } from "./command-spec.ts";
import { optionText } from "./help-text.ts";
import { optionNamed, topNames } from "./read-command-line.ts";

/** The shells that have a script. */
export const shells = ["bash", "zsh", "fish"] as const;
/** See `shells`. */
export type Shell = (typeof shells)[number];

/** An offered word and what it means. */
export interface OfferedWord {
  readonly word: string;
  readonly about: string;
}

/** The offer: words, or the shell's own files or directories. */
export interface Offer {
  readonly kind: "words" | "files" | "directories";
  readonly words: readonly OfferedWord[];
}

/** The command of the program that prints an offer. No help shows it. */
export const completeCommand = "__complete";

const nothing: Offer = { kind: "words", words: [] };

/** The offer for the last word; the words before it are complete. `words` has no program name. */
export function offerFor(commands: readonly CommandSpec[], words: readonly string[]): Offer {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  const options = commands.flatMap(optionsOf);
  const bare = withoutOptions(options, before);
  const command = commandOf(commands, bare);
  const valid = command === undefined ? options : optionsOf(command);
  if (before.includes("--")) return command === undefined ? nothing : offerOf(command.completes, current);
  const [, name = "", written] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  const inline = optionNamed(valid, name);
  if (inline !== undefined && written !== undefined) return prefixed(valueOffer(inline, written), `${name}=`);
  const previous = optionNamed(valid, before.at(-1) ?? "");
  if (previous?.value !== undefined) return valueOffer(previous, current);
  if (current.startsWith("-")) {
    const listed = valid.filter(({ name: each }, index) => valid.findIndex((other) => other.name === each) === index);
    return offered(
      listed.map((option) => ({ word: `--${option.name}`, about: option.about })),
      current,
    );
  }
  if (command !== undefined) return offerOf(command.completes, current);
  return commandOffer(commands, bare, current);
}

/** The offer as the scripts read it: its kind, then a word, a tabulator and its meaning in each line. */
export function offerText({ kind, words }: Offer): string {
  return `${[kind, ...words.map(({ word, about }) => `${word}\t${about}`)].join("\n")}\n`;
}

/** The script that makes a shell ask `program` for offers. */
export function completionScript(program: string, shell: Shell): string {
  const call = `_${program.replaceAll(/\W/g, "_")}`;
  return scripts[shell].replaceAll("PROGRAM", program).replaceAll("FUNCTION", call).replaceAll("COMPLETE", completeCommand);
}

function commandOffer(commands: readonly CommandSpec[], bare: readonly string[], current: string): Offer {
  const [first] = bare;
  if (first === undefined || first === "help") {
    const about = (name: string): string =>
      commands.find((each) => each.name === name)?.summary ?? `commands: ${groupWords(commands, name).join(", ")}`;
    const help = first === undefined ? [{ word: "help", about: "shows the help of a command" }] : [];
    return offered([...topNames(commands).map((word) => ({ word, about: about(word) })), ...help], current);
  }
  if (bare.length > 1) return nothing;
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  return offered(
    group.map(({ name, summary }) => ({ word: name.slice(first.length + 1), about: summary })),
    current,
  );
}

function groupWords(commands: readonly CommandSpec[], group: string): readonly string[] {
  return commands.flatMap(({ name }) => (name.startsWith(`${group} `) ? [name.slice(group.length + 1)] : []));
}

function commandOf(commands: readonly CommandSpec[], [first = "", second = ""]: readonly string[]): CommandSpec | undefined {
  return commands.find(({ name }) => name === first || name === `${first} ${second}`);
}

/** The words without options and their values. */
function withoutOptions(options: readonly OptionSpec[], words: readonly string[]): readonly string[] {
  return words.filter((word, index) => {
    if (word.startsWith("-") && word !== "-") return false;
    return optionNamed(options, words[index - 1] ?? "")?.value === undefined;
  });
}

function valueOffer(option: OptionSpec, current: string): Offer {
  const { choices, completes } = option;
  if (choices === undefined) return offerOf(completes, current);
  return offered(
    choices.map((word) => ({ word, about: optionText(option) })),
    current,
  );
}

function offerOf(completes: Completion | undefined, current: string): Offer {
  if (completes === "file") return { kind: "files", words: [] };
  if (completes === "directory") return { kind: "directories", words: [] };
  return offered(
    (completes ?? []).map((word) => ({ word, about: "" })),
    current,
  );
}

function offered(words: readonly OfferedWord[], current: string): Offer {
  return { kind: "words", words: words.filter(({ word }) => word.startsWith(current)) };
}

function prefixed({ kind, words }: Offer, prefix: string): Offer {
  return { kind, words: words.map(({ word, about }) => ({ word: prefix + word, about })) };
}

const scripts: Readonly<Record<Shell, string>> = {
  // Bash takes "=" as a word of its own, so that `--output=json` is three words.
  bash: `# bash completion of PROGRAM: eval "$(PROGRAM completion bash)"
FUNCTION() {
  local word about kind=none words=() current=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    [[ $word == "=" ]] || words+=("$word")
  done
  [[ $current != "=" ]] || { current=; words+=(""); }
  while IFS=$'\\t' read -r word about; do
    if [[ $kind == none ]]; then kind=$word; else COMPREPLY+=("$word"); fi
  done < <("\${COMP_WORDS[0]/#\\~/$HOME}" COMPLETE "\${words[@]}" 2>/dev/null)
  case $kind in
    files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    directories) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
  esac
}
complete -F FUNCTION PROGRAM
`,
  zsh: `#compdef PROGRAM
# zsh completion of PROGRAM: source <(PROGRAM completion zsh), after compinit
FUNCTION() {
  local -a lines described
  local line
  lines=("\${(@f)$("\${(e)words[1]}" COMPLETE "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $lines[1] in
    files) _files ;;
    directories) _files -/ ;;
    words)
      for line in "\${(@)lines[2,-1]}"; do
        described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
      done
      _describe -t values PROGRAM described
      ;;
  esac
}
if [[ $funcstack[1] == FUNCTION ]]; then FUNCTION "$@"; else compdef FUNCTION PROGRAM; fi
`,
  fish: `# fish completion of PROGRAM: PROGRAM completion fish | source
function _FUNCTION
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command $words[1] COMPLETE $words[2..-1] "$current" 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case directories
            __fish_complete_directories "$current"
        case words
            string join -- \\n $lines[2..-1]
    end
end
complete -c PROGRAM -f -a '(_FUNCTION)'
`,
};
