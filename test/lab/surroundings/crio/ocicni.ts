// Plays the part of CRI-O that reads network configurations and calls plugins. The code is our own; the behaviour is that of pkg/ocicni/ocicni.go of cri-o/ocicni
// (commit 0248397): loadNetworks, SetUpPod, TearDownPod, GetPodNetworkStatus, GC and Status. Go's libcni carries the operations out.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { askOracle, type OracleAnswer, type OracleOperation } from "../../../node/conformance/libcni/oracle.ts";

/** Directories of CRI-O, as its crio.conf names them, and the environment of the plugins. */
export interface OcicniInit {
  readonly networkDir: string;
  readonly pluginDirs: readonly string[];
  readonly cacheDir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A pod's sandbox. */
export interface CrioPod {
  readonly id: string;
  readonly netns: string;
}

const ifname = "eth0";
const extensions = new Set([".conf", ".conflist", ".json"]);

/** CRI-O's networks by the names of their lists. */
export class Ocicni {
  readonly #init: OcicniInit;

  constructor(init: OcicniInit) {
    this.#init = init;
  }

  /** The file of each network that can be used, in order; the first is the default network. CRI-O passes over files that are broken or lack a plugin. */
  networks(): ReadonlyMap<string, string> {
    const { networkDir } = this.#init;
    const found = new Map<string, string>();
    for (const name of readdirSync(networkDir).toSorted()) {
      const file = join(networkDir, name);
      if (!extensions.has(extname(name))) continue;
      const [loaded, valid] = this.#ask({ do: "LOAD", file }, { do: "VALIDATE", file });
      const { name: network } = (loaded?.result ?? {}) as { readonly name?: string };
      if (network === undefined || valid?.error !== undefined || found.has(network)) continue;
      found.set(network, file);
    }
    return found;
  }

  setUpPod(pod: CrioPod): OracleAnswer {
    const [file] = this.networks().values();
    return file === undefined ? noNetwork : this.#one({ do: "ADD", file, runtime: runtimeOf(pod) });
  }

  /** CHECK by the cached configuration. */
  checkPod(pod: CrioPod): OracleAnswer {
    return this.#one({ do: "CHECK", ...this.#configurationOf(pod), runtime: runtimeOf(pod) });
  }

  /** DEL by the cached configuration, else by the present default network. */
  tearDownPod(pod: CrioPod): OracleAnswer {
    return this.#one({ do: "DEL", ...this.#configurationOf(pod), runtime: runtimeOf(pod) });
  }

  /** GC for each network of the directory: all pods count as attachments of the default network. Answers the errors by network. */
  collectGarbage(pods: readonly CrioPod[]): Readonly<Record<string, string>> {
    const valid = pods.map(({ id }) => ({ containerID: id, ifname }));
    const answers = [...this.networks()].map(([name, file], index) => {
      const { error } = this.#one({ do: "GC", file, valid: index === 0 ? valid : [] });
      return error === undefined ? [] : [[name, error.text] as const];
    });
    return Object.fromEntries(answers.flat());
  }

  status(): OracleAnswer {
    const [file] = this.networks().values();
    return file === undefined ? noNetwork : this.#one({ do: "STATUS", file });
  }

  #configurationOf({ id }: CrioPod): Pick<OracleOperation, "list" | "file"> {
    const results = join(this.#init.cacheDir, "results");
    const names = existsSync(results) ? readdirSync(results) : [];
    const cached = names.find((name) => name.includes(`-${id}-`));
    if (cached === undefined) {
      const [file] = this.networks().values();
      return file === undefined ? {} : { file };
    }
    const { config }: { readonly config: string } = JSON.parse(readFileSync(join(results, cached), "utf8"));
    return { list: Buffer.from(config, "base64").toString() };
  }

  #one(operation: OracleOperation): OracleAnswer {
    const [answer] = this.#ask(operation);
    if (answer === undefined) throw new Error("libcni gave no answer");
    return answer;
  }

  #ask(...operations: readonly OracleOperation[]): readonly OracleAnswer[] {
    const { pluginDirs, cacheDir, env } = this.#init;
    return askOracle(pluginDirs, cacheDir, operations, env);
  }
}

const noNetwork: OracleAnswer = {
  error: { code: 0, msg: "", details: "", text: "no CNI configuration file. Has your network provider started?" },
};

function runtimeOf({ id, netns }: CrioPod): NonNullable<OracleOperation["runtime"]> {
  const args = [
    ["IgnoreUnknown", "1"],
    ["K8S_POD_NAMESPACE", "shop"],
    ["K8S_POD_NAME", id],
    ["K8S_POD_INFRA_CONTAINER_ID", id],
    ["K8S_POD_UID", `uid-${id}`],
  ] as const;
  return { containerID: id, netns, ifname, args };
}
