// Optional capabilities: a component is loaded without their grants, learns from its request what is granted, and cannot call the rest.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDelegate } from "../../delegates/sdk/build/build-delegate.ts";
import { bundleGuestProgram } from "../hostile/components/guest-program.ts";
import { plainRequests } from "../hostile/components/requests.ts";
import { Admission, type AdmittedComponent } from "../../host/sandbox/admission/admit.ts";
import { InProcessRunner } from "../../host/sandbox/in-process.ts";
import { defaultLimits } from "../../host/sandbox/limits.ts";
import { ProcessPool } from "../../host/sandbox/process/pool.ts";
import type { CapabilityImports, GuestRunner } from "../../host/sandbox/runner.ts";

// `announce` may wait, so this guest is one that is suspended during its imports.
const source = `import { AttachmentRequest, Fault, GcRequest, StatusRequest, Success, SuccessOrFault } from "plexus/abi/plugin";
import { Level, write } from "plexus/abi/log";
import { read } from "plexus/abi/resolver";
import { send } from "plexus/abi/announce";
export function add(request: AttachmentRequest): SuccessOrFault {
  write(Level.Info, "calls without asking");
  const answer = read("/etc/resolv.conf");
  return answer.isOk ? SuccessOrFault.ok(new Success()) : SuccessOrFault.err(answer.error);
}
export function del(_request: AttachmentRequest): Fault | null { return send(["10.1.0.2"]); }
export function check(request: AttachmentRequest): Fault | null {
  const granted = request.call.granted;
  if (!granted.includes("resolver")) return new Fault(101, granted.join(" "));
  const answer = read("/etc/resolv.conf");
  return new Fault(102, answer.isOk ? answer.value.nameservers[0] : "?");
}
export function gc(_request: GcRequest): Fault | null { return null; }
export function status(request: StatusRequest): Fault | null { return new Fault(103, request.call.remainingMs.toString()); }
`;

const directory = mkdtempSync(join(tmpdir(), "plexus-optional-"));
let bytes: Uint8Array;
let entry: string;
beforeAll(async () => {
  mkdirSync(join(directory, "assembly"));
  writeFileSync(join(directory, "assembly/index.ts"), source);
  const capabilities = { log: "Says what it does.", resolver: "Reads.", announce: "Announces." };
  const declaration = { name: "asks", abi: "1.0.0", version: "1.0.0", about: "A test.", cniVersions: ["1.0.0"], capabilities };
  writeFileSync(join(directory, "delegate.json"), JSON.stringify({ ...declaration, optional: ["log", "resolver", "announce"] }));
  ({ bytes } = await buildDelegate({ dir: directory, outFile: join(directory, "asks.wasm"), quick: true }));
  entry = await bundleGuestProgram();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function admitted(granted: readonly string[]): AdmittedComponent {
  const answer = new Admission().admit(bytes, { granted, limits: defaultLimits });
  if (!answer.ok) throw new Error(answer.fault.msg);
  return answer.value;
}

const runners: readonly (readonly [string, () => GuestRunner])[] = [
  ["in this process", () => new InProcessRunner()],
  ["in a sandbox process", () => new ProcessPool({ entry, warm: 0 })],
];

describe.each(runners)("optional capabilities %s", (_, make) => {
  it("are absent from the request's list where they are not granted, and their call ends the guest with the remedy", async () => {
    const runner = make();
    const lines: string[] = [];
    const imports: CapabilityImports = {
      log: { write: (_level, line) => void lines.push(line) },
      resolver: { read: () => ({ ok: { nameservers: ["10.0.0.53"], search: [], options: [] } }) },
      announce: { send: async () => ({ ok: undefined }), probe: async () => ({ ok: [] }) },
    };
    const call = async (verb: "add" | "check" | "del", granted: readonly string[]) => {
      const component = admitted(granted);
      const request = { ...plainRequests[verb], call: { remainingMs: 7, granted: component.capabilities } };
      const bound = Object.fromEntries(Object.entries(imports).filter(([name]) => granted.includes(name)));
      const answer = await runner.call({ component, verb, request, limits: defaultLimits, deadlineMs: 60_000 }, bound);
      return answer.ok ? "OK" : `${answer.fault.kind}: ${answer.fault.msg}`;
    };
    try {
      expect(await call("check", ["announce"])).toBe("DELEGATE_FAILED: announce");
      expect(await call("check", ["log", "resolver"])).toBe("DELEGATE_FAILED: 10.0.0.53");
      expect(await call("add", ["log", "resolver", "announce"])).toBe("OK");
      expect(await call("del", ["announce"])).toBe("OK");
      const refused = "optional and not granted; request.call.granted names the granted capabilities";
      expect(lines).toEqual(["calls without asking"]);
      // The line of an ungranted log is dropped.
      expect(await call("add", [])).toBe(`DELEGATE_TRAPPED: delegate asks (add) called resolver.read, which is ${refused}`);
      expect(await call("del", ["log"])).toBe(`DELEGATE_TRAPPED: delegate asks (del) called announce.send, which is ${refused}`);
      expect(lines).toEqual(["calls without asking"]);
    } finally {
      await runner.close();
    }
  });
});
