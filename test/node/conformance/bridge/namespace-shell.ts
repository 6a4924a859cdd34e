// A shell in a network namespace, which saves an exec for each command. The shells of several namespaces run concurrently.

import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { requirePrivateNamespaces } from "../../../lab/namespaces.ts";

const marker = "=== done";

/** A script's exit status and output. */
export interface ScriptResult {
  readonly status: number;
  readonly stdout: string;
}

/** One shell, which runs its scripts sequentially. */
export class NamespaceShell {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #last: Promise<unknown> = Promise.resolve();
  #output = "";
  #wake: () => void = () => undefined;
  #ended = false;

  /** `path` is the namespace's file. */
  constructor(path: string) {
    requirePrivateNamespaces();
    this.#child = spawn("nsenter", [`--net=${path}`, "--", "sh"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#output += text;
      this.#wake();
    });
    this.#child.on("exit", () => {
      this.#ended = true;
      this.#wake();
    });
  }

  /** Runs a script in a subshell. Rejects if the shell has ended. */
  run(script: string): Promise<ScriptResult> {
    const ran = this.#last.then(() => this.#exchange(script));
    this.#last = ran.catch(() => undefined);
    return ran;
  }

  /** Runs a script and answers its output. Rejects if the script fails. */
  async output(script: string): Promise<string> {
    const { status, stdout } = await this.run(script);
    if (status !== 0) throw new Error(`status ${status} of: ${script}\n${stdout}`);
    return stdout;
  }

  close(): void {
    this.#child.stdin.end();
  }

  async #exchange(script: string): Promise<ScriptResult> {
    this.#output = "";
    this.#child.stdin.write(`( ${script}\n) 2>&1 </dev/null; printf '${marker} %d\\n' $?\n`);
    for (;;) {
      const end = /^=== done (\d+)\n$/m.exec(this.#output);
      if (end !== null) return { status: Number(end[1]), stdout: this.#output.slice(0, end.index) };
      if (this.#ended) throw new Error(`the shell ended: ${this.#output}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
