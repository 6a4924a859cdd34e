// plugins that expectContained on the verbs after ADD (test/node/conformance/bad-input has ADD). No call hangs, an error has its code and only
// printable characters, and the DEL of a well-behaved plugin then leaves nothing.

import { copyFileSync, renameSync } from "node:fs";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { withGrowingLimit } from "../../../lab/growing-limit.ts";
import { signalled } from "../../../lab/processes.ts";
import { openStage, nothing, type Attaching, type Stage } from "../../../lab/stage.ts";
import { compiledPlugin } from "../../../lab/compiled.ts";
import type { Answer } from "../../../lab/plexus.ts";
import { installHostile, type Hostility } from "../../../lab/recorder.ts";
import { iproute2, missing, privateNamespaces } from "../../../lab/requires.ts";

// oxlint-disable-next-line no-control-regex -- control characters must be absent
const unprintable = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

const verbs = ["CHECK", "STATUS", "GC", "DEL"] as const;

/** The error code of each call, or undefined for a success. */
const hostile: readonly (readonly [Hostility, number | undefined])[] = [
  // Plexus ignores stdout of these verbs (CNI section 2).
  ["floods-stdout", undefined],
  ["floods-stderr", undefined],
  ["prints-html", undefined],
  ["invalid-utf8", undefined],
  ["error-with-success", undefined],
  ["never-reads-stdin", undefined],
  ["leaves-daemon", undefined],
  ["never-ends", 11],
  ["ignores-sigterm", 11],
  ["never-ends-with-children", 11],
  ["fails-silently", 999],
  ["fails-with-text", 999],
  ["fails-with-escape", 100],
  ["dies-of-signal", 999],
];

describe.skipIf(missing("hostile plugins", privateNamespaces, iproute2))("A-07: on the verbs after ADD", () => {
  let stage: Stage;
  function open(): void {
    stage = openStage({ native: [] });
  }
  function reopen(): void {
    stage.dispose();
    open();
  }
  beforeEach(open);
  afterEach(() => stage.dispose());

  /** Calls the plugin with each verb. A step whose plugin never ends takes all of its time. */
  async function expectContained(type: Hostility, code: number | undefined, stepTimeoutMs: number): Promise<void> {
    const plugin = installHostile(stage.plexus.cniPath, type, verbs);
    const patient = stage.network([{ type }], { cniVersion: "1.1.0", stepTimeoutMs: 60_000 });
    const config = { ...patient, stepTimeoutMs };
    const each: Attaching = { config, containerId: "c1", pod: stage.pod() };
    await stage.succeed("ADD", { ...each, config: patient });
    const answers: Answer[] = [];
    for (const verb of verbs) {
      const valid = { "cni.dev/valid-attachments": [{ containerID: "c1", ifname: "eth0" }] };
      const call =
        verb === "STATUS" || verb === "GC"
          ? stage.request({ verb, config: verb === "GC" ? { ...config, ...valid } : config })
          : stage.call(verb, each);
      answers.push(await call);
      const daemon = plugin.daemon();
      if (daemon !== undefined) signalled(daemon, "SIGKILL");
    }
    expect(answers.map(({ status, json }) => [status, json?.["code"]])).toEqual(
      verbs.map(() => (code === undefined ? [0, undefined] : [1, code])),
    );
    for (const { stdout, stderr } of answers) expect(`${stdout}${stderr}`).not.toMatch(unprintable);
    expect(plugin.calls().map(({ env }) => env["CNI_COMMAND"])).toEqual(["ADD", ...verbs]);
    // The runtime repeats DEL with a well-behaved plugin.
    copyFileSync(compiledPlugin("recorder"), `${plugin.path}.new`);
    renameSync(`${plugin.path}.new`, plugin.path);
    await stage.succeed("DEL", { ...each, config: patient });
    expect(stage.left()).toEqual(nothing);
  }

  test.each(hostile)("A-07: a plugin that %s", async (type, code) => {
    if (code !== 11) return expectContained(type, code, 60_000);
    // The plugin must record its call before its time ends.
    return withGrowingLimit(300, (limitMs) => expectContained(type, code, limitMs), reopen);
  });
});
