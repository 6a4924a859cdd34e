// A shell that stays in one network namespace: a look into it costs one exec less each time, and looks of several namespaces run side by side.

import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { requirePrivateNamespaces } from "../../harness/namespaces.ts";

const marker = "=== done";

/** What one script left. */
export interface Ran {
  readonly status: number;
  readonly stdout: string;
}

/** One shell; scripts run one after the other, in the order asked for. */
export class NamespaceShell {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #last: Promise<unknown> = Promise.resolve();
  #heard = "";
  #wake: () => void = () => undefined;
  #ended = false;

  /** `path`: the namespace's file. */
  constructor(path: string) {
    requirePrivateNamespaces();
    this.#child = spawn("nsenter", [`--net=${path}`, "--", "sh"], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#heard += text;
      this.#wake();
    });
    this.#child.on("exit", () => {
      this.#ended = true;
      this.#wake();
    });
  }

  /** Runs a script in a subshell of its own. Rejects where the shell itself is gone. */
  run(script: string): Promise<Ran> {
    const ran = this.#last.then(() => this.#exchange(script));
    this.#last = ran.catch(() => undefined);
    return ran;
  }

  /** As `run`; rejects where the script fails. */
  async output(script: string): Promise<string> {
    const { status, stdout } = await this.run(script);
    if (status !== 0) throw new Error(`status ${status} of: ${script}\n${stdout}`);
    return stdout;
  }

  close(): void {
    this.#child.stdin.end();
  }

  async #exchange(script: string): Promise<Ran> {
    this.#heard = "";
    this.#child.stdin.write(`( ${script}\n) 2>&1 </dev/null; printf '${marker} %d\\n' $?\n`);
    for (;;) {
      const end = /^=== done (\d+)\n$/m.exec(this.#heard);
      if (end !== null) return { status: Number(end[1]), stdout: this.#heard.slice(0, end.index) };
      if (this.#ended) throw new Error(`the shell ended: ${this.#heard}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
