// Executes native host-local as libcni does, but from a small shell: thousands of forks of this large test process would take most of the tests'
// time.

import { spawn } from "node:child_process";
import { referencePlugin } from "../../../lab/requires.ts";
import { answerOf, type Ipam } from "./calls.ts";

export interface NativeIpam extends Ipam {
  close(): void;
}

/** Native host-local, by default the distribution's, behind a shell that runs its calls sequentially. */
export function native(path = referencePlugin("host-local")): NativeIpam {
  const shell = spawn("/bin/sh", { env: {}, stdio: ["pipe", "pipe", "ignore"] });
  let output = "";
  const waiting: ((text: string) => void)[] = [];
  shell.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
    for (let end = output.indexOf(END); end >= 0; end = output.indexOf(END)) {
      waiting.shift()?.(output.slice(0, end));
      output = output.slice(end + END.length);
    }
  });
  return {
    name: "native",
    async call({ verb, containerId, ifname, args, stdin }) {
      if (path === undefined) throw new Error("native host-local is not installed");
      const env = {
        CNI_COMMAND: verb,
        CNI_CONTAINERID: containerId,
        CNI_NETNS: "/var/run/netns/none",
        CNI_IFNAME: ifname,
        CNI_ARGS: args,
        CNI_PATH: "/opt/cni/bin",
      };
      const assignments = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
      const text = await new Promise<string>((resolve) => {
        waiting.push(resolve);
        shell.stdin.write(`printf %s ${quoted(stdin)} | ${assignments.join(" ")} ${path}; printf '\\n%s${SHELL_END}' $?\n`);
      });
      const at = text.lastIndexOf("\n");
      return answerOf(verb, { status: Number(text.slice(at + 1)), stdout: text.slice(0, at) });
    },
    close: () => shell.stdin.end(),
  };
}

const END = "\0end\0";
const SHELL_END = "\\000end\\000";

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
