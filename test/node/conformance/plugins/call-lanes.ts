// Concurrent calls of CNI plugins. Each lane is a small shell that starts the plugins, because forking this large test
// process a thousand times would take most of a test's time.

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { type Answer, type Call, runtimeEnvironment } from "../../../lab/plexus.ts";

const END = "\0end\0";
const STDIN_END = "plexus-stdin-end";
const SHELL_END = "\\000end\\000";

interface Job {
  readonly command: string;
  readonly done: (output: string) => void;
}

/** Runs as many calls at once as there are lanes; further calls wait. */
export class CallLanes {
  readonly #free: Lane[] = [];
  readonly #lanes: readonly Lane[];
  readonly #waiting: Job[] = [];

  /** `namespace` is the path of the shells' network namespace. */
  constructor(count: number, namespace: string) {
    this.#lanes = Array.from({ length: count }, () => new Lane(this, namespace));
    this.#free.push(...this.#lanes);
  }

  /** Calls a plugin as a runtime does. `stdout` includes the plugin's stderr, which should be empty. */
  async call(binary: string, call: Call, cniPath: string): Promise<Pick<Answer, "status" | "stdout" | "json">> {
    const stdin = call.stdin === undefined ? JSON.stringify(call.config) : String(call.stdin);
    const environment = Object.entries(runtimeEnvironment(call, cniPath)).map(([name, value]) => `${name}=${quoted(value)}`);
    const text = await this.run(`${environment.join(" ")} ${binary} 2>&1 <<'${STDIN_END}'\n${stdin}\n${STDIN_END}`);
    const at = text.lastIndexOf("\n");
    const stdout = text.slice(0, at);
    return { status: Number(text.slice(at + 1)), stdout, json: jsonIn(stdout) };
  }

  /** Runs shell commands. Returns their stdout, then a newline and the last command's exit status. */
  run(command: string): Promise<string> {
    return new Promise((done) => {
      this.#waiting.push({ command, done });
      this.next();
    });
  }

  next(lane?: Lane): void {
    if (lane !== undefined) this.#free.push(lane);
    while (this.#waiting.length > 0) {
      const free = this.#free.pop();
      if (free === undefined) return;
      const job = this.#waiting.shift();
      if (job !== undefined) free.take(job);
    }
  }

  close(): void {
    for (const lane of this.#lanes) lane.close();
  }
}

class Lane {
  readonly #shell: ChildProcessWithoutNullStreams;
  #output = "";
  #done: ((output: string) => void) | undefined;

  constructor(lanes: CallLanes, namespace: string) {
    this.#shell = spawn("nsenter", [`--net=${namespace}`, "--", "/bin/sh"], {
      env: { PATH: process.env["PATH"] ?? "" },
      stdio: "pipe",
    });
    this.#shell.stderr.resume();
    this.#shell.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      this.#output += chunk;
      if (!this.#output.endsWith(END)) return;
      const output = this.#output.slice(0, -END.length);
      const done = this.#done;
      this.#output = "";
      this.#done = undefined;
      done?.(output);
      lanes.next(this);
    });
  }

  take({ command, done }: Job): void {
    this.#done = done;
    this.#shell.stdin.write(`${command}\nprintf '\\n%s${SHELL_END}' $?\n`);
  }

  close(): void {
    this.#shell.stdin.end();
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function jsonIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
