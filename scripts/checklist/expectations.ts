// Expectations of users of hosts for WebAssembly plugins (E-…), and properties that none of these hosts has (X-…). Rows that no test holds have a reason.

import { section, type Section } from "./rows.ts";
import type { Open } from "./open-rows.ts";

const expected: Readonly<Record<string, string>> = {
  "E-1": "A type resolves to a native binary or a component, from one configuration, with the same result.",
  "E-2": "A new delegate is made, built and run in less than five minutes, without a cluster and without root.",
  "E-3": "A component runs on a recorded request, with settings inline, from a file or from stdin.",
  "E-4": "The host calls of a run are recorded, and a replay without a host gives the same answer.",
  "E-5": "A benchmark has warm-up, samples, percentiles and a saved baseline.",
  "E-6": "A component's imports, exports, contract, capabilities, limits and digest are shown, as JSON too.",
  "E-7":
    "Everything is denied by default: the effective capabilities are those that a component declares and an administrator grants.",
  "E-8": "A mistyped name of a capability or a key is an error with the valid names.",
  "E-9": "A time limit is on by default, ends a guest before its caller's deadline, and names itself.",
  "E-10": "Memory, output, log and input of a call are bounded.",
  "E-11": "Each step has a failure policy: closed, open or retry. The default of ADD is closed, and DEL goes on.",
  "E-12":
    "A component names its contract's version, released versions keep working, and any other is refused with the valid ones.",
  "E-13": "Components are pushed, pulled, saved and loaded as OCI artifacts, and are pinned by digest.",
  "E-14": "Signatures are verified with keys or identities, also offline.",
  "E-15": "A guest's log has its name, level and call, and no control characters.",
  "E-16": "Metrics count calls, times and failures by reason, and a dashboard uses only metrics that exist.",
  "E-17": "A trace has a span for each step, and a native step gets its span's context.",
  "E-18": "A run reports its size, time, memory, input, output and log, and marks what is over a limit.",
  "E-19": "A profile of a run opens in speedscope, with the guest's functions.",
  "E-20": "A command tells whether this node can run Plexus.",
  "E-21": "The commands complete in shells, work without a terminal and without colours, and print JSON.",
  "E-22": "A threat model lists what is protected, with tests, and what is not.",
  "E-23": "An emergency switch turns all components off, with defined behaviour.",
};

const unique: Readonly<Record<string, string>> = {
  "X-1": "One file has each step's input, result, difference and time, and its replay gives the same result.",
  "X-2": "A component runs in the shadow of a native step: results are compared, and only the native one applies.",
  "X-3": "A grant bounds the places of the result that a step may change.",
  "X-4": "Sysctls, addresses and routes are data of a guest: the host checks them against the grant and applies them.",
  "X-5": "A chain's deadline is divided among its steps, and the rollback keeps its reserve.",
  "X-6": "A command tries hostile components on this node, and shows which limits hold.",
  "X-7": "A conformance kit checks every verb and version of a delegate without root.",
  "X-8": "A delegate sees one typed result, whatever CNI version its chain has.",
  "X-9": "Each step's memory is capped by a rewrite of its modules, and the cap is shown.",
  "X-10": "The same sources give the same component, and a damaged cache of builds is detected.",
  "X-11": "The guest kit is generated from the contract, and every type survives a round trip.",
  "X-12":
    "Explain prints a configuration's steps with their kinds, digests, grants and limits, and findings with line and column.",
  "X-13": "A count of executed instructions helps authors; it is the same for the same input, and is not enforced.",
};

/** The rows of both tables. */
export const expectations: readonly Section[] = [section("Expected", expected, () => false), section("New", unique, () => false)];

/** The rows that no test holds. */
export const openExpectations: Readonly<Record<string, Open>> = {};
