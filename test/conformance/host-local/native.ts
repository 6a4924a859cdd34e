// The reference: Debian's host-local, executed as libcni does it.

import { callBinary } from "../../harness/plexus.ts";
import { referencePlugin } from "../../harness/requires.ts";
import { answerOf, type Ipam } from "./calls.ts";

const path = referencePlugin("host-local");

export const native: Ipam = {
  name: "native",
  async call({ verb, containerId, ifname, args, stdin }) {
    if (path === undefined) throw new Error("native host-local is not installed");
    const call = { verb, containerId, ifname, args, stdin, netns: "/var/run/netns/none" };
    return answerOf(verb, await callBinary(path, call, "/opt/cni/bin"));
  },
};
