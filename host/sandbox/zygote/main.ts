// The zygote: a process that has all code of a sandbox process loaded and tried, and never runs a guest. Sandbox processes are copies of it (fork), which
// begin behind `serve` below. Arguments: the addon's path, then those of the launcher.
//
// A copy has the main thread only. It may not return to libuv's loop, whose descriptors are closed, nor end as Node does, which waits for its other
// threads: it reads from its pipe, blocking, in one microtask that never ends.

import { collectGarbage } from "../../system/v8/collect-garbage.ts";
import { setFlagsFromString } from "node:v8";
import { serveGuests, setV8Limits } from "../process/serve-guests.ts";
import { rehearse, rehearseCall } from "./rehearsal.ts";
import { removeSharedRandomness } from "./shared-randomness.ts";

/** The addon (addon.c). */
interface Addon {
  /** Answers in a sandbox process only: the numbers of its request. */
  readonly serve: (launcherArguments: readonly string[]) => readonly string[];
  readonly end: (status: number) => never;
}

/** Calls after which V8 has compiled what an examination and a call execute. */
const rounds = 20;

function isAddon(value: object): value is Addon {
  return "serve" in value && typeof value.serve === "function" && "end" in value && typeof value.end === "function";
}

function loadAddon(path: string): Addon {
  const loaded: { exports: object } = { exports: {} };
  process.dlopen(loaded, path);
  if (!isAddon(loaded.exports)) throw new Error(`${path} is not the zygote's addon`);
  return loaded.exports;
}

async function begin(): Promise<void> {
  const [, , path = "", ...launcherArguments] = process.argv;
  const addon = loadAddon(path);
  setV8Limits();
  // Else V8 leaves the hot functions of a component to a thread that a copy does not have, and never optimizes them.
  setFlagsFromString("--wasm-sync-tier-up");
  removeSharedRandomness({ math: Math, global: globalThis });
  const component = await rehearse(rounds);
  const expected = rehearseCall(component);
  // V8's garbage goes back before the copies share what is left.
  collectGarbage("usual");
  const [pages, entries] = addon.serve(["plexus-zygote", ...launcherArguments]);
  try {
    setV8Limits(pages, entries);
    if (rehearseCall(component) !== expected) addon.end(1);
    await serveGuests({ exit: addon.end, pause: () => Promise.resolve() });
  } catch {
    addon.end(1);
  }
}

void begin();
