// The CRI Network API in the daemon: the server on its socket, and the feed of a server with the definitions of one namespace.

import { ok } from "../../src/fault/result.ts";
import { labelProblem } from "../../src/npwg/object-names.ts";
import { maxSocketPath, type OptionValues, pathOf } from "../../host/node/command-line/option-values.ts";
import type { ResidentFeature, ResidentContext, ResidentPart } from "../resident-part.ts";
import type { NetworkApi, NetworkApiOptions } from "./server/network-api.ts";
import type { NetworkFeed } from "./server/network-feed.ts";

/** The server that is fed. */
interface FeedOptions {
  readonly socket: string;
  readonly namespace: string;
}

/** The description. */
export const resident: ResidentFeature = {
  options: {
    "network-socket": { type: "string" },
    "network-dir": { type: "string" },
    "network-feed": { type: "string" },
    "network-feed-namespace": { type: "string" },
  },
  usage: `  --network-socket PATH socket of the CRI Network API (none: it is not served)
  --network-dir PATH    the runtime's directory of network configurations, whose
                        first network the API lists as _fallback
                        (--cni-config-dir, else /etc/cni/net.d)
  --network-feed PATH   socket of a CRI Network API, which gets the
                        NetworkAttachmentDefinitions of one namespace (none)
  --network-feed-namespace NAME
                        that namespace (kube-system)
`,
  read: (values) => {
    const [api, feed] = [apiOf(values), feedOf(values)];
    if (api === undefined && feed === undefined) return undefined;
    return {
      sockets: api === undefined ? [] : [api.socket],
      connects: feed === undefined ? [] : [feed.socket],
      make: (context) => networkApiPart(api, feed, context),
    };
  },
};

async function networkApiPart(
  api: NetworkApiOptions | undefined,
  feed: FeedOptions | undefined,
  context: ResidentContext,
): Promise<ResidentPart> {
  const warn = (text: string): void => context.log("warn", text);
  let served: NetworkApi | undefined;
  if (api !== undefined) {
    const module = await import("./server/network-api.ts");
    served = new module.NetworkApi(api, context);
  }
  let fed: NetworkFeed | undefined;
  let isClosed = false;
  return {
    listen: async () => served?.listen() ?? ok(undefined),
    start: async () => {
      const source = feed && (await context.apiFromStart());
      if (source === undefined || feed === undefined) return;
      const module = await import("./server/network-feed.ts");
      // The daemon may end while it waits for the API.
      if (isClosed) return;
      fed = new module.NetworkFeed({ ...source, ...feed, warn });
      fed.start();
    },
    close: () => {
      isClosed = true;
      served?.close();
      fed?.stop();
    },
  };
}

function apiOf(values: OptionValues): NetworkApiOptions | undefined {
  const socket = textOf(values, "network-socket");
  const directory = textOf(values, "network-dir");
  if (socket === undefined && directory !== undefined) throw new Error("--network-dir needs --network-socket");
  if (socket === undefined) return undefined;
  const networks = directory ?? textOf(values, "cni-config-dir") ?? "/etc/cni/net.d";
  return {
    socket: pathOf("network-socket", socket, maxSocketPath),
    configurationDirectory: pathOf("network-dir", networks.replace(/(?<=.)\/+$/, ""), 4095),
    pinned: textOf(values, "cluster-network"),
  };
}

function feedOf(values: OptionValues): FeedOptions | undefined {
  const socket = textOf(values, "network-feed");
  const namespace = textOf(values, "network-feed-namespace");
  if (socket === undefined && namespace !== undefined) throw new Error("--network-feed-namespace needs --network-feed");
  if (socket === undefined) return undefined;
  if (values["kubeconfig"] === undefined && values["cni-config"] === undefined)
    throw new Error("--network-feed needs --kubeconfig");
  const name = namespace ?? "kube-system";
  const problem = labelProblem(name);
  if (problem !== undefined) throw new Error(`--network-feed-namespace ${name}: ${problem}`);
  return { socket: pathOf("network-feed", socket, maxSocketPath), namespace: name };
}

function textOf(values: OptionValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}
